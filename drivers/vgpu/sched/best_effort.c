// SPDX-License-Identifier: GPL-2.0
/*
 * best_effort: deficit round robin over whoever is runnable.
 *
 * M. Shreedhar and G. Varghese, "Efficient fair queuing using deficit
 * round-robin", IEEE/ACM Transactions on Networking 4(3), 1996.
 *
 * Each round gives every entity one turn and one slice of credit. A turn is a
 * full slice as long as any credit is left, so that a slice is never cut for
 * what an earlier one took too much: that is carried as a debt, and an entity
 * that owes a slice or more skips turns. Who ends a slice early keeps the rest
 * for the present round. With S the slice and p an entity's largest overrun,
 * credit not used lies in (-S - p, S], and two entities that are runnable all
 * the time get the same service within (2 S + p_i) + (2 S + p_j) in any
 * interval.
 *
 * What sleeps gets no credit, and its debt waits. Those who skip turns are kept
 * in a tree by the point at which their debt is paid, measured by the credit
 * given to each since the start (drr->credit_ns). So a turn skipped costs
 * nothing; and when everybody skips, the rounds until the first has paid pass
 * at once, which forgives all of them equally.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "policy.h"

/*
 * What a turn costs at least. Else an entity that does nothing and is always
 * woken again would have endless turns in one round.
 */
#define VGPU_DRR_MIN_NS		(20 * 1000ULL)

/**
 * struct vgpu_drr - a run queue's state
 * @round:     which one it is
 * @credit_ns: sum of the slices of all rounds so far; wraps
 * @queue:     entities of this round
 * @next:      entities that have their next turn in the next round
 * @debtors:   entities that skip turns, by paid_ns
 */
struct vgpu_drr {
	u64 round;
	u64 credit_ns;
	struct list_head queue;
	struct list_head next;
	struct rb_root_cached debtors;
};

static int drr_rq_init(struct vgpu_rq *rq)
{
	struct vgpu_drr *drr = kzalloc(sizeof(*drr), GFP_KERNEL);

	if (!drr)
		return -ENOMEM;
	drr->round = 1;
	INIT_LIST_HEAD(&drr->queue);
	INIT_LIST_HEAD(&drr->next);
	drr->debtors = RB_ROOT_CACHED;
	rq->data = drr;
	return 0;
}

static void drr_rq_exit(struct vgpu_rq *rq)
{
	kfree(rq->data);
	rq->data = NULL;
}

static void drr_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	INIT_LIST_HEAD(&entity->drr.node);
	RB_CLEAR_NODE(&entity->drr.rb);
}

static void drr_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
}

static bool drr_paid_before(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(rb_entry(a, struct vgpu_entity, drr.rb)->drr.paid_ns -
		     rb_entry(b, struct vgpu_entity, drr.rb)->drr.paid_ns) < 0;
}

/* A debtor: owes @entity->drr.deficit_ns after all rounds so far. */
static void drr_skip(struct vgpu_drr *drr, struct vgpu_entity *entity)
{
	entity->drr.paid_ns = drr->credit_ns - entity->drr.deficit_ns;
	rb_add_cached(&entity->drr.rb, &drr->debtors, drr_paid_before);
}

/* What it owes then has the credit of the present round in it. */
static void drr_unskip(struct vgpu_drr *drr, struct vgpu_entity *entity)
{
	rb_erase_cached(&entity->drr.rb, &drr->debtors);
	RB_CLEAR_NODE(&entity->drr.rb);
	entity->drr.deficit_ns = drr->credit_ns - entity->drr.paid_ns;
	entity->drr.round = drr->round;
}

static bool drr_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			bool woken, u64 now_ns)
{
	struct vgpu_drr *drr = rq->data;
	bool had_turn = entity->drr.round == drr->round;

	if (!had_turn && entity->drr.deficit_ns > 0)
		entity->drr.deficit_ns = 0;

	if (entity->drr.deficit_ns <= -(s64)rq->slice_ns)
		drr_skip(drr, entity);
	else if (had_turn && entity->drr.deficit_ns <= 0)
		list_add_tail(&entity->drr.node, &drr->next);
	else
		list_add_tail(&entity->drr.node, &drr->queue);
	return false;
}

static void drr_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity,
			u64 now_ns)
{
	if (RB_EMPTY_NODE(&entity->drr.rb))
		list_del_init(&entity->drr.node);
	else
		drr_unskip(rq->data, entity);
}

static void drr_next_round(struct vgpu_rq *rq)
{
	struct vgpu_drr *drr = rq->data;
	struct vgpu_entity *entity;
	struct rb_node *first = rb_first_cached(&drr->debtors);
	u64 rounds = 1;
	s64 owed_ns;

	if (list_empty(&drr->next) && first) {
		entity = rb_entry(first, struct vgpu_entity, drr.rb);
		owed_ns = entity->drr.paid_ns - drr->credit_ns;
		if (owed_ns > 0)
			rounds += div64_u64(owed_ns, rq->slice_ns);
	}
	drr->round += rounds;
	drr->credit_ns += rounds * rq->slice_ns;
	list_splice_tail_init(&drr->next, &drr->queue);

	while (first) {
		entity = rb_entry(first, struct vgpu_entity, drr.rb);
		if ((s64)(entity->drr.paid_ns - drr->credit_ns) >= 0)
			break;
		drr_unskip(drr, entity);
		list_add_tail(&entity->drr.node, &drr->queue);
		first = rb_first_cached(&drr->debtors);
	}
}

/*
 * A round has somebody unless nobody is queued, so the first on the queue is
 * it, except where the slice was made shorter than a debt since: such an entity
 * moves to the debtors, once.
 */
static struct vgpu_entity *drr_pick(struct vgpu_rq *rq, u64 now_ns,
				    struct vgpu_pick *pick)
{
	struct vgpu_drr *drr = rq->data;
	struct vgpu_entity *entity;

	for (;;) {
		if (list_empty(&drr->queue)) {
			if (list_empty(&drr->next) &&
			    RB_EMPTY_ROOT(&drr->debtors.rb_root))
				return NULL;
			drr_next_round(rq);
		}
		entity = list_first_entry(&drr->queue, struct vgpu_entity, drr.node);
		list_del_init(&entity->drr.node);
		if (entity->drr.round != drr->round) {
			entity->drr.round = drr->round;
			entity->drr.deficit_ns += rq->slice_ns;
		}
		if (entity->drr.deficit_ns > 0)
			break;
		drr_skip(drr, entity);
	}
	pick->slice_ns = rq->slice_ns;
	return entity;
}

static void drr_charge(struct vgpu_rq *rq, struct vgpu_entity *entity,
		       u64 ran_ns, u64 now_ns)
{
	entity->drr.deficit_ns -= clamp(ran_ns, VGPU_DRR_MIN_NS, (u64)S64_MAX / 4);
	entity->drr.deficit_ns = max(entity->drr.deficit_ns, S64_MIN / 4);
}

const struct vgpu_sched_policy vgpu_policy_best_effort = {
	.name = "best_effort",
	.frl = VGPU_FRL_MODE_DEFAULT,
	.due = VGPU_DUE_EQUAL,
	.rq_init = drr_rq_init,
	.rq_exit = drr_rq_exit,
	.init = drr_init,
	.exit = drr_exit,
	.enqueue = drr_enqueue,
	.dequeue = drr_dequeue,
	.pick = drr_pick,
	.charge = drr_charge,
};
