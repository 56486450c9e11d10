// SPDX-License-Identifier: GPL-2.0
/* See slots_world.h. */
#include "slots_world.h"

#include "sched/sched.h"

/* The @i-th policy whose runs lie in slots, or NULL. */
const struct vgpu_sched_policy *slots_policy(unsigned int i)
{
	const struct vgpu_sched_policy *policy;
	unsigned int at;

	for (at = 0; (policy = vgpu_sched_policy_at(at)); at++)
		if (policy->pick == vgpu_slots_pick && !i--)
			break;
	return policy;
}

void slots_begin(struct world *w, const struct vgpu_sched_policy *policy, u32 nr_slots,
		 u64 slice_ns)
{
	world_init(w, policy, WORLD_EXCLUSIVE, nr_slots, slice_ns);
}

/**
 * slots_seen() - the owner of each slot of a cycle of fixed_share, as its runs show
 * @nr_slots: slots of the cycle
 * @place:    for each entity, where its slots begin and how many it has
 * @nr:       number of entities
 * @table:    for each slot, the number of its owner, or NOBODY; set
 */
void slots_seen(u32 nr_slots, const struct vgpu_share *place, unsigned int nr, int *table)
{
	static struct world w;
	u64 end_ns, at_ns;
	u32 slot;
	int i;

	slots_begin(&w, &vgpu_policy_fixed_share, nr_slots, 1 * MS);
	end_ns = w.now_ns + nr_slots * MS;
	for (i = 0; i < nr; i++)
		world_wake(&w, world_join(&w, place[i].first_slot, place[i].nr_slots));
	for (slot = 0; slot < nr_slots; slot++)
		table[slot] = NOBODY;
	while (nr) {
		i = world_next(&w);
		if (w.now_ns >= end_ns)
			break;
		at_ns = w.now_ns - WORLD_BEGIN_NS;
		assert_int_equal(at_ns % MS, 0);
		table[at_ns / MS] = i;
		world_ran(&w, i, 1 * MS);
		world_requeue(&w, i);
	}
	world_exit(&w);
}
