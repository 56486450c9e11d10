/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world of a scheduling policy, for tests: one run queue and its entities in virtual time, as
 * little of a timeline as a policy needs. A test calls the policy by these functions only. They do
 * for the policy what the timeline does, in the same order, and check at each call what the policy
 * has to keep to at any time.
 */
#ifndef _VGPU_WORLD_H
#define _VGPU_WORLD_H

#include "vgpu_test.h"

#include "sched/policy.h"

#define WORLD_ENTITIES	1024
#define WORLD_BEGIN_NS	12345	/* when a world begins: not a multiple of a slice */
#define WORLD_WAITS	100000	/* a policy that lets time pass more often has hung */
#define NOBODY		-1	/* in place of the number of an entity */

/* What this policy promises of each call, beyond what all policies do; a mask. */
#define WORLD_CONSERVES	0x1	/* the engine is not idle while an entity is queued */
#define WORLD_FULL	0x2	/* each run may last a whole slice */
#define WORLD_EXCLUSIVE	0x4	/* no other entity runs before a run's slice is over */
#define WORLD_PREEMPTS	0x8	/* an entity that wakes may preempt another one */

/**
 * struct world - a run queue in virtual time
 * @rq:          the run queue; a test may change its slice_ns and linger_ns at any time
 * @entity:      the entities that have joined, by number
 * @nr:          how many these are
 * @service_ns:  the sum of an entity's runs, by its number
 * @over_ns:     by how much the longest run of an entity was longer than it might be
 * @promises:    WORLD_*
 * @now_ns:      the time; a test moves it forward as it likes
 * @deadline_ns: when the run under way is to end, or the last one was to
 * @until_ns:    when the policy wants to be asked again, after world_pick() has returned NOBODY;
 *               0: not before something happens
 */
struct world {
	struct vgpu_rq rq;
	struct vgpu_entity entity[WORLD_ENTITIES];
	unsigned int nr;
	u64 service_ns[WORLD_ENTITIES];
	u64 over_ns[WORLD_ENTITIES];
	unsigned int promises;
	u64 now_ns;
	u64 deadline_ns;
	u64 until_ns;
};

void world_init(struct world *w, const struct vgpu_sched_policy *policy, unsigned int promises,
		u32 nr_slots, u64 slice_ns);
void world_exit(struct world *w);

unsigned int world_join(struct world *w, u32 first_slot, u32 nr_slots);
void world_start(struct world *w, unsigned int i);
void world_stop(struct world *w, unsigned int i);
void world_open(struct world *w, unsigned int nr);
void world_reshare(struct world *w, unsigned int i, const struct vgpu_share *share);

void world_wake(struct world *w, unsigned int i);
void world_wake_all(struct world *w);
void world_requeue(struct world *w, unsigned int i);
void world_dequeue(struct world *w, unsigned int i);
int world_pick(struct world *w);
int world_next(struct world *w);
void world_ran(struct world *w, unsigned int i, u64 ran_ns);

int world_turn(struct world *w, u64 ran_ns);
int world_full_turn(struct world *w);

/**
 * struct world_fair - watches how far apart the services of entities come
 * @first:    the first entity that is watched
 * @nr:       how many are: @first and those after it
 * @slack_ns: how far apart the services of two may come in any interval of time, aside from the
 *            longest overrun of each
 * @from_ns:  service of each when the watch began
 * @low:      [i][j]: the least that the service of entity i has been ahead of that of j
 * @high:     [i][j]: the most, for j < i
 *
 * The distance of the most and the least is the largest difference of the two services in any
 * interval of the watch.
 */
struct world_fair {
	unsigned int first;
	unsigned int nr;
	u64 slack_ns;
	u64 from_ns[WORLD_ENTITIES];
	s64 low[64][64];
	s64 high[64][64];
};

void world_fair_begin(struct world_fair *fair, const struct world *w, unsigned int first,
		      unsigned int nr, u64 slack_ns);
u64 world_fair_check(struct world_fair *fair, const struct world *w);
u64 world_spread_ns(const struct world *w, const u64 *from_ns);

#endif /* _VGPU_WORLD_H */
