/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside sched: a timeline, shared by timeline.c (what happens on it),
 * entity.c (who wants to be on it), account.c (what happened on it) and sched.c
 * (the thread that looks after it, and settings).
 */
#ifndef _VGPU_TIMELINE_H
#define _VGPU_TIMELINE_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "log.h"
#include "sched.h"

/**
 * struct vgpu_timeline - one engine's order of service
 * @sched:      whose; constant
 * @index:      which; constant
 * @ops:        the engine; constant
 * @ops_data:   its owner's; constant
 * @lock:       protects all below and, but for their tl, the entities. Taken in
 *              any context but a non-maskable interrupt, so nothing that is
 *              called with it held may take a lock that is held anywhere with
 *              interrupts on
 * @rq:         what the policy sees
 * @timeout_ns: how long the engine has to stop once asked
 * @window_ns:  length of the windows of statistics
 * @entities:   all between init and exit
 * @sleepers:   those with a wake_ns, by it
 * @pick:       the policy's words on the run under way; the engine reads them
 *              without the lock, like rq.nr_queued and @preempting
 * @wait_ns:    how long it had waited before
 * @resetting:  the entity for which @reset_work is on its way: the engine is not
 *              given anybody, whether or not that run has ended
 * @reset_work: calls ops->reset, which sleeps; clears @resetting
 * @preempting: the running entity was asked to stop
 * @preempt_at_ns: when it is to be, for another; U64_MAX: it is not
 * @end:        why it was asked
 * @stop_ns:    when it was asked
 * @deadline_ns: of the running entity
 * @start_ns:   when it was put on the engine
 * @start_ran_ns: the engine's time then
 * @preempt_ran_ns: the engine's time at the last look since it was asked to stop
 * @preempt_due_ns: when to look again whether it did
 * @late_ns:    how long it has been able to work since it was asked
 * @until_ns:   nobody may run, though queued, until then; U64_MAX: until
 *              something happens; 0: the policy is to be asked
 * @timer:      expires at @until_ns or before, unless that is 0 or U64_MAX
 * @window:     number of the present window, by the last look
 * @window_end_ns: its end
 * @check_ns:   the kthread looks again by itself then, if not before. Who makes
 *              something due earlier kicks it
 * @last:       the entity that ran last; NULL: none, or gone
 * @nr_entities: entities between init and exit
 * @stopped:    for those who wait for an entity to be off the engine
 * @created_ns: since when the times below count
 * @busy_ns:    service of all runs that have ended, of gone entities too
 * @seen_ns:    the most that vgpu_timeline_stats() has said of it
 * @linger_ns:  of @busy_ns without work
 * @runs:       runs begun
 * @switches:   of these, of another entity than the one before
 * @preempts:   requests to stop
 * @resets:     engine resets
 * @log:        the last VGPU_SCHED_LOG runs that have ended; see log.h
 */
struct vgpu_timeline {
	struct vgpu_sched *sched;
	unsigned int index;
	const struct vgpu_timeline_ops *ops;
	void *ops_data;

	spinlock_t lock;	/* all below, and the entities */
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
	const struct vgpu_entity *last;
	unsigned int nr_entities;
	wait_queue_head_t stopped;

	u64 created_ns;
	u64 busy_ns;
	u64 seen_ns;
	u64 linger_ns;
	u64 runs;
	u64 switches;
	u64 preempts;
	u64 resets;
	struct vgpu_sched_log log;
};

/* The engine's time: that of ops->ran_ns, or the clock. */
static inline u64 vgpu_timeline_ran_ns(struct vgpu_timeline *tl, u64 now_ns)
{
	return tl->ops->ran_ns ? tl->ops->ran_ns(tl) : now_ns;
}

/* timeline.c, entity.c and account.c, for each other; lock held */
bool vgpu_timeline_needs_kick(struct vgpu_timeline *tl);
void vgpu_timeline_ask_again(struct vgpu_timeline *tl);
void vgpu_timeline_preempt(struct vgpu_timeline *tl,
			   enum vgpu_ctl_switch_end why, u64 now_ns);
void vgpu_timeline_preempt_for(struct vgpu_timeline *tl, u64 now_ns);
void vgpu_entity_give(struct vgpu_entity *entity, bool woken, u64 now_ns);
void vgpu_entity_enqueue(struct vgpu_entity *entity, bool woken, u64 now_ns);
u64 vgpu_entity_unqueued(struct vgpu_entity *entity, u64 now_ns);
void vgpu_entity_wake_due(struct vgpu_timeline *tl, u64 now_ns);
void vgpu_account_run(struct vgpu_timeline *tl, enum vgpu_run_end end,
		      u64 ran_ns, u64 idle_ns, u64 linger_ns, u64 now_ns);
void vgpu_account_set_window(struct vgpu_timeline *tl, u64 window_ns,
			     u64 now_ns);

/*
 * timeline.c, for sched.c. A new policy comes in two steps: prepare, which may
 * fail, on all timelines; then set_params. After that @next is of the old one,
 * for release.
 */
int vgpu_timeline_init(struct vgpu_timeline *tl, struct vgpu_sched *sched,
		       unsigned int index, const struct vgpu_timeline_ops *ops,
		       void *ops_data, const struct vgpu_sched_params *params);
void vgpu_timeline_fini(struct vgpu_timeline *tl);
u64 vgpu_timeline_service(struct vgpu_timeline *tl);
int vgpu_timeline_prepare(struct vgpu_rq *next,
			  const struct vgpu_sched_params *params);
void vgpu_timeline_release(struct vgpu_rq *next);
void vgpu_timeline_set_params(struct vgpu_timeline *tl,
			      const struct vgpu_sched_params *params,
			      struct vgpu_rq *next);

/* sched.c, for both */
void vgpu_sched_kick(struct vgpu_sched *sched);
void vgpu_sched_queue(struct vgpu_sched *sched, struct work_struct *work);

#endif /* _VGPU_TIMELINE_H */
