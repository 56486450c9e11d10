/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time slots on a grid, for equal_share and fixed_share: see slots.c. A policy
 * says who owns which slot, the rest is common.
 */
#ifndef _VGPU_SLOTS_H
#define _VGPU_SLOTS_H

#include "policy.h"

/* Number of a slot that does not come. */
#define VGPU_SLOT_NONE		U64_MAX

struct vgpu_slots;

/**
 * struct vgpu_slots_ops - who owns which slot
 * @next:  number of @entity's first slot at or after @from, which is not before
 *         the present cycle; VGPU_SLOT_NONE if it has none. Which slots of a
 *         cycle are its own does not change but in @renew
 * @renew: a cycle begins with slots->slot that may differ from the one before:
 *         set slots->len (0: there is no grid) and who owns what, and
 *         vgpu_slots_unplace() and vgpu_slots_place() everybody
 */
struct vgpu_slots_ops {
	u64 (*next)(const struct vgpu_slots *slots,
		    const struct vgpu_entity *entity, u64 from);
	void (*renew)(struct vgpu_slots *slots);
};

/**
 * struct vgpu_slots - a run queue's grid; rq->data points to it
 * @ops:      who owns which slot; constant
 * @slot:     number of the present slot
 * @begin_ns: when it began
 * @slot_ns:  length of a slot in this cycle
 * @cycle:    number of the first slot of the present cycle
 * @len:      slots of a cycle; 0: there is no grid
 * @dirty:    ops->renew is wanted at the end of the cycle; so it is, too, when
 *            the slice was changed
 * @owner:    who runs in the present slot: until that ends the grid waits
 * @queue:    who is queued and may run, by the number of the next slot; numbers
 *            that have passed are brought up to date by pick
 * @debtors:  who owes a slot or more, queued or not, by the number of the next
 *            slot, none of which has passed
 * @debtor_slots: how many slots of a cycle they own
 * @sweep:    slot from which whole cycles may be tried again
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

void vgpu_slots_setup(struct vgpu_slots *slots,
		      const struct vgpu_slots_ops *ops);
void vgpu_slots_begin(struct vgpu_rq *rq, u64 now_ns);
void vgpu_slots_advance(struct vgpu_rq *rq, u64 now_ns);
void vgpu_slots_place(struct vgpu_slots *slots, struct vgpu_entity *entity);
void vgpu_slots_unplace(struct vgpu_slots *slots, struct vgpu_entity *entity);
void vgpu_slots_forget(struct vgpu_slots *slots, struct vgpu_entity *entity);

/* These are a policy's as they are. */
bool vgpu_slots_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			bool woken, u64 now_ns);
void vgpu_slots_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			u64 now_ns);
struct vgpu_entity *vgpu_slots_pick(struct vgpu_rq *rq, u64 now_ns,
				    struct vgpu_pick *pick);
void vgpu_slots_charge(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 ran_ns, u64 now_ns);

#endif /* _VGPU_SLOTS_H */
