// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share: a cycle has one slot for each started vGPU, busy or idle, in the order in which the
 * vGPUs were started. slots.c states the policy's guarantees; the share is 1 / N for N started
 * vGPUs.
 *
 * N and the order change at the end of a cycle, so no slot moves in a cycle that has begun. While
 * no vGPU is started there is no grid, and the first start begins one at once.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "slots.h"

/**
 * struct vgpu_equal - a run queue's state
 * @slots:      the grid
 * @members:    entities that are started, or were when this cycle began, in the order of their
 *              starts
 * @nr_started: number of entities that are started
 */
struct vgpu_equal {
	struct vgpu_slots slots;
	struct list_head members;
	unsigned int nr_started;
};

static struct vgpu_equal *equal_of(struct vgpu_slots *slots)
{
	return container_of(slots, struct vgpu_equal, slots);
}

static u64 equal_next(const struct vgpu_slots *slots, const struct vgpu_entity *entity, u64 from)
{
	u64 slot = slots->cycle + vgpu_slots_of(entity)->index;

	if (slot < from)
		slot += div_u64(from - slot + slots->len - 1, slots->len) * slots->len;
	return slot;
}

static void equal_renew(struct vgpu_slots *slots)
{
	struct vgpu_equal *equal = equal_of(slots);
	struct vgpu_slot_entity *se, *next;

	slots->len = 0;
	list_for_each_entry_safe(se, next, &equal->members, node) {
		vgpu_slots_unplace(slots, vgpu_part_entity(se));
		se->nr = se->started;
		if (se->started)
			se->index = slots->len++;
		else
			list_del_init(&se->node);
	}
	list_for_each_entry(se, &equal->members, node)
		vgpu_slots_place(slots, vgpu_part_entity(se));
}

static const struct vgpu_slots_ops equal_ops = {
	.next = equal_next,
	.renew = equal_renew,
};

static int equal_rq_init(struct vgpu_rq *rq)
{
	struct vgpu_equal *equal = kzalloc(sizeof(*equal), GFP_KERNEL);

	if (!equal)
		return -ENOMEM;
	vgpu_slots_setup(&equal->slots, &equal_ops);
	INIT_LIST_HEAD(&equal->members);
	rq->data = &equal->slots;
	return 0;
}

static void equal_rq_exit(struct vgpu_rq *rq)
{
	kfree(equal_of(rq->data));
	rq->data = NULL;
}

static void equal_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	INIT_LIST_HEAD(&vgpu_slots_of(entity)->node);
	RB_CLEAR_NODE(&vgpu_slots_of(entity)->rb);
}

static void equal_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	vgpu_slots_forget(rq->data, entity);
	list_del_init(&vgpu_slots_of(entity)->node);
}

static void equal_start(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_slot_entity *se = vgpu_slots_of(entity);
	struct vgpu_slots *slots = rq->data;
	struct vgpu_equal *equal = equal_of(slots);

	vgpu_slots_advance(rq, now_ns);
	se->started = true;
	equal->nr_started++;
	/* An entity that stops and starts again in the same cycle keeps its place. */
	if (list_empty(&se->node))
		list_add_tail(&se->node, &equal->members);
	slots->dirty = true;

	/* There is no cycle, or one that has only just begun. */
	if (!slots->len ||
	    (!slots->owner && slots->slot == slots->cycle && slots->begin_ns == now_ns))
		vgpu_slots_begin(rq, now_ns);
}

static void equal_stop(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;
	struct vgpu_equal *equal = equal_of(slots);

	vgpu_slots_advance(rq, now_ns);
	vgpu_slots_of(entity)->started = false;
	equal->nr_started--;
	slots->dirty = true;
	/* No started entity is left, so nobody needs the rest of the cycle. */
	if (!equal->nr_started && !slots->owner)
		vgpu_slots_begin(rq, now_ns);
}

const struct vgpu_sched_policy vgpu_policy_equal_share = {
	.name = "equal_share",
	.frl = VGPU_FRL_MODE_OFF,
	.due = VGPU_DUE_SLOT,
	.rq_init = equal_rq_init,
	.rq_exit = equal_rq_exit,
	.init = equal_init,
	.exit = equal_exit,
	.start = equal_start,
	.stop = equal_stop,
	.enqueue = vgpu_slots_enqueue,
	.dequeue = vgpu_slots_dequeue,
	.pick = vgpu_slots_pick,
	.charge = vgpu_slots_charge,
};
