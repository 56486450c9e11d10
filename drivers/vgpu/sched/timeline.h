/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside sched: a timeline, the order in which one engine serves entities, and the functions that
 * its files call of each other. New work passes through the files in this order: entity.c (an
 * entity wakes), runqueue.c (it is queued, the thread is kicked), timeline.c (the policy picks it,
 * the engine runs it), account.c (its run is charged and logged).
 */
#ifndef _VGPU_TIMELINE_H
#define _VGPU_TIMELINE_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "log.h"
#include "sched.h"
#include "thread.h"

/**
 * struct vgpu_timeline - the order in which one engine serves entities
 * @thread:     the GPU's scheduler thread; constant
 * @name:       the GPU's name, or its partition's, for tracepoints; constant
 * @index:      the engine's number on the GPU; constant
 * @ops:        the timeline's calls to the engine; constant
 * @ops_data:   for the owner of @ops; constant
 * @clock:      the engine's clock, by which all times of the timeline and its entities are, unless
 *              they are said to be real; constant
 * @lock:       protects all that follows and, but for their constants, the entities. Taken in any
 *              context but a non-maskable interrupt; so a function that is called with it held must
 *              not take a lock that is held anywhere with interrupts on. Raw, as engines take it,
 *              and tenants, whom a cgroup may stop; so it takes no spinlock but raw ones, either
 * @rq:         the run queue, as the policy sees it
 * @timeout_ns: time in which the engine must stop an entity once it was asked to
 * @window_ns:  length of the windows of statistics
 * @entities:   all entities of the timeline
 * @sleepers:   the entities that wake at a time, by wake_ns
 * @pick:       the policy's pick for the current run. The engine reads it without the lock when it
 *              polls; likewise rq.nr_queued and @preempting
 * @wait_ns:    time for which the running entity had waited before its run
 * @resetting:  the entity for which @reset_work is queued or resets the engine, or NULL. Meanwhile
 *              no entity is put on the engine, whether or not the run has ended
 * @reset_work: calls ops->reset(), which sleeps, and clears @resetting
 * @preempting: the engine was asked to stop the running entity
 * @preempt_at_ns: when to ask the engine to stop the running entity for another one; U64_MAX: never
 * @end:        why the engine was asked to stop the running entity
 * @stop_ns:    when the engine was asked
 * @deadline_ns: when the running entity's slice ends
 * @start_ns:   when the running entity was put on the engine
 * @start_ran_ns: the engine's time (vgpu_timeline_ran_ns()) at @start_ns
 * @preempt_ran_ns: the engine's time when the timeline last looked whether the engine had stopped
 * @preempt_due_ns: when the timeline must look again, in real time: an engine that was asked to
 *              stop must do so whether or not its clock goes on
 * @late_ns:    for how long the engine has been able to work since it was asked
 * @until_ns:   the policy said that no queued entity may run until then; U64_MAX: until something
 *              changes; 0: nothing, so ask the policy
 * @timer:      asks the policy again at @until_ns; expires then or earlier, if @until_ns is neither
 *              0 nor U64_MAX
 * @window:     number of the current window of statistics, as of the last look
 * @window_end_ns: when that window ends
 * @check_ns:   the thread looks at the timeline then, in real time, without a kick. A section under
 *              @lock that makes something due earlier kicks the thread
 * @due_mutex:  held while what is due to the entities is computed, which needs it all the time. A
 *              tenant's thread may have it, so nobody waits for it who has an answer
 * @due_window: number of the window in which that was computed last (also read without the lock)
 * @due_changes: counts changes of the entities and their shares, and of the settings
 * @last:       the entity that ran last; NULL: none, or one that has left
 * @nr_entities: length of @entities
 * @created_ns: start of the sums below
 * @retired_ns: end of these sums; 0: they go on
 * @held_ns:    since when wall time stands still; 0: it goes on
 * @away_ns:    for how long it has stood still before that
 * @busy_ns:    service of all runs that have ended, also of entities that have left
 * @seen_ns:    reported service: the sum of entity->seen_ns, also of entities that have left
 * @gone_ns:    the part of @seen_ns of entities that have left or are retired
 * @linger_ns:  the part of @busy_ns in which the engine was held without work
 * @runs:       number of runs that have begun
 * @switches:   number of @runs of another entity than the run before
 * @preempts:   number of requests to the engine to stop an entity
 * @resets:     number of resets of the engine
 * @log:        the last VGPU_SCHED_LOG runs that have ended
 */
struct vgpu_timeline {
	struct vgpu_sched_thread *thread;
	const char *name;
	unsigned int index;
	const struct vgpu_timeline_ops *ops;
	void *ops_data;
	struct vgpu_clock clock;

	raw_spinlock_t lock;	/* all below, and the entities */
	struct vgpu_rq rq;
	u64 timeout_ns;
	u64 window_ns;
	struct list_head entities;
	struct rb_root_cached sleepers;
	struct vgpu_pick pick;
	u64 wait_ns;
	struct vgpu_entity *resetting;
	struct work_struct reset_work;
	bool preempting;
	u64 preempt_at_ns;
	enum vgpu_ctl_switch_end end;
	u64 stop_ns;
	u64 deadline_ns;
	u64 start_ns;
	u64 start_ran_ns;
	u64 preempt_ran_ns;
	u64 preempt_due_ns;
	u64 late_ns;
	u64 until_ns;
	struct hrtimer timer;
	u64 window;
	u64 window_end_ns;
	u64 check_ns;
	struct mutex due_mutex;		/* see above */
	u64 due_window;
	u64 due_changes;
	const struct vgpu_entity *last;
	unsigned int nr_entities;

	u64 created_ns;
	u64 retired_ns;
	u64 held_ns;
	u64 away_ns;
	u64 busy_ns;
	u64 seen_ns;
	u64 gone_ns;
	u64 linger_ns;
	u64 runs;
	u64 switches;
	u64 preempts;
	u64 resets;
	struct vgpu_sched_log log;
};

/* Returns the time by the timeline's clock. */
static inline u64 vgpu_timeline_now_ns(const struct vgpu_timeline *tl)
{
	return vgpu_clock_at(&tl->clock, ktime_get_ns());
}

/* Returns the real time, where the timeline's clock shows @now_ns. */
static inline u64 vgpu_timeline_real_ns(const struct vgpu_timeline *tl, u64 now_ns)
{
	return tl->clock.length_ns ? ktime_get_ns() : now_ns;
}

/* Returns for how long the engine could have worked so far, by ops->ran_ns or in real time. */
static inline u64 vgpu_timeline_ran_ns(struct vgpu_timeline *tl, u64 now_ns)
{
	return tl->ops->ran_ns ? tl->ops->ran_ns(tl) : vgpu_timeline_real_ns(tl, now_ns);
}

/* entity.c, for timeline.c */
void vgpu_entity_wake_due(struct vgpu_timeline *tl, u64 now_ns);

/* runqueue.c, for entity.c and timeline.c; the timeline's lock is held, unlock releases it */
u64 vgpu_rq_due_ns(struct vgpu_timeline *tl);
void vgpu_rq_kick(struct vgpu_timeline *tl);
void vgpu_rq_unlock(struct vgpu_timeline *tl, unsigned long flags) __releases(&tl->lock);
void vgpu_rq_ask_again(struct vgpu_timeline *tl);
void vgpu_rq_preempt(struct vgpu_timeline *tl, enum vgpu_ctl_switch_end why, u64 now_ns);
void vgpu_rq_preempt_due(struct vgpu_timeline *tl, u64 now_ns);
bool vgpu_rq_hung(struct vgpu_timeline *tl, u64 now_ns);
void vgpu_rq_give(struct vgpu_entity *entity, bool woken, u64 now_ns);
void vgpu_rq_enqueue(struct vgpu_entity *entity, bool woken, u64 now_ns);
u64 vgpu_rq_unqueued(struct vgpu_entity *entity, u64 now_ns);

/* timeline.c, for sched.c */
int vgpu_timeline_init(struct vgpu_timeline *tl, struct vgpu_sched_thread *thread,
		       const char *name, unsigned int index, const struct vgpu_timeline_ops *ops,
		       void *ops_data, const struct vgpu_clock *clock,
		       const struct vgpu_sched_params *params);
void vgpu_timeline_stop(struct vgpu_timeline *tl);
void vgpu_timeline_fini(struct vgpu_timeline *tl);
u64 vgpu_timeline_service(struct vgpu_timeline *tl);

/*
 * A new policy comes in two steps: prepare, which may fail, for all timelines; then set_params.
 * After that @next is the old policy's, to be released.
 */
int vgpu_timeline_prepare(struct vgpu_rq *next, const struct vgpu_sched_params *params);
void vgpu_timeline_release(struct vgpu_rq *next);
void vgpu_timeline_set_params(struct vgpu_timeline *tl, const struct vgpu_sched_params *params,
			      struct vgpu_rq *next);

/* account.c, for timeline.c and entity.c */
void vgpu_account_run(struct vgpu_timeline *tl, enum vgpu_run_end end, u64 ran_ns, u64 idle_ns,
		      u64 linger_ns, u64 now_ns);
void vgpu_account_retire(struct vgpu_timeline *tl, struct vgpu_entity *entity);
void vgpu_account_set_window(struct vgpu_timeline *tl, u64 window_ns, u64 now_ns);

/* account.c, for due.c */
u64 vgpu_account_last_window(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 now_ns);

/* due.c, for entity.c and timeline.c */
void vgpu_due_change(struct vgpu_timeline *tl);
void vgpu_due_forget(struct vgpu_entity *entity);

#endif /* _VGPU_TIMELINE_H */
