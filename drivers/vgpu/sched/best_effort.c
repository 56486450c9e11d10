// SPDX-License-Identifier: GPL-2.0
/*
 * best_effort: deficit round robin over the runnable entities.
 *
 * M. Shreedhar and G. Varghese, "Efficient fair queuing using deficit round-robin", IEEE/ACM
 * Transactions on Networking 4(3), 1996.
 *
 * Each round gives every entity one run and one slice of credit. A run is a full slice as long as
 * any credit is left: a slice is never shortened because an earlier run was too long. The excess is
 * carried as a debt, and an entity that owes a slice or more skips runs. An entity that ends a
 * slice early keeps the rest for the current round. With S the slice and p an entity's largest
 * overrun, unused credit lies in (-S - p, S], and the service of two entities that are always
 * runnable differs by at most (2 S + p_i) + (2 S + p_j) in any interval.
 *
 * An entity that sleeps gets no credit, and keeps its debt. Entities that skip runs are kept in a
 * tree, ordered by the point at which their debt is paid, measured by the credit given to each
 * entity since the start (drr->credit_ns). So a skipped run costs nothing; and when all entities
 * skip, the rounds until the first has paid pass at once, which forgives all of them equally.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "policy.h"

/*
 * Minimum charge of a run. Without it, an entity that does nothing and is woken again each time
 * would have an unlimited number of runs in one round.
 */
#define VGPU_DRR_MIN_NS		(20 * 1000ULL)

/**
 * struct vgpu_drr_entity - an entity under best_effort
 * @node:       on drr->queue or drr->next
 * @rb:         in drr->debtors while the entity skips runs
 * @deficit_ns: service that is due to the entity in this round; negative: owed by it
 * @round:      the round in which the entity had its last run
 * @paid_ns:    key of @rb: drr->credit_ns at which the debt is paid
 */
struct vgpu_drr_entity {
	struct list_head node;
	struct rb_node rb;
	s64 deficit_ns;
	u64 round;
	u64 paid_ns;
};

static_assert(sizeof(struct vgpu_drr_entity) <= VGPU_ENTITY_PART);

/**
 * struct vgpu_drr - a run queue under best_effort
 * @round:     number of the current round, from 1
 * @credit_ns: sum of the slices of all rounds so far; wraps
 * @queue:     queued entities that run in this round
 * @next:      queued entities that run again in the next round
 * @debtors:   queued entities that skip runs, by paid_ns
 */
struct vgpu_drr {
	u64 round;
	u64 credit_ns;
	struct list_head queue;
	struct list_head next;
	struct rb_root_cached debtors;
};

static struct vgpu_drr_entity *drr_of(const struct vgpu_entity *entity)
{
	return vgpu_entity_part(entity);
}

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
	INIT_LIST_HEAD(&drr_of(entity)->node);
	RB_CLEAR_NODE(&drr_of(entity)->rb);
}

static void drr_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
}

static struct vgpu_drr_entity *drr_rb(struct rb_node *node)
{
	return rb_entry(node, struct vgpu_drr_entity, rb);
}

static bool drr_paid_before(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(drr_rb(a)->paid_ns - rb_entry(b, struct vgpu_drr_entity, rb)->paid_ns) < 0;
}

/* Adds a debtor, which owes de->deficit_ns with the credit of all rounds so far. */
static void drr_skip(struct vgpu_drr *drr, struct vgpu_drr_entity *de)
{
	de->paid_ns = drr->credit_ns - de->deficit_ns;
	rb_add_cached(&de->rb, &drr->debtors, drr_paid_before);
}

/* Removes a debtor, and sets what it still owes, after the credit of the current round. */
static void drr_unskip(struct vgpu_drr *drr, struct vgpu_drr_entity *de)
{
	rb_erase_cached(&de->rb, &drr->debtors);
	RB_CLEAR_NODE(&de->rb);
	de->deficit_ns = drr->credit_ns - de->paid_ns;
	de->round = drr->round;
}

static bool drr_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_drr_entity *de = drr_of(entity);
	struct vgpu_drr *drr = rq->data;
	bool had_run = de->round == drr->round;

	if (!had_run && de->deficit_ns > 0)
		de->deficit_ns = 0;

	if (de->deficit_ns <= -(s64)rq->slice_ns)
		drr_skip(drr, de);
	else if (had_run && de->deficit_ns <= 0)
		list_add_tail(&de->node, &drr->next);
	else
		list_add_tail(&de->node, &drr->queue);
	return false;
}

static void drr_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_drr_entity *de = drr_of(entity);

	if (RB_EMPTY_NODE(&de->rb))
		list_del_init(&de->node);
	else
		drr_unskip(rq->data, de);
}

static void drr_next_round(struct vgpu_rq *rq)
{
	struct vgpu_drr *drr = rq->data;
	struct rb_node *first = rb_first_cached(&drr->debtors);
	struct vgpu_drr_entity *de;
	u64 rounds = 1;
	s64 owed_ns;

	if (list_empty(&drr->next) && first) {
		owed_ns = drr_rb(first)->paid_ns - drr->credit_ns;
		if (owed_ns > 0)
			rounds += div64_u64(owed_ns, rq->slice_ns);
	}
	drr->round += rounds;
	drr->credit_ns += rounds * rq->slice_ns;
	list_splice_tail_init(&drr->next, &drr->queue);

	while (first) {
		de = drr_rb(first);
		if ((s64)(de->paid_ns - drr->credit_ns) >= 0)
			break;
		drr_unskip(drr, de);
		list_add_tail(&de->node, &drr->queue);
		first = rb_first_cached(&drr->debtors);
	}
}

/*
 * A round has an entity unless none is queued, so the first on the queue is next. Exception: if the
 * slice was made shorter than that entity's debt, the entity becomes a debtor, once.
 */
static struct vgpu_entity *drr_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct vgpu_drr *drr = rq->data;
	struct vgpu_drr_entity *de;

	for (;;) {
		if (list_empty(&drr->queue)) {
			if (list_empty(&drr->next) && RB_EMPTY_ROOT(&drr->debtors.rb_root))
				return NULL;
			drr_next_round(rq);
		}
		de = list_first_entry(&drr->queue, struct vgpu_drr_entity, node);
		list_del_init(&de->node);
		if (de->round != drr->round) {
			de->round = drr->round;
			de->deficit_ns += rq->slice_ns;
		}
		if (de->deficit_ns > 0)
			break;
		drr_skip(drr, de);
	}
	pick->slice_ns = rq->slice_ns;
	return vgpu_part_entity(de);
}

static void drr_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	struct vgpu_drr_entity *de = drr_of(entity);

	de->deficit_ns -= clamp(ran_ns, VGPU_DRR_MIN_NS, (u64)S64_MAX / 4);
	de->deficit_ns = max(de->deficit_ns, S64_MIN / 4);
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
