/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a scheduling policy sees: a run queue per engine, entities on it, and
 * time. No locks, threads or hardware: the timeline calls a policy with its
 * lock held, and the policy files compile in user space as they are.
 */
#ifndef _VGPU_POLICY_H
#define _VGPU_POLICY_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct vgpu_entity;
struct vgpu_rq;
struct vgpu_timeline;

#define VGPU_SLICE_MIN_NS	(1 * 1000 * 1000ULL)
#define VGPU_SLICE_MAX_NS	(30 * 1000 * 1000ULL)

/**
 * struct vgpu_entity_stats - what one vGPU did on one timeline
 * @busy_ns:     service: from the start of a run to the engine being free again
 * @wait_ns:     runnable, not running
 * @max_wait_ns: the longest single wait
 * @runs:        times put on the engine
 * @switches:    of these, after another entity
 * @preemptions: runs that ended with work left
 * @overruns:    runs that ended past their deadline
 * @overrun_ns:  their sum
 * @max_overrun_ns: the longest one
 * @stalls:      runs that ended waiting for guest memory
 * @faults:      channel faults
 * @resets:      engine resets
 * @packets:     completed
 * @bytes:       written by them
 */
struct vgpu_entity_stats {
	u64 busy_ns;
	u64 wait_ns;
	u64 max_wait_ns;
	u64 runs;
	u64 switches;
	u64 preemptions;
	u64 overruns;
	u64 overrun_ns;
	u64 max_overrun_ns;
	u64 stalls;
	u64 faults;
	u64 resets;
	u64 packets;
	u64 bytes;
};

/**
 * struct vgpu_entity - one vGPU on one timeline
 * @tl:       the timeline; constant
 * @hold:     VGPU_HOLD_*
 * @has_work: the engine has, or may have, something to do for it
 * @queued:   on the policy's queue: runnable and not running
 * @rewoken:  vgpu_entity_wake() came while it ran
 * @ready_ns: when it was last queued
 * @node:     the policy's, while queued
 * @rb:       the policy's, while queued
 * @deficit_ns: the policy's (best_effort): service still due this round,
 *            negative: owed
 * @round:    the policy's (best_effort): in which it had its last turn
 * @paid_ns:  the policy's (best_effort): when its debt is paid, while it
 *            skips turns
 * @stats:    see there
 *
 * All but @tl is protected by the timeline's lock. core embeds it.
 */
struct vgpu_entity {
	struct vgpu_timeline *tl;
	unsigned int hold;
	bool has_work;
	bool queued;
	bool rewoken;
	u64 ready_ns;
	struct list_head node;
	struct rb_node rb;
	s64 deficit_ns;
	u64 round;
	u64 paid_ns;
	struct vgpu_entity_stats stats;
};

/**
 * struct vgpu_rq - a timeline as a policy sees it
 * @policy:   whose it is
 * @slice_ns: the GPU's slice
 * @running:  on the engine now, or NULL; NULL already when what ran is
 *            charged and enqueued again
 * @nr_queued: entities enqueued; the timeline's, not up to date in a callback
 * @queue:    for policies that need no more than a list
 * @data:     the policy's own, from rq_init
 */
struct vgpu_rq {
	const struct vgpu_sched_policy *policy;
	u64 slice_ns;
	struct vgpu_entity *running;
	unsigned int nr_queued;
	struct list_head queue;
	void *data;
};

/**
 * struct vgpu_sched_policy - who is next and for how long
 * @name:    as users write it
 * @rq_init: optional: set up rq->data; may sleep, no lock held. 0 or -ENOMEM
 * @rq_exit: optional: undo it
 * @init:    an entity joins the timeline (not yet runnable)
 * @exit:    it leaves; not queued
 * @enqueue: it became runnable, or stays so after a run. Return: whether the
 *           running entity is to be preempted for it now
 * @dequeue: a queued entity is not runnable any more
 * @pick:    take the next entity off the queue; sets *slice_ns, which is at
 *           least 1. NULL: nobody; then *until_ns, if set, says when to ask again
 * @charge:  @entity has occupied the engine for @ran_ns; called before it is
 *           enqueued again, once per run
 * @check:   optional: may an entity join? 0 or -errno
 *
 * All but rq_init and rq_exit are called with the timeline's lock held. Times are
 * ns of CLOCK_MONOTONIC.
 */
struct vgpu_sched_policy {
	const char *name;
	int (*rq_init)(struct vgpu_rq *rq);
	void (*rq_exit)(struct vgpu_rq *rq);
	void (*init)(struct vgpu_rq *rq, struct vgpu_entity *entity);
	void (*exit)(struct vgpu_rq *rq, struct vgpu_entity *entity);
	bool (*enqueue)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	void (*dequeue)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	struct vgpu_entity *(*pick)(struct vgpu_rq *rq, u64 now_ns, u64 *slice_ns,
				    u64 *until_ns);
	void (*charge)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns,
		       u64 now_ns);
	int (*check)(struct vgpu_rq *rq, const struct vgpu_entity *entity);
};

extern const struct vgpu_sched_policy vgpu_policy_best_effort;

#endif /* _VGPU_POLICY_H */
