/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of a scheduling policy: entities (one vGPU on one engine each), a run queue per
 * engine, and time. A policy sees no lock, no thread and no hardware: the timeline calls it with
 * the timeline's lock held, and the policies' files also compile in user space, unchanged.
 */
#ifndef _VGPU_POLICY_H
#define _VGPU_POLICY_H

#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/rcuwait.h>
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
 * struct vgpu_share - the share of each engine that a vGPU is entitled to
 * @guarantee: qos: per mille of the engine, 0 .. @cap
 * @cap:       qos: per mille of the engine, 1 .. 1000; 1000 means no cap
 * @weight:    qos: weight in the distribution of time that guarantees leave over, 1 .. 1000
 * @first_slot: fixed_share: the vGPU's first GiB of its partition; each GiB has one of the
 *             rq->nr_slots slots of a cycle
 * @nr_slots:  fixed_share: number of GiB of the vGPU
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
 * @count: [0] counts times below 1 us, [i] those from 2^(i-1) us to less than 2^i us; the last
 *         element also counts all longer times
 */
struct vgpu_hist {
	u64 count[VGPU_HIST_BUCKETS];
};

/**
 * struct vgpu_entity_stats - statistics of one vGPU on one engine
 * @busy_ns:     service: the time from the start of each run to the engine being free again,
 *               without idle time
 * @linger_ns:   the part of @busy_ns in which the entity held the engine without work (linger_us)
 * @wait_ns:     time in which the entity was runnable and did not run
 * @max_wait_ns: the longest single wait
 * @runs:        number of runs
 * @switches:    number of @runs that followed a run of another entity
 * @preemptions: number of runs that ended with work left that could have gone on
 * @overruns:    number of runs that ended more than 100 us past their deadline
 * @overrun_ns:  the time past the deadline of all runs that @overruns counts
 * @max_overrun_ns: the largest single addend of @overrun_ns
 * @stalls:      number of runs that ended because all work waited for guest memory
 * @faults:      number of faults of the vGPU's channels on this engine
 * @resets:      number of resets of the engine because this entity did not stop
 * @packets:     packets completed
 * @bytes:       bytes that completed packets wrote
 * @window_ns:   service in the last whole window (struct vgpu_sched_params)
 * @wait_hist:   the waits before each run
 * @overrun_hist: the times past the deadline, of the runs that ended past it
 * @preempt_hist: for each run that had to stop, the time from its deadline or from the request to
 *                stop, whichever came first, until the engine was free
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

#define VGPU_ENTITY_ID_LEN	16

/* Bytes in an entity for the policy in force. */
#define VGPU_ENTITY_PART	176

/**
 * struct vgpu_entity - one vGPU on one timeline
 * @tl:       the timeline; constant
 * @id:       the vGPU's UUID, for logs and tracepoints; constant
 * @node:     on the timeline's list of all entities
 * @hold:     VGPU_HOLD_*, the reasons for which the entity may not run; 0: none
 * @started:  the vGPU's device is open
 * @has_work: the engine has, or may have, something to do for the entity
 * @queued:   the entity is on the policy's queue: runnable and not running
 * @rewoken:  vgpu_entity_wake() was called while the entity ran
 * @retired:  @seen_ns is part of tl->gone_ns
 * @due:      answer of vgpu_entity_due() as it was computed last (also read without the lock)
 * @ready_ns: when the entity was last queued
 * @wake_ns:  when a timer wakes the entity (vgpu_entity_wake_at()); 0: no timer
 * @wake_rb:  in tl->sleepers while @wake_ns is not 0
 * @share:    the vGPU's share
 * @part:     the policy's own state of the entity, zeroed before ->init(); see vgpu_entity_part()
 * @window:   number of the window of statistics that @window_ns belongs to
 * @window_ns: service in that window so far
 * @seen_ns:  reported service: the maximum so far of stats.busy_ns plus the current run
 * @stats:    the statistics of vgpu_entity_stats(), without the current run
 * @stopped:  a thread waits here until the entity is off the engine; woken with the lock held
 *
 * The timeline's lock protects all fields except @tl and @id. The core embeds entities in its
 * vGPUs. A policy uses @share and @part only.
 *
 * The flags are packed so that the size is 1016 bytes. With 1024, entities in an array share sets
 * of the cache, and a decision among 1024 of them takes a fifth longer (make bench: pick_set).
 */
struct vgpu_entity {
	struct vgpu_timeline *tl;
	u8 id[VGPU_ENTITY_ID_LEN];
	struct list_head node;
	u8 hold;
	bool started;
	bool has_work;
	bool queued;
	bool rewoken;
	bool retired;
	u16 due;
	u64 ready_ns;
	u64 wake_ns;
	struct rb_node wake_rb;
	struct vgpu_share share;
	u64 part[VGPU_ENTITY_PART / sizeof(u64)];
	u64 window;
	u64 window_ns;
	u64 seen_ns;
	struct vgpu_entity_stats stats;
	struct rcuwait stopped;
};

/*
 * A policy keeps its state of an entity in its own structure, of at most VGPU_ENTITY_PART bytes.
 * These two functions convert between the entity and that structure.
 */
static inline void *vgpu_entity_part(const struct vgpu_entity *entity)
{
	return (void *)entity->part;
}

static inline struct vgpu_entity *vgpu_part_entity(const void *part)
{
	return container_of((void *)part, struct vgpu_entity, part);
}

/**
 * struct vgpu_rq - an engine's run queue as a policy sees it
 * @policy:   the policy in force
 * @slice_ns: the GPU's slice
 * @linger_ns: the GPU's linger_us: the time for which a run may hold the engine without work, if
 *            the policy has a reason to allow that
 * @nr_slots: number of slots of a cycle under fixed_share, at least 1; constant
 * @running:  the entity on the engine, or NULL. It is already NULL when the timeline calls
 *            ->charge() and ->enqueue() for the entity that ran
 * @outlasted: during ->charge(): the entity had no work left, and the engine waited in vain for
 *            more of it for pick->linger_ns
 * @nr_queued: number of queued entities; the timeline counts them, before or after it calls the
 *            policy
 * @data:     the policy's own state of the run queue, set by ->rq_init()
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
 * struct vgpu_pick - how the entity that a policy picked runs
 * @slice_ns:  time that the entity may run, at least 1
 * @linger_ns: time for which the engine waits for more work of the entity when it has none left,
 *             although other entities wait; that time is charged
 * @exclusive: no other entity may run before the slice is over, so the engine may poll for more
 *             work of this one until then; that time is not charged
 * @until_ns:  if ->pick() picked no entity: when to call it again; 0: when an entity is queued or a
 *             setting or share has changed
 *
 * All fields are 0 when ->pick() is called.
 */
struct vgpu_pick {
	u64 slice_ns;
	u64 linger_ns;
	bool exclusive;
	u64 until_ns;
};

/**
 * enum vgpu_frl_mode - which frame-rate limits apply under a policy
 * @VGPU_FRL_MODE_OFF:     none
 * @VGPU_FRL_MODE_SET:     only a limit that was set for the vGPU
 * @VGPU_FRL_MODE_DEFAULT: a limit that was set, else the type's
 */
enum vgpu_frl_mode {
	VGPU_FRL_MODE_OFF,
	VGPU_FRL_MODE_SET,
	VGPU_FRL_MODE_DEFAULT,
};

/**
 * struct vgpu_sched_policy - decides which entity is next on an engine, and for how long
 * @name:    name for users, shorter than VGPU_ADDR_LEN
 * @frl:     which frame-rate limits apply
 * @due:     how a vGPU's due share of an engine is computed; tools show it beside its service, and
 *           guests are told (due.c)
 * @rq_init: optional: set up rq->data. May sleep; no lock is held. Returns 0 or -ENOMEM
 * @rq_exit: optional: free rq->data, when all entities have left
 * @init:    @entity joins the timeline, neither started nor runnable, with its part all 0
 * @exit:    @entity leaves the timeline; it is stopped and not queued
 * @start:   optional: the vGPU's device was opened
 * @stop:    optional: the vGPU's device was closed; @entity is not queued
 * @enqueue: @entity has become runnable (@woken), or is still runnable after a run, or after a
 *           change of its share or of the policy (not @woken). Returns true to preempt the running
 *           entity for @entity
 * @dequeue: @entity, which is queued, is not runnable any more, or its share or the policy is about
 *           to change
 * @pick:    take the next entity off the queue and fill in @pick, or return NULL if no entity may
 *           run now
 * @charge:  @entity has occupied the engine for @ran_ns. Called once for each run, before @entity
 *           is enqueued again. Another policy may have picked @entity, if the policy was changed
 *           during the run
 * @reshare: optional: entity->share will be @share after this call. @entity is not queued, but may
 *           be running
 *
 * All but @rq_init and @rq_exit are called with the timeline's lock held. Times are in ns of the
 * timeline's clock.
 */
struct vgpu_sched_policy {
	const char *name;
	enum vgpu_frl_mode frl;
	enum vgpu_ctl_due due;
	int (*rq_init)(struct vgpu_rq *rq);
	void (*rq_exit)(struct vgpu_rq *rq);
	void (*init)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	void (*exit)(struct vgpu_rq *rq, struct vgpu_entity *entity);
	void (*start)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	void (*stop)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	bool (*enqueue)(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns);
	void (*dequeue)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
	struct vgpu_entity *(*pick)(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick);
	void (*charge)(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns);
	void (*reshare)(struct vgpu_rq *rq, struct vgpu_entity *entity,
			const struct vgpu_share *share, u64 now_ns);
};

#define VGPU_POLICY(name) extern const struct vgpu_sched_policy vgpu_policy_##name;
#include "policies.h"
#undef VGPU_POLICY

#endif /* _VGPU_POLICY_H */
