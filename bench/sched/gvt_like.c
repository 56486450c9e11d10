// SPDX-License-Identifier: GPL-2.0
/*
 * A budget scheduler of GVT-g's kind behind struct vgpu_sched_policy, as the
 * baseline of this bench; no driver has it. Written from the description of how
 * GVT-g decides, not from its code:
 *
 * - once in 100 ms each started vGPU is given 100 ms times its weight over the sum
 *   of the weights of all started ones, busy or not; nine times of ten on top of
 *   what it has left or owes, the tenth time instead of it;
 * - with each tick of 1 ms the one list of all started vGPUs is searched from its
 *   head for one that has work and budget left, which then goes to the tail; if
 *   there is none the engine stays idle until there is;
 * - a vGPU that runs ends its job first (the bench's engine does that for it).
 *
 * It is better off than GVT-g in three ways: it is asked at once when the engine
 * falls idle, not at the next tick; idle time is not charged; and newly started
 * vGPUs are not preferred, which in GVT-g lifts all budgets for 2 s. Weights are
 * 1 .. 1000, not 1 .. 16.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "bench_sched.h"

#define GVT_TICK_NS	(1000 * 1000ULL)
#define GVT_PERIOD_NS	(100 * GVT_TICK_NS)
#define GVT_STAGES	10

/**
 * struct gvt_entity - state of an entity, in the room that it has for its policy
 * @node:    on the list of started entities
 * @left_ns: what is left of the entity's budget; negative: what the entity owes
 * @weight:  weight with which it is in gvt->weight_sum
 * @queued:  the entity has work and does not run
 */
struct gvt_entity {
	struct list_head node;
	s64 left_ns;
	u32 weight;
	bool queued;
};

static_assert(sizeof(struct gvt_entity) <= VGPU_ENTITY_PART);

/**
 * struct gvt - state of a run queue
 * @started:    list of all started entities, with the one that ran last at the tail
 * @weight_sum: sum of their weights
 * @nr_queued:  how many of them are queued
 * @first_ns:   when the first period began
 * @period:     number of the present period of 100 ms since then
 */
struct gvt {
	struct list_head started;
	u64 weight_sum;
	unsigned int nr_queued;
	u64 first_ns;
	u64 period;
};

static struct gvt_entity *gvt_entity(struct vgpu_entity *entity)
{
	return vgpu_entity_part(entity);
}

static int gvt_rq_init(struct vgpu_rq *rq)
{
	struct gvt *gvt = kzalloc(sizeof(*gvt), GFP_KERNEL);

	if (!gvt)
		return -ENOMEM;
	INIT_LIST_HEAD(&gvt->started);
	rq->data = gvt;
	return 0;
}

static void gvt_rq_exit(struct vgpu_rq *rq)
{
	kfree(rq->data);
	rq->data = NULL;
}

static u64 gvt_budget_ns(const struct gvt *gvt, const struct gvt_entity *ge)
{
	return GVT_PERIOD_NS * ge->weight / gvt->weight_sum;
}

/* Hands out the budgets of the periods that have begun since the last call. */
static void gvt_balance(struct gvt *gvt, u64 now_ns)
{
	struct gvt_entity *ge;
	u64 period;

	if (!gvt->first_ns) {
		gvt->first_ns = now_ns;
		list_for_each_entry(ge, &gvt->started, node)
			ge->left_ns = (s64)gvt_budget_ns(gvt, ge);
	}
	period = (now_ns - gvt->first_ns) / GVT_PERIOD_NS;
	while (gvt->period < period) {
		gvt->period++;
		list_for_each_entry(ge, &gvt->started, node) {
			if (gvt->period % GVT_STAGES == 0)
				ge->left_ns = 0;
			ge->left_ns += (s64)gvt_budget_ns(gvt, ge);
		}
	}
}

static void gvt_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	INIT_LIST_HEAD(&gvt_entity(entity)->node);
}

static void gvt_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
}

static void gvt_start(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct gvt_entity *ge = gvt_entity(entity);
	struct gvt *gvt = rq->data;

	ge->weight = entity->share.weight;
	gvt->weight_sum += ge->weight;
	if (gvt->first_ns)
		ge->left_ns = (s64)gvt_budget_ns(gvt, ge);
	list_add_tail(&ge->node, &gvt->started);
}

static void gvt_stop(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct gvt_entity *ge = gvt_entity(entity);
	struct gvt *gvt = rq->data;

	gvt->weight_sum -= ge->weight;
	list_del_init(&ge->node);
}

static bool gvt_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct gvt *gvt = rq->data;

	gvt_entity(entity)->queued = true;
	gvt->nr_queued++;
	return false;
}

static void gvt_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct gvt *gvt = rq->data;

	gvt_entity(entity)->queued = false;
	gvt->nr_queued--;
}

static struct vgpu_entity *gvt_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct gvt *gvt = rq->data;
	struct gvt_entity *ge;

	gvt_balance(gvt, now_ns);
	list_for_each_entry(ge, &gvt->started, node) {
		if (!ge->queued || ge->left_ns <= 0)
			continue;
		gvt_dequeue(rq, vgpu_part_entity(ge), now_ns);
		list_move_tail(&ge->node, &gvt->started);
		pick->slice_ns = GVT_TICK_NS -
				 (now_ns - gvt->first_ns) % GVT_TICK_NS;
		return vgpu_part_entity(ge);
	}
	if (gvt->nr_queued)
		pick->until_ns = gvt->first_ns +
				 (gvt->period + 1) * GVT_PERIOD_NS;
	return NULL;
}

static void gvt_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	gvt_balance(rq->data, now_ns);
	gvt_entity(entity)->left_ns -= (s64)ran_ns;
}

const struct vgpu_sched_policy bench_policy_gvt_like = {
	.name = "gvt_like",
	.rq_init = gvt_rq_init,
	.rq_exit = gvt_rq_exit,
	.init = gvt_init,
	.exit = gvt_exit,
	.start = gvt_start,
	.stop = gvt_stop,
	.enqueue = gvt_enqueue,
	.dequeue = gvt_dequeue,
	.pick = gvt_pick,
	.charge = gvt_charge,
};
