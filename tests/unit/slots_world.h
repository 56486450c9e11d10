/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of equal_share and fixed_share: a timeline in virtual time, as
 * little of it as a policy needs.
 */
#ifndef _SLOTS_WORLD_H
#define _SLOTS_WORLD_H

#include "vgpu_test.h"

#include "sched/slots.h"

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define HOUR		(3600 * SEC)
#define MAX_ENTITIES	1024
#define NOBODY		-1

static const struct vgpu_sched_policy *const policies[] = {
	&vgpu_policy_equal_share, &vgpu_policy_fixed_share,
};

struct world {
	struct vgpu_rq rq;
	struct vgpu_entity entity[MAX_ENTITIES];
	u64 service_ns[MAX_ENTITIES];
	unsigned int nr;
	u64 now_ns;
	u64 deadline_ns;
};

static inline void world_init(struct world *w,
			      const struct vgpu_sched_policy *policy,
			      u32 nr_slots, u64 slice_ns)
{
	memset(w, 0, sizeof(*w));
	w->rq.policy = policy;
	w->rq.slice_ns = slice_ns;
	w->rq.nr_slots = nr_slots;
	assert_int_equal(policy->rq_init(&w->rq), 0);
	w->now_ns = 12345;
}

static inline void start(struct world *w, unsigned int i)
{
	w->entity[i].started = true;
	if (w->rq.policy->start)
		w->rq.policy->start(&w->rq, &w->entity[i], w->now_ns);
}

static inline void stop(struct world *w, unsigned int i)
{
	assert_false(w->entity[i].queued);
	w->entity[i].started = false;
	if (w->rq.policy->stop)
		w->rq.policy->stop(&w->rq, &w->entity[i], w->now_ns);
}

static inline unsigned int join(struct world *w, u32 first_slot, u32 nr_slots)
{
	struct vgpu_entity *entity = &w->entity[w->nr];

	entity->share.first_slot = first_slot;
	entity->share.nr_slots = nr_slots;
	w->rq.policy->init(&w->rq, entity, w->now_ns);
	return w->nr++;
}

static inline void join_and_start(struct world *w, unsigned int nr)
{
	while (nr--)
		start(w, join(w, w->nr, 1));
}

static inline void enqueue(struct world *w, unsigned int i)
{
	assert_false(w->entity[i].queued);
	w->entity[i].queued = true;
	w->rq.nr_queued++;
	assert_false(w->rq.policy->enqueue(&w->rq, &w->entity[i], true,
					   w->now_ns));
}

static inline void dequeue(struct world *w, unsigned int i)
{
	assert_true(w->entity[i].queued);
	w->rq.policy->dequeue(&w->rq, &w->entity[i], w->now_ns);
	w->entity[i].queued = false;
	w->rq.nr_queued--;
}

/* A slot is its owner's alone, and nobody's slot is longer than a slice. */
static inline int pick(struct world *w, u64 *until_ns)
{
	struct vgpu_pick pick = {};
	struct vgpu_entity *entity;

	*until_ns = 0;
	if (!w->rq.nr_queued)
		return NOBODY;
	entity = w->rq.policy->pick(&w->rq, w->now_ns, &pick);
	assert_int_equal(pick.linger_ns, 0);
	if (!entity) {
		check_that(!pick.until_ns || pick.until_ns > w->now_ns,
			   "%llu at %llu", pick.until_ns, w->now_ns);
		*until_ns = pick.until_ns;
		return NOBODY;
	}
	assert_true(entity->queued);
	assert_true(pick.exclusive);
	assert_true(pick.slice_ns > 0);
	entity->queued = false;
	w->rq.nr_queued--;
	w->rq.running = entity;
	w->deadline_ns = w->now_ns + pick.slice_ns;
	return entity - w->entity;
}

static inline void ran(struct world *w, unsigned int i, u64 ran_ns)
{
	w->now_ns += ran_ns;
	w->service_ns[i] += ran_ns;
	w->rq.running = NULL;
	w->rq.policy->charge(&w->rq, &w->entity[i], ran_ns, w->now_ns);
}

static inline void world_exit(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		if (w->entity[i].queued)
			dequeue(w, i);
		if (w->entity[i].started)
			stop(w, i);
		w->rq.policy->exit(&w->rq, &w->entity[i]);
	}
	w->rq.policy->rq_exit(&w->rq);
}

/* The slots of an entity in a cycle, as the policy has them. */
static inline void slots_seen(u32 nr_slots, const u32 (*place)[2],
			      unsigned int nr, int *table)
{
	static struct world w;
	u64 until_ns;
	u32 slot;
	int i;

	world_init(&w, &vgpu_policy_fixed_share, nr_slots, 1 * MS);
	for (i = 0; i < nr; i++)
		enqueue(&w, join(&w, place[i][0], place[i][1]));
	for (slot = 0; slot < nr_slots; slot++)
		table[slot] = NOBODY;
	for (;;) {
		i = pick(&w, &until_ns);
		if (i == NOBODY) {
			w.now_ns = until_ns;
			if (w.now_ns - 12345 >= nr_slots * MS)
				break;
			continue;
		}
		if (w.now_ns - 12345 >= nr_slots * MS) {
			ran(&w, i, 0);
			break;
		}
		assert_int_equal((w.now_ns - 12345) % MS, 0);
		table[(w.now_ns - 12345) / MS] = i;
		ran(&w, i, 1 * MS);
		enqueue(&w, i);
	}
	world_exit(&w);
}

#endif /* _SLOTS_WORLD_H */
