/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's interface to the core. It knows timelines (one for each engine) and entities (one
 * vGPU on one timeline), and nothing of GPUs, VMs or packets. The core fills in struct
 * vgpu_timeline_ops; a policy fills in struct vgpu_sched_policy (policy.h) and sees run queues and
 * entities only.
 *
 * Times are by the timeline's clock (vgpu_clock.h), which is CLOCK_MONOTONIC where it does not say
 * otherwise; so is a run's deadline.
 *
 * Decisions. The GPU's thread decides when an engine is idle and work arrives, when a preemption is
 * due or late, and when the policy must be asked again. When an engine hands over from one entity
 * to the next, the engine's context asks the policy. When a policy said until when no entity may
 * run, the timer's interrupt asks it again. All do so under the same lock and by the same code. A
 * decision that is made when a run begins could be stale by its end, and a switch to the GPU's
 * thread would leave the engine idle (Documentation/design-notes.rst).
 */
#ifndef _VGPU_SCHED_H
#define _VGPU_SCHED_H

#include <linux/vgpu_clock.h>
#include <linux/vgpu_run.h>

#include "policy.h"

struct seq_file;
struct vgpu_sched;
struct vgpu_timeline;

/**
 * struct vgpu_timeline_ops - a timeline's calls to its engine
 * @run:     start @entity on the idle engine, to run until @deadline_ns. Called with the timeline's
 *           lock held, perhaps in a hard interrupt: must not sleep. The engine ends the run by
 *           vgpu_timeline_done()
 * @preempt: ask the engine to stop @entity. Lock held, must not sleep. May be called as soon as
 *           vgpu_timeline_done() has picked @entity, before the engine has seen that. So an engine
 *           clears an earlier request before it calls vgpu_timeline_done(), not after
 * @reset:   stop an engine that did not stop when asked. Called by a worker without a lock, may
 *           sleep; other engines go on meanwhile and may be reset at the same time. When @reset
 *           returns, the engine is idle and does not call vgpu_timeline_done() for this run any
 *           more. It may have called it while @reset began: then the engine was idle. A channel's
 *           fault is reported by vgpu_entity_account_fault()
 * @overrun: optional: @entity stopped by itself, but past its deadline by more than the preemption
 *           timeout. Lock held, must not sleep
 * @ran_ns:  optional: return for how long the engine could have worked so far; the default is real
 *           time. Lock held, must not sleep
 */
struct vgpu_timeline_ops {
	void (*run)(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 deadline_ns);
	void (*preempt)(struct vgpu_timeline *tl, struct vgpu_entity *entity);
	void (*reset)(struct vgpu_timeline *tl, struct vgpu_entity *entity);
	void (*overrun)(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 overrun_ns);
	u64 (*ran_ns)(struct vgpu_timeline *tl);
};

/* Reasons for which an entity may not run though it has work; a mask. */
#define VGPU_HOLD_STOPPED	0x1	/* the device is not open, or in reset */
#define VGPU_HOLD_QUARANTINE	0x2
#define VGPU_HOLD_PAUSED	0x4

/* Minimum time that an entity runs before it is preempted for another one. */
#define VGPU_PREEMPT_MIN_NS		(500 * 1000ULL)

#define VGPU_PREEMPT_TIMEOUT_MIN_US	1000U
#define VGPU_PREEMPT_TIMEOUT_MAX_US	1000000U
#define VGPU_LINGER_MAX_US		1000U
#define VGPU_LINGER_US			100U
#define VGPU_WINDOW_MIN_NS		(10 * 1000 * 1000ULL)
#define VGPU_WINDOW_MAX_NS		(1000 * 1000 * 1000ULL)
#define VGPU_WINDOW_NS			(100 * 1000 * 1000ULL)
#define VGPU_WINDOW_SLICES		10
#define VGPU_FREQUENCY_MIN_HZ		63U
#define VGPU_FREQUENCY_MAX_HZ		960U

/**
 * struct vgpu_sched_params - a partition's settings
 * @policy:             the policy of all timelines of the partition
 * @slice_ns:           time that an entity may run before another one runs, 1 .. 30 ms
 * @window_ns:          length of the windows of statistics, 10 .. 1000 ms and at least 10 slices
 * @preempt_timeout_us: time in which an engine must stop or be reset, 1000 .. 1000000
 * @linger_us:          time for which an engine waits for more work of an entity, 0 .. 1000; see
 *                      struct vgpu_pick
 * @nr_slots:           number of slots of a cycle under fixed_share, at least 1; does not change
 */
struct vgpu_sched_params {
	const struct vgpu_sched_policy *policy;
	u64 slice_ns;
	u64 window_ns;
	u32 preempt_timeout_us;
	u32 linger_us;
	u32 nr_slots;
};

const struct vgpu_sched_policy *vgpu_sched_policy(const char *name);
const struct vgpu_sched_policy *vgpu_sched_policy_at(unsigned int index);
const char *vgpu_sched_policy_names(char *text, size_t size, const char *last);
int vgpu_sched_params_check(const struct vgpu_sched_params *params, char *why, size_t size);
struct vgpu_sched *vgpu_sched_create(const char *name, unsigned int nr_timelines,
				     const struct vgpu_timeline_ops *ops, void *ops_data,
				     const struct vgpu_clock *clock,
				     const struct vgpu_sched_params *params);
void vgpu_sched_stop(struct vgpu_sched *sched);
void vgpu_sched_free(struct vgpu_sched *sched);
struct vgpu_timeline *vgpu_sched_timeline(struct vgpu_sched *sched, unsigned int index);
void vgpu_sched_params_get(struct vgpu_sched *sched, struct vgpu_sched_params *params);
int vgpu_sched_params_set(struct vgpu_sched *sched, const struct vgpu_sched_params *params);

const char *vgpu_timeline_name(const struct vgpu_timeline *tl);
unsigned int vgpu_timeline_index(const struct vgpu_timeline *tl);
void *vgpu_timeline_data(const struct vgpu_timeline *tl);

/**
 * struct vgpu_timeline_stats - statistics of an engine; service + idle time = wall time
 * @wall_ns:   time by its clock since the timeline was created, until it was retired; without that
 *             in which it was held
 * @busy_ns:   service of all entities, including those that have left and the current run
 * @gone_ns:   the part of @busy_ns of entities that have left or are retired
 * @linger_ns: the part of @busy_ns in which the engine was held without work
 * @runs:      number of runs that have begun
 * @switches:  number of @runs of another entity than the run before
 * @preempts:  number of requests to the engine to stop an entity
 * @resets:    number of resets of the engine
 */
struct vgpu_timeline_stats {
	u64 wall_ns;
	u64 busy_ns;
	u64 gone_ns;
	u64 linger_ns;
	u64 runs;
	u64 switches;
	u64 preempts;
	u64 resets;
};

static inline void vgpu_timeline_stats_add(struct vgpu_timeline_stats *sum,
					   const struct vgpu_timeline_stats *stats)
{
	sum->wall_ns += stats->wall_ns;
	sum->busy_ns += stats->busy_ns;
	sum->gone_ns += stats->gone_ns;
	sum->linger_ns += stats->linger_ns;
	sum->runs += stats->runs;
	sum->switches += stats->switches;
	sum->preempts += stats->preempts;
	sum->resets += stats->resets;
}

void vgpu_timeline_stats(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats);
void vgpu_timeline_retire(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats);
void vgpu_timeline_hold(struct vgpu_timeline *tl, bool hold);
void vgpu_timeline_read(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats,
			struct vgpu_entity *const *entities, unsigned int nr,
			void (*each)(void *arg, unsigned int index,
				     const struct vgpu_entity_stats *stats), void *arg);
unsigned int vgpu_timeline_log(struct vgpu_timeline *tl, struct vgpu_ctl_switch *entries,
			       unsigned int room, u64 *total);
void vgpu_timeline_show(struct vgpu_timeline *tl, struct seq_file *m,
			void (*name)(struct seq_file *m, struct vgpu_entity *entity));

/*
 * A new entity is held by VGPU_HOLD_STOPPED. start and stop, not holds, tell whether the device is
 * open. init, exit, stop and hold_sync sleep.
 */
void vgpu_entity_init(struct vgpu_entity *entity, struct vgpu_timeline *tl, const u8 *id,
		      const struct vgpu_share *share);
void vgpu_entity_exit(struct vgpu_entity *entity);
void vgpu_entity_start(struct vgpu_entity *entity);
void vgpu_entity_stop(struct vgpu_entity *entity);
void vgpu_entity_hold(struct vgpu_entity *entity, unsigned int hold);
void vgpu_entity_hold_sync(struct vgpu_entity *entity, unsigned int hold);
void vgpu_entity_unhold(struct vgpu_entity *entity, unsigned int hold);
void vgpu_entity_set_share(struct vgpu_entity *entity, const struct vgpu_share *share);

/* In any process or soft interrupt context, without the timeline's lock. */
void vgpu_entity_wake(struct vgpu_entity *entity);
void vgpu_entity_wake_at(struct vgpu_entity *entity, u64 wake_ns);
void vgpu_entity_account(struct vgpu_entity *entity, u64 packets, u64 bytes);
void vgpu_entity_account_fault(struct vgpu_entity *entity);
void vgpu_entity_stats(struct vgpu_entity *entity, struct vgpu_entity_stats *stats);
u64 vgpu_entity_busy_ns(struct vgpu_entity *entity);
u64 vgpu_entity_charged_ns(const struct vgpu_entity *entity);
void vgpu_entity_retire(struct vgpu_entity *entity);

/* In process context, without any lock. */
unsigned int vgpu_entity_due(struct vgpu_entity *entity);

/* Called by the engine. */
struct vgpu_entity *vgpu_timeline_done(struct vgpu_timeline *tl, enum vgpu_run_end end,
				       u64 idle_ns, u64 linger_ns, u64 *deadline_ns);
enum vgpu_poll vgpu_timeline_poll(struct vgpu_timeline *tl, u64 empty_ns);

#endif /* _VGPU_SCHED_H */
