/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time slots on a grid, for equal_share and fixed_share: see slots.c. Such a policy defines which
 * entity owns which slot; the rest is common.
 */
#ifndef _VGPU_SLOTS_H
#define _VGPU_SLOTS_H

#include <linux/build_bug.h>

#include "policy.h"

/* Instead of a slot's number: the entity has no further slot. */
#define VGPU_SLOT_NONE		U64_MAX

struct vgpu_slots;

/**
 * struct vgpu_slot_entity - an entity under a policy of slots
 * @node:    on the policy's list of members; under equal_share in the order of their slots
 * @rb:      in slots->queue or slots->debtors
 * @slot:    number of the entity's next slot, while @rb is in a tree
 * @debt_ns: overrun that the entity has not yet paid back by skipping a slot
 * @index:   equal_share: index of the entity's slot in a cycle; fixed_share: the entity's first GiB
 *           of the framebuffer
 * @nr:      number of the entity's slots in each cycle; 0: it is not a member
 * @queued:  the entity may run in its next slot
 * @debtor:  while @rb is in a tree: that tree is slots->debtors
 * @started: equal_share: the entity will be a member of the next cycle
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

static_assert(sizeof(struct vgpu_slot_entity) <= VGPU_ENTITY_PART);

static inline struct vgpu_slot_entity *vgpu_slots_of(const struct vgpu_entity *entity)
{
	return vgpu_entity_part(entity);
}

/**
 * struct vgpu_slots_ops - which entity owns which slot
 * @next:  returns the number of @entity's first slot at or after slot @from, which is not before
 *         the current cycle; VGPU_SLOT_NONE if there is none. Only @renew changes which slots of a
 *         cycle an entity owns
 * @renew: called when a cycle begins with slots->slot that may differ from the one before. Sets
 *         slots->len (0: there is no grid) and each entity's slots, and calls vgpu_slots_unplace()
 *         and vgpu_slots_place() for each
 */
struct vgpu_slots_ops {
	u64 (*next)(const struct vgpu_slots *slots, const struct vgpu_entity *entity, u64 from);
	void (*renew)(struct vgpu_slots *slots);
};

/**
 * struct vgpu_slots - a run queue's grid, to which rq->data points
 * @ops:      the policy's; constant
 * @slot:     number of the current slot
 * @begin_ns: when the current slot began
 * @slot_ns:  length of each slot of the current cycle
 * @cycle:    number of the first slot of the current cycle
 * @len:      number of slots of a cycle; 0: there is no grid
 * @dirty:    @ops->renew must be called at the end of the cycle. (It is also called there if the
 *            GPU's slice has changed.)
 * @owner:    the entity that runs in the current slot, or NULL. While it runs, the grid does not
 *            advance
 * @queue:    queued entities that may run in their next slot, by its number. A number that has
 *            passed is updated when the policy picks
 * @debtors:  entities that owe a slot or more, queued or not, by the number of their next slot,
 *            none of which has passed
 * @debtor_slots: number of slots of a cycle that belong to @debtors
 * @sweep:    number of the slot from which slots_sweep() may be tried again
 */
struct vgpu_slots {
	const struct vgpu_slots_ops *ops;
	u64 slot;
	u64 begin_ns;
	u64 slot_ns;
	u64 cycle;
	u32 len;
	bool dirty;
	struct vgpu_entity *owner;
	struct rb_root_cached queue;
	struct rb_root_cached debtors;
	u64 debtor_slots;
	u64 sweep;
};

/* All except vgpu_slots_setup() are called with the timeline's lock held. */
void vgpu_slots_setup(struct vgpu_slots *slots, const struct vgpu_slots_ops *ops);
void vgpu_slots_begin(struct vgpu_rq *rq, u64 now_ns);
void vgpu_slots_advance(struct vgpu_rq *rq, u64 now_ns);
void vgpu_slots_place(struct vgpu_slots *slots, struct vgpu_entity *entity);
void vgpu_slots_unplace(struct vgpu_slots *slots, struct vgpu_entity *entity);
void vgpu_slots_forget(struct vgpu_slots *slots, struct vgpu_entity *entity);

/* Common implementations of functions of struct vgpu_sched_policy. */
bool vgpu_slots_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns);
void vgpu_slots_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns);
struct vgpu_entity *vgpu_slots_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick);
void vgpu_slots_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns);

#endif /* _VGPU_SLOTS_H */
