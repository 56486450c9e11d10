// SPDX-License-Identifier: GPL-2.0
/*
 * best_effort alone, in virtual time: edge cases. One alone, nobody, long sleep,
 * clocks that jump, a slice that is changed.
 */
#include "vgpu_test.h"

#include "sched/policy.h"

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define HOUR		(3600 * SEC)
#define DAY		(24 * HOUR)
#define NR		8

static const struct vgpu_sched_policy *policy = &vgpu_policy_best_effort;

/* A timeline, as little of it as a policy needs. */
struct world {
	struct vgpu_rq rq;
	struct vgpu_entity entity[NR];
	u64 service_ns[NR];
	u64 over_ns[NR];	/* largest */
	u64 now_ns;
};

static void world_init(struct world *w, u64 slice_ns)
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->rq.policy = policy;
	w->rq.slice_ns = slice_ns;
	w->now_ns = SEC;
	assert_int_equal(policy->rq_init(&w->rq), 0);
	for (i = 0; i < NR; i++)
		policy->init(&w->rq, &w->entity[i], w->now_ns);
}

static void enqueue(struct world *w, unsigned int i)
{
	assert_false(w->entity[i].queued);
	w->entity[i].queued = true;
	w->rq.nr_queued++;
	assert_false(policy->enqueue(&w->rq, &w->entity[i], true, w->now_ns));
}

static void dequeue(struct world *w, unsigned int i)
{
	assert_true(w->entity[i].queued);
	policy->dequeue(&w->rq, &w->entity[i], w->now_ns);
	w->entity[i].queued = false;
	w->rq.nr_queued--;
}

/* The engine is never idle while somebody is queued, and slices are full. */
static int pick(struct world *w)
{
	struct vgpu_pick pick = {};
	struct vgpu_entity *entity = policy->pick(&w->rq, w->now_ns, &pick);

	assert_int_equal(pick.until_ns, 0);
	check_that(!entity == !w->rq.nr_queued, "%u queued", w->rq.nr_queued);
	if (!entity)
		return -1;
	assert_true(entity->queued);
	assert_int_equal(pick.slice_ns, w->rq.slice_ns);
	entity->queued = false;
	w->rq.nr_queued--;
	return entity - w->entity;
}

static void ran(struct world *w, unsigned int i, u64 ran_ns)
{
	w->now_ns += ran_ns;
	w->service_ns[i] += ran_ns;
	if (ran_ns > w->rq.slice_ns)
		w->over_ns[i] = max(w->over_ns[i], ran_ns - w->rq.slice_ns);
	policy->charge(&w->rq, &w->entity[i], ran_ns, w->now_ns);
}

static void world_exit(struct world *w)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		if (w->entity[i].queued)
			dequeue(w, i);
		policy->exit(&w->rq, &w->entity[i]);
	}
	assert_int_equal(pick(w), -1);
	policy->rq_exit(&w->rq);
}

/*
 * The queued go on for some turns with small overruns: in every interval each two
 * of those from @first on get the same within the bound of best_effort.c.
 */
static void check_fair(struct world *w, u64 *rnd, unsigned int turns,
		       unsigned int first, unsigned int last)
{
	s64 low[NR][NR] = {}, high[NR][NR] = {}, ahead, bound;
	u64 from_ns[NR];
	unsigned int turn, i, j;
	int who;

	memcpy(from_ns, w->service_ns, sizeof(from_ns));
	for (turn = 0; turn < turns; turn++) {
		who = pick(w);
		assert_true(who >= 0);
		ran(w, who, w->rq.slice_ns + rnd_range(rnd, 0, 50 * US));
		enqueue(w, who);
		for (i = first; i <= last; i++) {
			for (j = first; j < i; j++) {
				ahead = (w->service_ns[i] - from_ns[i]) -
					(w->service_ns[j] - from_ns[j]);
				low[i][j] = min(low[i][j], ahead);
				high[i][j] = max(high[i][j], ahead);
				bound = 4 * w->rq.slice_ns + w->over_ns[i] +
					w->over_ns[j];
				check_that(high[i][j] - low[i][j] <= bound,
					   "turn %u: %u, %u: %lld > %lld", turn,
					   i, j, high[i][j] - low[i][j], bound);
			}
		}
	}
}

/* It has the engine at once, whatever it took before. */
static void test_one_alone(void **state)
{
	static const u64 runs_ns[] = { 0, 1, 20 * US, 2 * MS, 3 * MS, HOUR };
	static struct world w;
	unsigned int turn, i;

	world_init(&w, 2 * MS);
	for (i = 0; i < ARRAY_SIZE(runs_ns); i++) {
		for (turn = 0; turn < 100; turn++) {
			enqueue(&w, 3);
			assert_int_equal(pick(&w), 3);
			ran(&w, 3, runs_ns[i]);
			assert_int_equal(pick(&w), -1);
		}
	}
	world_exit(&w);
}

static void test_all_idle_then_one(void **state)
{
	static struct world w;
	u64 rnd = test_seed();
	unsigned int load, i, turn;
	int who;

	for (load = 0; load < 200; load++) {
		world_init(&w, 2 * MS);
		for (i = 0; i < NR; i++)
			enqueue(&w, i);
		/* Some have credit left, some owe. */
		for (turn = 0; turn < 20; turn++) {
			who = pick(&w);
			ran(&w, who, rnd_range(&rnd, 0, 8 * MS));
			enqueue(&w, who);
		}
		while ((who = pick(&w)) >= 0)
			ran(&w, who, rnd_range(&rnd, 0, 8 * MS));
		w.now_ns += rnd_range(&rnd, 0, SEC);
		assert_int_equal(pick(&w), -1);
		i = rnd_range(&rnd, 0, NR - 1);
		for (turn = 0; turn < 50; turn++) {
			enqueue(&w, i);
			assert_int_equal(pick(&w), i);
			ran(&w, i, rnd_range(&rnd, 0, 4 * MS));
		}
		world_exit(&w);
	}
}

/* Nobody has saved up credit by then, neither alone nor beside one that ran. */
static void test_hour_idle_then_burst(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 1, until_ns;
	unsigned int load, i;
	bool beside;
	int who;

	for (load = 0; load < 20; load++) {
		beside = load % 2;
		world_init(&w, 10 * MS);
		/* Each has had a turn, or a part of one. */
		for (i = 0; i < NR; i++)
			enqueue(&w, i);
		while ((who = pick(&w)) >= 0)
			ran(&w, who, rnd_range(&rnd, 0, 10 * MS));
		until_ns = w.now_ns + HOUR;
		while (beside && w.now_ns < until_ns) {
			enqueue(&w, 0);
			assert_int_equal(pick(&w), 0);
			ran(&w, 0, 10 * MS);
		}
		w.now_ns = until_ns;
		for (i = 0; i < NR; i++)
			enqueue(&w, i);
		check_fair(&w, &rnd, 2000, 0, NR - 1);
		world_exit(&w);
	}
}

/*
 * A day passes while one runs: that is charged to it, and the others have the
 * same as before beside each other. Once they leave the engine to it all is paid.
 */
static void test_clock_jumps_in_run(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 2, before_ns;
	unsigned int i;

	world_init(&w, 2 * MS);
	for (i = 0; i < 4; i++)
		enqueue(&w, i);
	check_fair(&w, &rnd, 100, 0, 3);
	while ((i = pick(&w)) != 0) {
		ran(&w, i, 2 * MS);
		enqueue(&w, i);
	}
	ran(&w, 0, DAY);
	enqueue(&w, 0);
	before_ns = w.service_ns[0];
	check_fair(&w, &rnd, 2000, 1, 3);
	assert_true(w.service_ns[0] == before_ns);

	for (i = 1; i < 4; i++)
		dequeue(&w, i);
	assert_int_equal(pick(&w), 0);
	ran(&w, 0, 2 * MS);
	enqueue(&w, 0);
	for (i = 1; i < 4; i++)
		enqueue(&w, i);
	w.over_ns[0] = 0;
	check_fair(&w, &rnd, 2000, 0, 3);
	world_exit(&w);
}

/* A day that passes while all wait is nobody's. */
static void test_clock_jumps_between_runs(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 3;
	unsigned int i;

	world_init(&w, 2 * MS);
	for (i = 0; i < NR; i++)
		enqueue(&w, i);
	for (i = 0; i < 20; i++) {
		check_fair(&w, &rnd, 107, 0, NR - 1);
		w.now_ns += DAY;
	}
	world_exit(&w);
}

/* From the shortest slice to the longest and back, while all want the engine. */
static void test_slice_changes_under_load(void **state)
{
	static struct world w;
	u64 rnd = test_seed() + 4, from_ns[NR], least, most;
	unsigned int change, i, turn;
	int who;

	world_init(&w, VGPU_SLICE_MIN_NS);
	for (i = 0; i < NR; i++)
		enqueue(&w, i);
	for (change = 0; change < 20; change++) {
		/* Within a round, too. */
		check_fair(&w, &rnd, 1000 + change, 0, NR - 1);
		memcpy(from_ns, w.service_ns, sizeof(from_ns));
		w.rq.slice_ns = change % 2 ? VGPU_SLICE_MIN_NS :
					     VGPU_SLICE_MAX_NS;
		for (turn = 0; turn < 60 * NR; turn++) {
			who = pick(&w);
			ran(&w, who, w.rq.slice_ns);
			enqueue(&w, who);
		}
		least = U64_MAX;
		most = 0;
		for (i = 0; i < NR; i++) {
			least = min(least, w.service_ns[i] - from_ns[i]);
			most = max(most, w.service_ns[i] - from_ns[i]);
		}
		/* Of one round the old slice and the new one meet. */
		check_that(most - least <= 5 * VGPU_SLICE_MAX_NS,
			   "change %u: %llu, %llu", change, least, most);
	}
	world_exit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_alone),
		cmocka_unit_test(test_all_idle_then_one),
		cmocka_unit_test(test_hour_idle_then_burst),
		cmocka_unit_test(test_clock_jumps_in_run),
		cmocka_unit_test(test_clock_jumps_between_runs),
		cmocka_unit_test(test_slice_changes_under_load),
	};

	return cmocka_run_group_tests_name("best_effort_edge", tests, NULL, NULL);
}
