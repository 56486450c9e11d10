/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of the policies whose runs lie in slots on a grid (sched/slots.h): a world of these. */
#ifndef _SLOTS_WORLD_H
#define _SLOTS_WORLD_H

#include "world.h"

#include "sched/slots.h"

const struct vgpu_sched_policy *slots_policy(unsigned int i);
void slots_begin(struct world *w, const struct vgpu_sched_policy *policy, u32 nr_slots,
		 u64 slice_ns);
void slots_seen(u32 nr_slots, const struct vgpu_share *place, unsigned int nr, int *table);

/* @policy is each of these policies in turn; @i is a counter. */
#define for_each_slots_policy(policy, i)					\
	for ((i) = 0; ((policy) = slots_policy(i)); (i)++)

#endif /* _SLOTS_WORLD_H */
