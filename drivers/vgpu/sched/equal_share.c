// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share: a cycle has one slot for each started vGPU, in the order of their
 * starts, busy or idle. What it promises is in slots.c, with a share of 1 / N.
 *
 * N and the order change at the end of a cycle, so nobody's slots move in one
 * that has begun. While nobody is started there is no grid, and the first start
 * begins it at once.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "slots.h"

/**
 * struct vgpu_equal - a run queue's state
 * @slots:      the grid
 * @members:    who is started, or was when this cycle began, in order of start
 * @nr_started: how many are started
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

static u64 equal_next(const struct vgpu_slots *slots,
		      const struct vgpu_entity *entity, u64 from)
{
	u64 slot = slots->cycle + entity->slots.index;

	if (slot < from)
		slot += div_u64(from - slot + slots->len - 1, slots->len) *
			slots->len;
	return slot;
}

static void equal_renew(struct vgpu_slots *slots)
{
	struct vgpu_equal *equal = equal_of(slots);
	struct vgpu_entity *entity, *next;

	slots->len = 0;
	list_for_each_entry_safe(entity, next, &equal->members, slots.node) {
		vgpu_slots_unplace(slots, entity);
		entity->slots.nr = entity->slots.started;
		if (entity->slots.started)
			entity->slots.index = slots->len++;
		else
			list_del_init(&entity->slots.node);
	}
	list_for_each_entry(entity, &equal->members, slots.node)
		vgpu_slots_place(slots, entity);
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

static void equal_init(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 now_ns)
{
	INIT_LIST_HEAD(&entity->slots.node);
	RB_CLEAR_NODE(&entity->slots.rb);
}

static void equal_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
	vgpu_slots_forget(rq->data, entity);
	list_del_init(&entity->slots.node);
}

static void equal_start(struct vgpu_rq *rq, struct vgpu_entity *entity,
			u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;
	struct vgpu_equal *equal = equal_of(slots);

	vgpu_slots_advance(rq, now_ns);
	entity->slots.started = true;
	equal->nr_started++;
	/* What comes back in the same cycle has kept its place. */
	if (list_empty(&entity->slots.node))
		list_add_tail(&entity->slots.node, &equal->members);
	slots->dirty = true;

	/* No cycle, or one of which no time has passed yet. */
	if (!slots->len ||
	    (!slots->owner && slots->slot == slots->cycle &&
	     slots->begin_ns == now_ns))
		vgpu_slots_begin(rq, now_ns);
}

static void equal_stop(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 now_ns)
{
	struct vgpu_slots *slots = rq->data;
	struct vgpu_equal *equal = equal_of(slots);

	vgpu_slots_advance(rq, now_ns);
	entity->slots.started = false;
	equal->nr_started--;
	slots->dirty = true;
	/* There is nobody left to whom the rest of the cycle matters. */
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
