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
#include <uapi/linux/vgpu.h>

struct vgpu_entity;
struct vgpu_rq;
struct vgpu_timeline;

#define VGPU_SLICE_MIN_NS	(1 * 1000 * 1000ULL)
#define VGPU_SLICE_MAX_NS	(30 * 1000 * 1000ULL)

/* Guarantees and caps are fractions of an engine, in this unit. */
#define VGPU_PER_MILLE		1000U
#define VGPU_WEIGHT_MAX		1000U

/**
 * struct vgpu_share - what a vGPU is to get, the same on each engine
 * @guarantee: per mille of the engine, 0 .. @cap (qos)
 * @cap:       per mille, 1 .. 1000; 1000: none (qos)
 * @weight:    of the excess, 1 .. 1000 (qos)
 * @first_slot: where its slots begin, of rq->nr_slots (fixed_share)
 * @nr_slots:  how many it has (fixed_share)
 */
struct vgpu_share {
	u16 guarantee;
	u16 cap;
	u16 weight;
	u32 first_slot;
	u32 nr_slots;
};

/**
 * struct vgpu_hist - a histogram of times
 * @count: [0] below 1 us, [i] from 2^(i-1) us to less than 2^i us; the last
 *         has all above, too
 */
struct vgpu_hist {
	u64 count[VGPU_HIST_BUCKETS];
};

/**
 * struct vgpu_entity_stats - what one vGPU did on one timeline
 * @busy_ns:     service: from the start of a run to the engine being free again
 * @linger_ns:   of these: held the engine without work (linger_us)
 * @wait_ns:     runnable, not running
 * @max_wait_ns: the longest single wait
 * @runs:        times put on the engine
 * @switches:    of these, after another entity
 * @preemptions: runs that ended with work left
 * @overruns:    runs that ended more than 100 us past their deadline
 * @overrun_ns:  their sum
 * @max_overrun_ns: the longest one
 * @stalls:      runs that ended waiting for guest memory
 * @faults:      channel faults
 * @resets:      engine resets
 * @packets:     completed
 * @bytes:       written by them
 * @window_ns:   service in the last whole window
 * @wait_hist:   waits before a run
 * @overrun_hist: times past the deadline, of runs that ended there
 * @preempt_hist: from when a run was to stop, by its deadline or a request,
 *               until the engine was free
 */
struct vgpu_entity_stats {
	u64 busy_ns;
	u64 linger_ns;
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
	u64 window_ns;
	struct vgpu_hist wait_hist;
	struct vgpu_hist overrun_hist;
	struct vgpu_hist preempt_hist;
};

/**
 * struct vgpu_drr_entity - best_effort's
 * @node:       on a queue
 * @rb:         in the tree of those who skip turns
 * @deficit_ns: service still due this round, negative: owed
 * @round:      in which it had its last turn
 * @paid_ns:    when its debt is paid, while it skips turns
 */
struct vgpu_drr_entity {
	struct list_head node;
	struct rb_node rb;
	s64 deficit_ns;
	u64 round;
	u64 paid_ns;
};

/**
 * struct vgpu_slot_entity - equal_share's and fixed_share's (slots.h)
 * @node:    among the members; of equal_share in the order of their slots
 * @rb:      in a tree of those whose next slot matters
 * @slot:    number of its next slot, while in a tree
 * @debt_ns: overrun not yet paid back by skipping a slot
 * @index:   its place in the cycle (equal_share), or its first unit
 * @nr:      slots it has in each cycle, 0: it is no member
 * @queued:  it may run in its next slot
 * @debtor:  while in a tree: that of those who owe a slot
 * @started: it is to be a member of the next cycle (equal_share)
 */
struct vgpu_slot_entity {
	struct list_head node;
	struct rb_node rb;
	u64 slot;
	u64 debt_ns;
	u32 index;
	u32 nr;
	bool queued;
	bool debtor;
	bool started;
};

/**
 * struct vgpu_qos_entity - qos's; see qos.c
 * @by_due:      in a tree if it has a guarantee, by @eligible_ns
 * @eligible_ns: when guarantee and cap let it run
 * @deadline_ns: by when it is to have run
 * @min_deadline_ns: of @by_due's subtree
 * @by_start:    in a tree, by @place
 * @place:       its virtual start
 * @free_ns:     when its cap lets it run
 * @min_free_ns: of @by_start's subtree
 * @reserve_ns:  reservation tag: when its guarantee is due next
 * @limit_ns:    cap tag: may not run before; with a cap only
 * @start:       virtual start, of the excess
 * @base_ns:     from when on @deadline_ns is counted
 * @slice_ns:    for how long, as @deadline_ns was counted
 * @period_ns:   how long @period_of_ns lasts at its guarantee; 0: not known
 * @period_of_ns: of what service that was counted
 * @end_ns:      when its last run ended
 * @gap_ns:      for how long, at least, it had no work by then
 * @stay_ns:     of linger_ns, how much of each turn of its guarantee the engine
 *               lingers in, as its last gap was short
 * @stayed_ns:   sum of these; from linger_ns on the engine lingers in the turn
 * @reserved:    the run under way is of its guarantee
 * @idled:       the engine was idle in its last run
 *
 * The trees' nodes and keys come first, for the cache.
 */
struct vgpu_qos_entity {
	struct rb_node by_due;
	u64 eligible_ns;
	u64 deadline_ns;
	u64 min_deadline_ns;
	struct rb_node by_start;
	u64 place;
	u64 free_ns;
	u64 min_free_ns;
	u64 reserve_ns;
	u64 limit_ns;
	u64 start;
	u64 base_ns;
	u64 slice_ns;
	u64 period_ns;
	u64 period_of_ns;
	u64 end_ns;
	u32 gap_ns;
	u32 stay_ns;
	u32 stayed_ns;
	bool reserved;
	bool idled;
};

#define VGPU_ENTITY_ID_LEN	16

/**
 * struct vgpu_entity - one vGPU on one timeline
 * @tl:       the timeline; constant
 * @id:       whose it is, for logs and traces; constant
 * @node:     on the timeline's list of entities
 * @hold:     VGPU_HOLD_*
 * @started:  its vGPU's device is open
 * @has_work: the engine has, or may have, something to do for it
 * @queued:   on the policy's queue: runnable and not running
 * @rewoken:  vgpu_entity_wake() came while it ran
 * @ready_ns: when it was last queued
 * @wake_ns:  when vgpu_entity_wake_at() wakes it; 0: it does not
 * @wake_rb:  in the timeline's tree of these
 * @share:    what it is to get
 * @drr:      the policy's, like the next two: only one is in use
 * @slots:    see there
 * @qos:      see there
 * @window:   number of the window that @window_ns is of
 * @window_ns: service in the present window
 * @seen_ns:  the most that vgpu_entity_stats() has said of stats.busy_ns
 * @stats:    see there
 *
 * All but @tl and @id is protected by the timeline's lock. core embeds it.
 * Policies see @share and their own part only.
 */
struct vgpu_entity {
	struct vgpu_timeline *tl;
	u8 id[VGPU_ENTITY_ID_LEN];
	struct list_head node;
	unsigned int hold;
	bool started;
	bool has_work;
	bool queued;
	bool rewoken;
	u64 ready_ns;
	u64 wake_ns;
	struct rb_node wake_rb;
	struct vgpu_share share;
	union {
		struct vgpu_drr_entity drr;
		struct vgpu_slot_entity slots;
		struct vgpu_qos_entity qos;
	};
	u64 window;
	u64 window_ns;
	u64 seen_ns;
	struct vgpu_entity_stats stats;
};

/* The policies' union, and nothing else, lies between these. */
#define VGPU_ENTITY_PART_BEGIN	offsetof(struct vgpu_entity, drr)
#define VGPU_ENTITY_PART_END	offsetof(struct vgpu_entity, window)

/**
 * struct vgpu_rq - a timeline as a policy sees it
 * @policy:   whose it is
 * @slice_ns: the GPU's slice
 * @linger_ns: how long a run may hold the engine without work, where the
 *            policy sees reason to
 * @nr_slots: fixed_share: slots of a cycle, at least 1; constant
 * @running:  on the engine now, or NULL; NULL already when what ran is
 *            charged and enqueued again
 * @outlasted: in charge: the entity fell idle, and the engine waited for more of
 *            it as long as pick->linger_ns says, in vain
 * @nr_queued: entities enqueued; the timeline's, not up to date in a callback
 * @data:     the policy's own, from rq_init
 */
struct vgpu_rq {
	const struct vgpu_sched_policy *policy;
	u64 slice_ns;
	u64 linger_ns;
	u32 nr_slots;
	struct vgpu_entity *running;
	bool outlasted;
	unsigned int nr_queued;
	void *data;
};

/**
 * struct vgpu_pick - a policy's choice; all 0 when pick is called
 * @slice_ns:  how long the entity may run, at least 1
 * @linger_ns: when it falls idle though others wait, so long the engine waits
 *             for more of it: charged
 * @exclusive: nobody else may run before its slice is over, so the engine may
 *             as well look for more of it: not charged
 * @until_ns:  if nobody was chosen: when to ask again; 0: when something happens
 */
struct vgpu_pick {
	u64 slice_ns;
	u64 linger_ns;
	bool exclusive;
	u64 until_ns;
};

enum vgpu_frl_mode {
	VGPU_FRL_MODE_OFF,		/* none */
	VGPU_FRL_MODE_SET,		/* those that were set */
	VGPU_FRL_MODE_DEFAULT,	/* the type's, too, where none was set */
};

/**
 * struct vgpu_sched_policy - who is next and for how long
 * @name:    as users write it
 * @frl:     which frame rate limits apply
 * @due:     what a vGPU is due of an engine under it, for tools
 * @rq_init: optional: set up rq->data; may sleep, no lock held. 0 or -ENOMEM
 * @rq_exit: optional: free rq->data; all entities have left
 * @init:    an entity joins the timeline (not started, not runnable), its
 *           part is all 0
 * @exit:    it leaves; stopped, not queued
 * @start:   optional: its vGPU's device was opened
 * @stop:    optional: and closed; not queued
 * @enqueue: it became runnable (@woken), or stays so after a run or across a
 *           change (not @woken). Return: whether the running entity is to be
 *           preempted for it
 * @dequeue: a queued entity is not runnable any more, or is about to change
 * @pick:    take the next entity off the queue, or choose nobody (NULL)
 * @charge:  @entity has occupied the engine for @ran_ns; called before it is
 *           enqueued again, once per run. If the policy changed meanwhile, it
 *           was not picked by this one
 * @reshare: optional: entity->share changes to @share after this; not queued,
 *           perhaps running
 *
 * All but rq_init and rq_exit are called with the timeline's lock held. Times are
 * ns of CLOCK_MONOTONIC.
 */
struct vgpu_sched_policy {
	const char *name;
	enum vgpu_frl_mode frl;
	enum vgpu_ctl_due due;
	int (*rq_init)(struct vgpu_rq *rq);
	void (*rq_exit)(struct vgpu_rq *rq);
	void (*init)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	void (*exit)(struct vgpu_rq *rq, struct vgpu_entity *entity);
	void (*start)(struct vgpu_rq *rq, struct vgpu_entity *entity,
		      u64 now_ns);
	void (*stop)(struct vgpu_rq *rq, struct vgpu_entity *entity,
		     u64 now_ns);
	bool (*enqueue)(struct vgpu_rq *rq, struct vgpu_entity *entity,
			bool woken, u64 now_ns);
	void (*dequeue)(struct vgpu_rq *rq, struct vgpu_entity *entity,
			u64 now_ns);
	struct vgpu_entity *(*pick)(struct vgpu_rq *rq, u64 now_ns,
				    struct vgpu_pick *pick);
	void (*charge)(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 ran_ns, u64 now_ns);
	void (*reshare)(struct vgpu_rq *rq, struct vgpu_entity *entity,
			const struct vgpu_share *share, u64 now_ns);
};

#define VGPU_POLICY(name) extern const struct vgpu_sched_policy vgpu_policy_##name;
#include "policies.h"
#undef VGPU_POLICY

#endif /* _VGPU_POLICY_H */
