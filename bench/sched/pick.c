// SPDX-License-Identifier: GPL-2.0
/*
 * What a decision costs: pick, charge and enqueue again, on the bare processor, with random
 * guarantees, caps, weights and lengths of runs. Beside qos there are two policies for comparison:
 * a linear scan, with the tags and the choice of qos; and std::set, with one order of all entities
 * and one tag to charge, as the least that a tree can cost.
 */
#include <stdlib.h>

#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "pick.h"
#include "stats.h"
#include "sched/qos.h"

#define PICK_BATCH_NS	(500 * US)
#define PICK_WARM_TURNS	8

/* The scan: the choice that qos makes by its tags, made by looking at the tags of all entities. */
static int scan_rq_init(struct vgpu_rq *rq)
{
	struct list_head *queue = kzalloc(sizeof(*queue), GFP_KERNEL);

	if (!queue)
		return -ENOMEM;
	INIT_LIST_HEAD(queue);
	rq->data = queue;
	return 0;
}

static void scan_rq_exit(struct vgpu_rq *rq)
{
	kfree(rq->data);
	rq->data = NULL;
}

static void scan_init(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);

	q->reserve_ns = now_ns;
	q->limit_ns = now_ns;
}

static void scan_exit(struct vgpu_rq *rq, struct vgpu_entity *entity)
{
}

static bool scan_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);

	if (woken && (s64)(q->reserve_ns - now_ns) < 0)
		q->reserve_ns = now_ns;
	if (entity->share.guarantee) {
		q->eligible_ns = max(q->reserve_ns, q->limit_ns);
		q->deadline_ns = q->reserve_ns + rq->slice_ns *
				 VGPU_PER_MILLE / entity->share.guarantee;
	}
	list_add_tail(&entity->node, rq->data);
	return false;
}

static void scan_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	list_del_init(&entity->node);
}

static struct vgpu_entity *scan_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct vgpu_entity *entity, *due = NULL, *first = NULL, *best;
	struct list_head *queue = rq->data;
	u64 until_ns = U64_MAX;

	list_for_each_entry(entity, queue, node) {
		struct vgpu_qos_entity *q = vgpu_qos_of(entity);

		if ((s64)(now_ns - q->limit_ns) < 0) {
			until_ns = min(until_ns, q->limit_ns);
			continue;
		}
		if (!first || (s64)(q->start - vgpu_qos_of(first)->start) < 0)
			first = entity;
		if (entity->share.guarantee &&
		    (s64)(now_ns - q->eligible_ns) >= 0 &&
		    (!due || (s64)(q->deadline_ns - vgpu_qos_of(due)->deadline_ns) < 0))
			due = entity;
	}
	best = due ? due : first;
	if (!best) {
		pick->until_ns = list_empty(queue) ? 0 : until_ns;
		return NULL;
	}
	vgpu_qos_of(best)->reserved = due;
	list_del_init(&best->node);
	pick->slice_ns = rq->slice_ns;
	return best;
}

static void scan_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	struct vgpu_qos_entity *q = vgpu_qos_of(entity);
	u64 ran_mille_ns = ran_ns * VGPU_PER_MILLE;

	q->limit_ns += ran_mille_ns / entity->share.cap;
	if (q->reserved && entity->share.guarantee)
		q->reserve_ns += ran_mille_ns / entity->share.guarantee;
	else
		q->start += ran_mille_ns / entity->share.weight;
}

const struct vgpu_sched_policy bench_policy_scan = {
	.name = "scan",
	.rq_init = scan_rq_init,
	.rq_exit = scan_rq_exit,
	.init = scan_init,
	.exit = scan_exit,
	.enqueue = scan_enqueue,
	.dequeue = scan_dequeue,
	.pick = scan_pick,
	.charge = scan_charge,
};

#ifdef HAVE_STD_SET
static int set_rq_init(struct vgpu_rq *rq)
{
	rq->data = bench_set_create();
	return 0;
}

static void set_rq_exit(struct vgpu_rq *rq)
{
	bench_set_destroy(rq->data);
	rq->data = NULL;
}

static bool set_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	bench_set_add(rq->data, vgpu_qos_of(entity)->start, entity);
	return false;
}

static void set_dequeue(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 now_ns)
{
	bench_set_remove(rq->data, vgpu_qos_of(entity)->start, entity);
}

static struct vgpu_entity *set_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	pick->slice_ns = rq->slice_ns;
	return bench_set_take_first(rq->data);
}

static void set_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	vgpu_qos_of(entity)->start += ran_ns * VGPU_PER_MILLE / entity->share.weight;
}

static const struct vgpu_sched_policy set_policy = {
	.name = "std::set",
	.rq_init = set_rq_init,
	.rq_exit = set_rq_exit,
	.init = scan_init,
	.exit = scan_exit,
	.enqueue = set_enqueue,
	.dequeue = set_dequeue,
	.pick = set_pick,
	.charge = set_charge,
};

const struct vgpu_sched_policy *const bench_policy_set = &set_policy;
#else
const struct vgpu_sched_policy *const bench_policy_set;
#endif

/**
 * struct pick_world - a run queue whose entities always have work
 * @rq:     the run queue
 * @entity: the entities
 * @nr:     length of @entity
 * @now_ns: time
 * @ran_ns: lengths of runs, drawn beforehand, used again and again
 * @at:     number of runs so far
 */
struct pick_world {
	struct vgpu_rq rq;
	struct vgpu_entity *entity;
	unsigned int nr;
	u64 now_ns;
	u32 ran_ns[1024];
	unsigned int at;
};

/* Guarantees of 900 per mille in all; a third has a cap, which may bind. */
static void pick_share(struct pick_world *world, unsigned int index, u64 *seed)
{
	struct vgpu_share *share = &world->entity[index].share;
	u32 even = 2 * VGPU_PER_MILLE / world->nr;
	u32 low = 900 * index / world->nr, high = 900 * (index + 1) / world->nr;

	share->guarantee = high - low;
	share->cap = VGPU_PER_MILLE;
	if (bench_random(seed, 3) == 0)
		share->cap = max(1U + (u32)bench_random(seed, even + 2), (u32)share->guarantee);
	share->weight = 1 + bench_random(seed, VGPU_WEIGHT_MAX);
	share->first_slot = index;
	share->nr_slots = 1;
}

static void pick_steps(struct pick_world *world, unsigned int steps)
{
	struct vgpu_rq *rq = &world->rq;
	const struct vgpu_sched_policy *policy = rq->policy;

	while (steps) {
		struct vgpu_pick pick = {};
		struct vgpu_entity *entity;
		u64 ran_ns;

		entity = policy->pick(rq, world->now_ns, &pick);
		if (!entity) {
			SHIM_DIE_IF("nobody is ever to run", !pick.until_ns);
			world->now_ns = max(pick.until_ns, world->now_ns + 1);
			continue;
		}
		ran_ns = world->ran_ns[world->at++ % ARRAY_SIZE(world->ran_ns)];
		ran_ns = min(ran_ns, pick.slice_ns);
		world->now_ns += ran_ns;
		policy->charge(rq, entity, ran_ns, world->now_ns);
		policy->enqueue(rq, entity, false, world->now_ns);
		steps--;
	}
}

static struct pick_world *pick_create(const struct vgpu_sched_policy *policy,
				      unsigned int nr, u64 seed)
{
	struct pick_world *world = bench_alloc(sizeof(*world));
	unsigned int i;

	world->entity = bench_alloc(nr * sizeof(*world->entity));
	world->nr = nr;
	world->now_ns = 1000 * 1000 * 1000ULL;
	world->rq.policy = policy;
	world->rq.slice_ns = nr > 8 ? BENCH_SLICE_NS / 2 : BENCH_SLICE_NS;
	world->rq.nr_slots = nr;
	for (i = 0; i < ARRAY_SIZE(world->ran_ns); i++)
		world->ran_ns[i] = 20000 + bench_random(&seed, 2000000);
	SHIM_DIE_IF("no memory", policy->rq_init(&world->rq));
	for (i = 0; i < nr; i++) {
		pick_share(world, i, &seed);
		policy->init(&world->rq, &world->entity[i], world->now_ns);
	}
	for (i = 0; i < nr; i++) {
		if (policy->start)
			policy->start(&world->rq, &world->entity[i], world->now_ns);
		policy->enqueue(&world->rq, &world->entity[i], true, world->now_ns);
	}
	pick_steps(world, PICK_WARM_TURNS * nr);
	return world;
}

static void pick_destroy(struct pick_world *world)
{
	const struct vgpu_sched_policy *policy = world->rq.policy;
	unsigned int i;

	for (i = 0; i < world->nr; i++)
		policy->dequeue(&world->rq, &world->entity[i], world->now_ns);
	for (i = 0; i < world->nr; i++) {
		if (policy->stop)
			policy->stop(&world->rq, &world->entity[i], world->now_ns);
		policy->exit(&world->rq, &world->entity[i]);
	}
	policy->rq_exit(&world->rq);
	free(world->entity);
	free(world);
}

/* How many steps take PICK_BATCH_NS: so long that reading the clock does not matter. */
static unsigned int pick_batch(struct pick_world *world)
{
	unsigned int steps = 64;
	u64 began_ns;

	for (;; steps *= 2) {
		began_ns = bench_cpu_ns();
		pick_steps(world, steps);
		if (bench_cpu_ns() - began_ns >= PICK_BATCH_NS)
			return steps;
	}
}

static double pick_measure(struct pick_world *world, unsigned int steps)
{
	u64 began_ns = bench_cpu_ns();

	pick_steps(world, steps);
	return (double)(bench_cpu_ns() - began_ns) / steps;
}

/**
 * bench_pick_cost() - what a decision of a policy costs
 * @policy:  the policy
 * @nr:      number of entities, all of which have work
 * @seed:    seed of their shares and of the lengths of runs
 * @repeats: number of batches, of which the median is taken
 *
 * Return: ns for pick, charge and enqueue.
 */
double bench_pick_cost(const struct vgpu_sched_policy *policy, unsigned int nr,
		       u64 seed, unsigned int repeats)
{
	struct pick_world *world = pick_create(policy, nr, seed);
	double *cost_ns = bench_alloc(repeats * sizeof(*cost_ns));
	unsigned int steps = pick_batch(world), i;
	double median_ns;

	for (i = 0; i < repeats; i++)
		cost_ns[i] = pick_measure(world, steps);
	median_ns = stats_quantile(cost_ns, repeats, 0.5);
	free(cost_ns);
	pick_destroy(world);
	return median_ns;
}

/**
 * bench_pick_beside() - what a decision costs under several policies, measured in turn
 * @policies:    the policies
 * @nr_policies: length of @policies
 * @nr:          number of entities, all of which have work
 * @seed:        seed of their shares and of the lengths of runs
 * @repeats:     number of batches of each, of which the median is taken
 * @cost_ns:     by policy, set to the ns for pick, charge and enqueue
 */
void bench_pick_beside(const struct vgpu_sched_policy *const *policies,
		       unsigned int nr_policies, unsigned int nr, u64 seed,
		       unsigned int repeats, double *cost_ns)
{
	struct pick_world **worlds = bench_alloc(nr_policies * sizeof(*worlds));
	double *ns = bench_alloc(nr_policies * repeats * sizeof(*ns));
	unsigned int *steps = bench_alloc(nr_policies * sizeof(*steps));
	unsigned int i, j;

	for (j = 0; j < nr_policies; j++) {
		worlds[j] = pick_create(policies[j], nr, seed);
		steps[j] = pick_batch(worlds[j]);
	}
	for (i = 0; i < repeats; i++)
		for (j = 0; j < nr_policies; j++)
			ns[j * repeats + i] = pick_measure(worlds[j], steps[j]);
	for (j = 0; j < nr_policies; j++) {
		cost_ns[j] = stats_quantile(&ns[j * repeats], repeats, 0.5);
		pick_destroy(worlds[j]);
	}
	free(worlds);
	free(ns);
	free(steps);
}

/**
 * bench_pick_pairs() - what a decision costs among few and among many entities, measured in turn
 * @policy: the policy
 * @few:    number of entities
 * @many:   number of entities
 * @seed:   seed of their shares and of the lengths of runs
 * @pairs:  number of pairs, in the order few, many, many, few; one more pair comes first and is
 *          dropped
 * @cost:   set to the medians, and to the quartiles of the pairs' ratios
 */
void bench_pick_pairs(const struct vgpu_sched_policy *policy, unsigned int few,
		      unsigned int many, u64 seed, unsigned int pairs,
		      struct bench_pick_cost *cost)
{
	struct pick_world *a = pick_create(policy, few, seed);
	struct pick_world *b = pick_create(policy, many, seed);
	double *few_ns = bench_alloc(pairs * sizeof(double));
	double *many_ns = bench_alloc(pairs * sizeof(double));
	double *ratio = bench_alloc(pairs * sizeof(double));
	unsigned int few_steps = pick_batch(a), many_steps = pick_batch(b), i;

	pick_measure(a, few_steps);
	pick_measure(b, many_steps);
	for (i = 0; i < pairs; i++) {
		if (i % 2) {
			many_ns[i] = pick_measure(b, many_steps);
			few_ns[i] = pick_measure(a, few_steps);
		} else {
			few_ns[i] = pick_measure(a, few_steps);
			many_ns[i] = pick_measure(b, many_steps);
		}
		ratio[i] = many_ns[i] / few_ns[i];
	}
	cost->few_ns = stats_quantile(few_ns, pairs, 0.5);
	cost->many_ns = stats_quantile(many_ns, pairs, 0.5);
	cost->ratio = stats_quantile(ratio, pairs, 0.5);
	cost->ratio_low = stats_quantile(ratio, pairs, 0.25);
	cost->ratio_high = stats_quantile(ratio, pairs, 0.75);
	free(few_ns);
	free(many_ns);
	free(ratio);
	pick_destroy(a);
	pick_destroy(b);
}
