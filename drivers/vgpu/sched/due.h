/* SPDX-License-Identifier: GPL-2.0 */
/* What is due to each vGPU of an engine: the rule, which is pure logic. due.c explains it. */
#ifndef _VGPU_DUE_H
#define _VGPU_DUE_H

#include "policy.h"

/* Parts of an engine are in this unit: a whole engine is so many. */
#define VGPU_DUE_WHOLE		1000000U

/**
 * struct vgpu_due_claim - the claim of an entity to its engine
 * @entity:  the entity
 * @share:   its share
 * @demand:  part of the engine that it has used of late, at most the whole
 * @started: its vGPU's device is open
 * @held:    its vGPU is in quarantine
 * @due:     the answer, per mille: what it would get if it always had work
 * @limit:   for due.c only, as are all that follow: it gets no more, by its demand and its cap
 * @floor:   what it gets at level 0
 * @reach:   the level at which it gets @limit
 * @limits:  sum of @limit of the claims before it, which are in the order of @reach
 * @floors:  likewise of @floor
 * @weights: likewise of the weights
 */
struct vgpu_due_claim {
	struct vgpu_entity *entity;
	struct vgpu_share share;
	u32 demand;
	bool started;
	bool held;
	u16 due;
	u32 limit;
	u32 floor;
	u64 reach;
	u64 limits;
	u64 floors;
	u64 weights;
};

void vgpu_due_rule(enum vgpu_ctl_due rule, u32 nr_slots, struct vgpu_due_claim *claims,
		   unsigned int nr);

#endif /* _VGPU_DUE_H */
