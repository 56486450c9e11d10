// SPDX-License-Identifier: GPL-2.0
/* See world.h. */
#include "world.h"

/**
 * world_init() - begin a world with nobody in it
 * @w:        world; all of it is overwritten
 * @policy:   the policy under test
 * @promises: WORLD_*, checked from now on
 * @nr_slots: slots of a cycle of fixed_share, at least 1
 * @slice_ns: slice to begin with
 */
void world_init(struct world *w, const struct vgpu_sched_policy *policy, unsigned int promises,
		u32 nr_slots, u64 slice_ns)
{
	memset(w, 0, sizeof(*w));
	w->rq.policy = policy;
	w->rq.slice_ns = slice_ns;
	w->rq.nr_slots = nr_slots;
	w->promises = promises;
	w->now_ns = WORLD_BEGIN_NS;
	assert_int_equal(policy->rq_init(&w->rq), 0);
}

/**
 * world_exit() - all entities leave, and the run queue is given back
 * @w: world; a run that is under way ends
 */
void world_exit(struct world *w)
{
	unsigned int i;

	if (w->rq.running)
		world_ran(w, w->rq.running - w->entity, 0);
	for (i = 0; i < w->nr; i++) {
		if (w->entity[i].queued)
			world_dequeue(w, i);
		if (w->entity[i].started)
			world_stop(w, i);
		w->rq.policy->exit(&w->rq, &w->entity[i]);
	}
	assert_int_equal(world_pick(w), NOBODY);
	w->rq.policy->rq_exit(&w->rq);
}

/**
 * world_join() - one more entity, not started
 * @w:          world
 * @first_slot: where its slots of fixed_share begin
 * @nr_slots:   how many it has
 *
 * For qos it has no guarantee, no cap and a weight of 1.
 *
 * Return: its number.
 */
unsigned int world_join(struct world *w, u32 first_slot, u32 nr_slots)
{
	struct vgpu_entity *entity = &w->entity[w->nr];

	assert_true(w->nr < WORLD_ENTITIES);
	entity->share.cap = VGPU_PER_MILLE;
	entity->share.weight = 1;
	entity->share.first_slot = first_slot;
	entity->share.nr_slots = nr_slots;
	w->rq.policy->init(&w->rq, entity, w->now_ns);
	return w->nr++;
}

void world_start(struct world *w, unsigned int i)
{
	w->entity[i].started = true;
	if (w->rq.policy->start)
		w->rq.policy->start(&w->rq, &w->entity[i], w->now_ns);
}

void world_stop(struct world *w, unsigned int i)
{
	assert_false(w->entity[i].queued);
	w->entity[i].started = false;
	if (w->rq.policy->stop)
		w->rq.policy->stop(&w->rq, &w->entity[i], w->now_ns);
}

/* @nr more entities, started, with one slot each. */
void world_open(struct world *w, unsigned int nr)
{
	while (nr--)
		world_start(w, world_join(w, w->nr, 1));
}

static void world_enqueue(struct world *w, unsigned int i, bool woken)
{
	bool preempt;

	assert_false(w->entity[i].queued);
	w->entity[i].queued = true;
	w->rq.nr_queued++;
	preempt = w->rq.policy->enqueue(&w->rq, &w->entity[i], woken, w->now_ns);
	assert_true(!preempt || (w->rq.running && w->promises & WORLD_PREEMPTS));
}

/* An entity that had no work has some now. */
void world_wake(struct world *w, unsigned int i)
{
	w->entity[i].ready_ns = w->now_ns;
	world_enqueue(w, i, true);
}

void world_wake_all(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++)
		world_wake(w, i);
}

/* An entity that has just run has more work. */
void world_requeue(struct world *w, unsigned int i)
{
	w->entity[i].ready_ns = w->now_ns;
	world_enqueue(w, i, false);
}

void world_dequeue(struct world *w, unsigned int i)
{
	assert_true(w->entity[i].queued);
	w->rq.policy->dequeue(&w->rq, &w->entity[i], w->now_ns);
	w->entity[i].queued = false;
	w->rq.nr_queued--;
}

/* The share of an entity changes; if it is queued it is taken off the queue meanwhile. */
void world_reshare(struct world *w, unsigned int i, const struct vgpu_share *share)
{
	struct vgpu_entity *entity = &w->entity[i];
	bool queued = entity->queued;

	if (queued)
		world_dequeue(w, i);
	w->rq.policy->reshare(&w->rq, entity, share, w->now_ns);
	entity->share = *share;
	if (queued)
		world_enqueue(w, i, false);
}

/**
 * world_pick() - the policy chooses
 * @w: world; no run is under way
 *
 * With nobody queued the timeline does not ask a policy; of one that promises WORLD_CONSERVES it
 * is checked that it has nobody then.
 *
 * Return: the number of the entity that runs from now on, until world_ran(); or NOBODY.
 */
int world_pick(struct world *w)
{
	struct vgpu_pick pick = {};
	struct vgpu_entity *entity;

	w->until_ns = 0;
	if (!w->rq.nr_queued && !(w->promises & WORLD_CONSERVES))
		return NOBODY;
	entity = w->rq.policy->pick(&w->rq, w->now_ns, &pick);
	if (!entity) {
		check_that(!pick.until_ns || pick.until_ns > w->now_ns, "%llu at %llu",
			   pick.until_ns, w->now_ns);
		if (w->promises & WORLD_CONSERVES)
			check_that(!w->rq.nr_queued && !pick.until_ns, "%u queued, until %llu",
				   w->rq.nr_queued, pick.until_ns);
		w->until_ns = pick.until_ns;
		return NOBODY;
	}
	assert_true(entity->queued);
	assert_true(pick.slice_ns > 0);
	assert_int_equal(pick.until_ns, 0);
	assert_in_range(pick.linger_ns, 0, 2 * w->rq.linger_ns);
	assert_int_equal(pick.exclusive, !!(w->promises & WORLD_EXCLUSIVE));
	if (w->promises & WORLD_FULL)
		assert_int_equal(pick.slice_ns, w->rq.slice_ns);
	entity->queued = false;
	w->rq.nr_queued--;
	w->rq.running = entity;
	w->deadline_ns = w->now_ns + pick.slice_ns;
	return entity - w->entity;
}

/* The same, with time passing until an entity may run; one must be queued. */
int world_next(struct world *w)
{
	int i = world_pick(w), waits;

	for (waits = 0; i == NOBODY; waits++) {
		assert_true(w->until_ns && waits < WORLD_WAITS);
		w->now_ns = w->until_ns;
		i = world_pick(w);
	}
	return i;
}

/* A run of entity @i is over, after @ran_ns. */
void world_ran(struct world *w, unsigned int i, u64 ran_ns)
{
	w->now_ns += ran_ns;
	w->service_ns[i] += ran_ns;
	if (w->now_ns > w->deadline_ns)
		w->over_ns[i] = max(w->over_ns[i], w->now_ns - w->deadline_ns);
	w->rq.running = NULL;
	w->rq.policy->charge(&w->rq, &w->entity[i], ran_ns, w->now_ns);
}

/**
 * world_turn() - the next entity that may run does so, and has more work then
 * @w:      world; an entity is queued
 * @ran_ns: how long it runs
 *
 * Return: its number.
 */
int world_turn(struct world *w, u64 ran_ns)
{
	int i = world_next(w);

	world_ran(w, i, ran_ns);
	world_requeue(w, i);
	return i;
}

/* The same, for as long as the policy lets the entity run. */
int world_full_turn(struct world *w)
{
	int i = world_next(w);

	world_ran(w, i, w->deadline_ns - w->now_ns);
	world_requeue(w, i);
	return i;
}

void world_fair_begin(struct world_fair *fair, const struct world *w, unsigned int first,
		      unsigned int nr, u64 slack_ns)
{
	memset(fair, 0, sizeof(*fair));
	assert_true(first + nr <= ARRAY_SIZE(fair->low));
	fair->first = first;
	fair->nr = nr;
	fair->slack_ns = slack_ns;
	memcpy(fair->from_ns, w->service_ns, sizeof(fair->from_ns));
}

/**
 * world_fair_check() - look at the services now, and check that none is too far from another
 * @fair: watch; to be called after each run
 * @w:    world
 *
 * Return: the most that any two have used of what they may be apart, per mille.
 */
u64 world_fair_check(struct world_fair *fair, const struct world *w)
{
	unsigned int i, j;
	u64 most = 0;

	for (i = fair->first; i < fair->first + fair->nr; i++) {
		for (j = fair->first; j < i; j++) {
			u64 bound_ns = fair->slack_ns + w->over_ns[i] + w->over_ns[j];
			s64 ahead_ns = (w->service_ns[i] - fair->from_ns[i]) -
				       (w->service_ns[j] - fair->from_ns[j]);
			s64 *low_ns = &fair->low[i][j], *high_ns = &fair->high[i][j];

			*low_ns = min(*low_ns, ahead_ns);
			*high_ns = max(*high_ns, ahead_ns);
			check_that(*high_ns - *low_ns <= (s64)bound_ns, "%u, %u: %lld > %llu", i,
				   j, *high_ns - *low_ns, bound_ns);
			most = max(most, (*high_ns - *low_ns) * 1000 / bound_ns);
		}
	}
	return most;
}

/**
 * world_spread_ns() - by how much the entity with the most service is ahead of that with the least
 * @w:       world
 * @from_ns: the services, by entity, when the count began; NULL: all were 0
 *
 * Return: the difference, in ns.
 */
u64 world_spread_ns(const struct world *w, const u64 *from_ns)
{
	u64 least_ns = U64_MAX, most_ns = 0, service_ns;
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		service_ns = w->service_ns[i] - (from_ns ? from_ns[i] : 0);
		least_ns = min(least_ns, service_ns);
		most_ns = max(most_ns, service_ns);
	}
	return most_ns - least_ns;
}
