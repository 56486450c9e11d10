// SPDX-License-Identifier: GPL-2.0
/*
 * fixed_share: a cycle has one slot for each GiB of the partition's framebuffer, and a vGPU has the
 * slots of the GiB on which it is placed, whether other vGPUs exist or not. slots.c states the
 * policy's guarantees.
 *
 * Which slot belongs to which GiB is fixed, so a vGPU that comes or goes changes nothing for
 * others. Neighbours in the framebuffer are spread over the cycle by digit reversal (J. G. van der
 * Corput, "Verteilungsfunktionen", 1935): the number of a GiB is written with the prime factors of
 * the GPU's size as radices, odd ones first, and its digits, read backwards, are the number of the
 * slot. A size that is a power of two, placed at a multiple of itself, leaves the leading digits
 * alone: its slots are exactly evenly spaced. All vGPUs' slots are, if the GPU's size is a power of
 * two. Else an interval may have more or less of a vGPU's slots than its share, by less than 1 if
 * evenly spaced, by at most 3 for any divisor of a GPU of up to 128 GiB (2.25 for 24, 40, 48, 80
 * and 96); for that the values of a digit are in van der Corput's order, too.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "slots.h"

/**
 * struct vgpu_fixed - a run queue's state
 * @slots:   the grid
 * @members: all entities of the timeline
 * @unit:    for each slot of a cycle, the number of its GiB
 * @slot_of: for each GiB the number of its slot
 */
struct vgpu_fixed {
	struct vgpu_slots slots;
	struct list_head members;
	u32 *unit;
	u32 *slot_of;
};

static struct vgpu_fixed *fixed_of(const struct vgpu_slots *slots)
{
	return container_of(slots, struct vgpu_fixed, slots);
}

/* Returns the @nth number below @radix, in the order of their reversed bits. */
static u32 fixed_nth(u32 nth, u32 radix)
{
	unsigned int bit, bits = ilog2(radix - 1) + 1;
	u32 i, value;

	for (i = 0; ; i++) {
		value = 0;
		for (bit = 0; bit < bits; bit++)
			if (i & BIT(bit))
				value |= BIT(bits - 1 - bit);
		if (value < radix && !nth--)
			return value;
	}
}

/* Returns which of @nr slots belongs to @unit. */
static u32 fixed_slot_of(u32 unit, u32 nr)
{
	u32 slot = 0, weight = 1, radix = 3, left = nr;

	while (left > 1) {
		if (is_power_of_2(left)) {
			radix = 2;
		} else if (left % radix) {
			radix += 2;
			continue;
		}
		left /= radix;
		slot += weight * fixed_nth(unit / left, radix);
		unit %= left;
		weight *= radix;
	}
	return slot;
}

/*
 * Searches the entity's GiB or the slots from @from on, whichever are fewer: at most about the
 * square root of a cycle's slots.
 */
static u64 fixed_next(const struct vgpu_slots *slots, const struct vgpu_entity *entity, u64 from)
{
	const struct vgpu_fixed *fixed = fixed_of(slots);
	u32 first = vgpu_slots_of(entity)->index, nr = vgpu_slots_of(entity)->nr;
	u32 i, start, slot, distance = slots->len;

	div_u64_rem(from - slots->cycle, slots->len, &start);
	if (nr <= slots->len / nr) {
		for (i = first; i < first + nr; i++) {
			slot = fixed->slot_of[i];
			if (slot < start)
				slot += slots->len;
			distance = min(distance, slot - start);
		}
		return from + distance;
	}
	slot = start;
	for (i = 0; fixed->unit[slot] - first >= nr; i++)
		if (++slot == slots->len)
			slot = 0;
	return from + i;
}

static void fixed_renew(struct vgpu_slots *slots)
{
	struct vgpu_slot_entity *se;

	list_for_each_entry(se, &fixed_of(slots)->members, node) {
		vgpu_slots_unplace(slots, vgpu_part_entity(se));
		vgpu_slots_place(slots, vgpu_part_entity(se));
	}
}

static const struct vgpu_slots_ops fixed_ops = {
	.next = fixed_next,
	.renew = fixed_renew,
};

static void fixed_rq_exit(struct vgpu_rq *rq)
{
	struct vgpu_fixed *fixed = fixed_of(rq->data);

	kfree(fixed->slot_of);
	kfree(fixed->unit);
	kfree(fixed);
	rq->data = NULL;
}

static int fixed_rq_init(struct vgpu_rq *rq)
{
	struct vgpu_fixed *fixed = kzalloc(sizeof(*fixed), GFP_KERNEL);
	u32 unit;

	if (!fixed)
		return -ENOMEM;
	vgpu_slots_setup(&fixed->slots, &fixed_ops);
	INIT_LIST_HEAD(&fixed->members);
	rq->data = &fixed->slots;
	fixed->unit = kcalloc(rq->nr_slots, sizeof(*fixed->unit), GFP_KERNEL);
	fixed->slot_of = kcalloc(rq->nr_slots, sizeof(*fixed->slot_of), GFP_KERNEL);
	if (!fixed->unit || !fixed->slot_of) {
		fixed_rq_exit(rq);
		return -ENOMEM;
	}
	for (unit = 0; unit < rq->nr_slots; unit++) {
		fixed->slot_of[unit] = fixed_slot_of(unit, rq->nr_slots);
		fixed->unit[fixed->slot_of[unit]] = unit;
	}
	return 0;
}

/* Ignores the part of a share beyond the GPU's end. */
static void fixed_own(struct vgpu_rq *rq, struct vgpu_entity *entity,
		      const struct vgpu_share *share)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);

	se->index = min(share->first_slot, rq->nr_slots);
	se->nr = min(share->nr_slots, rq->nr_slots - se->index);
}

static void fixed_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;

	list_add_tail(&vgpu_slots_of(entity)->node, &fixed_of(slots)->members);
	RB_CLEAR_NODE(&vgpu_slots_of(entity)->rb);
	fixed_own(rq, entity, &entity->share);
	if (!slots->len) {
		slots->len = rq->nr_slots;
		vgpu_slots_begin(rq, now_ns);
	}
}

static void fixed_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	vgpu_slots_forget(rq->data, entity);
	list_del_init(&vgpu_slots_of(entity)->node);
}

static void fixed_reshare(struct vgpu_rq *rq, struct vgpu_entity *entity,
			  const struct vgpu_share *share, u64 now_ns)
{
	vgpu_slots_advance(rq, now_ns);
	vgpu_slots_unplace(rq->data, entity);
	fixed_own(rq, entity, share);
	vgpu_slots_place(rq->data, entity);
}

const struct vgpu_sched_policy vgpu_policy_fixed_share = {
	.name = "fixed_share",
	.frl = VGPU_FRL_MODE_OFF,
	.due = VGPU_DUE_SIZE,
	.rq_init = fixed_rq_init,
	.rq_exit = fixed_rq_exit,
	.init = fixed_init,
	.exit = fixed_exit,
	.enqueue = vgpu_slots_enqueue,
	.dequeue = vgpu_slots_dequeue,
	.pick = vgpu_slots_pick,
	.charge = vgpu_slots_charge,
	.reshare = fixed_reshare,
};
