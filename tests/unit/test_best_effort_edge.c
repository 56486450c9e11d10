// SPDX-License-Identifier: GPL-2.0
/*
 * best_effort alone, in virtual time (world.h): edge cases. One entity alone, none at all, long
 * sleep, clocks that jump, a slice that is changed.
 */
#include "world.h"

#define NR	8

static void begin(struct world *w, u64 slice_ns)
{
	world_init(w, &vgpu_policy_best_effort, WORLD_CONSERVES | WORLD_FULL, 1, slice_ns);
	world_open(w, NR);
}

/*
 * The entities that are queued go on for some turns with small overruns: in every interval each
 * two of the @nr from @first on get the same service, within the bound of best_effort.c.
 */
static void check_fair(struct world *w, u64 *rnd, unsigned int turns, unsigned int first,
		       unsigned int nr)
{
	static struct world_fair fair;

	world_fair_begin(&fair, w, first, nr, 4 * w->rq.slice_ns);
	while (turns--) {
		world_turn(w, w->rq.slice_ns + random_range(rnd, 0, 50 * US));
		world_fair_check(&fair, w);
	}
}

/* All run once for a random time, and then have no more work. */
static void run_dry(struct world *w, u64 *rnd, u64 most_ns)
{
	int who;

	while ((who = world_pick(w)) != NOBODY)
		world_ran(w, who, random_range(rnd, 0, most_ns));
}

/* An entity has the engine at once, whatever it took before. */
static void test_one_alone(void **state)
{
	static const u64 runs_ns[] = { 0, 1, 20 * US, 2 * MS, 3 * MS, HOUR };
	static struct world w;
	unsigned int turn, i;

	begin(&w, 2 * MS);
	for (i = 0; i < ARRAY_SIZE(runs_ns); i++) {
		for (turn = 0; turn < 100; turn++) {
			world_wake(&w, 3);
			assert_int_equal(world_pick(&w), 3);
			world_ran(&w, 3, runs_ns[i]);
			assert_int_equal(world_pick(&w), NOBODY);
		}
	}
	world_exit(&w);
}

static void test_all_idle_then_one(void **state)
{
	static struct world w;
	u64 rnd = test_seed();
	unsigned int load, i, turn;

	for (load = 0; load < 200; load++) {
		begin(&w, 2 * MS);
		world_wake_all(&w);
		/* Some have credit left, some owe. */
		for (turn = 0; turn < 20; turn++)
			world_turn(&w, random_range(&rnd, 0, 8 * MS));
		run_dry(&w, &rnd, 8 * MS);
		w.now_ns += random_range(&rnd, 0, SEC);
		assert_int_equal(world_pick(&w), NOBODY);
		i = random_range(&rnd, 0, NR - 1);
		for (turn = 0; turn < 50; turn++) {
			world_wake(&w, i);
			assert_int_equal(world_pick(&w), i);
			world_ran(&w, i, random_range(&rnd, 0, 4 * MS));
		}
		world_exit(&w);
	}
}

/* Nobody has saved up credit by then, neither alone nor beside one that ran. */
static void test_hour_idle_then_burst(void **state)
{
	u64 rnd = test_seed() + 1, until_ns;
	static struct world w;
	unsigned int load;
	bool beside;

	for (load = 0; load < 20; load++) {
		beside = load % 2;
		begin(&w, 10 * MS);
		/* Each has had a turn, or a part of one. */
		world_wake_all(&w);
		run_dry(&w, &rnd, 10 * MS);
		until_ns = w.now_ns + HOUR;
		while (beside && w.now_ns < until_ns) {
			world_wake(&w, 0);
			assert_int_equal(world_pick(&w), 0);
			world_ran(&w, 0, 10 * MS);
		}
		w.now_ns = until_ns;
		world_wake_all(&w);
		check_fair(&w, &rnd, 2000, 0, NR);
		world_exit(&w);
	}
}

/*
 * A day passes while one entity runs: that is charged to it, and the others have the same service
 * as before beside each other. Once they leave the engine to it all of that is paid.
 */
static void test_clock_jumps_in_run(void **state)
{
	u64 rnd = test_seed() + 2, before_ns;
	static struct world w;
	unsigned int i;

	begin(&w, 2 * MS);
	for (i = 0; i < 4; i++)
		world_wake(&w, i);
	check_fair(&w, &rnd, 100, 0, 4);
	while ((i = world_pick(&w)) != 0) {
		world_ran(&w, i, 2 * MS);
		world_requeue(&w, i);
	}
	world_ran(&w, 0, DAY);
	world_requeue(&w, 0);
	before_ns = w.service_ns[0];
	check_fair(&w, &rnd, 2000, 1, 3);
	assert_true(w.service_ns[0] == before_ns);

	for (i = 1; i < 4; i++)
		world_dequeue(&w, i);
	assert_int_equal(world_turn(&w, 2 * MS), 0);
	for (i = 1; i < 4; i++)
		world_wake(&w, i);
	w.over_ns[0] = 0;
	check_fair(&w, &rnd, 2000, 0, 4);
	world_exit(&w);
}

/* A day that passes while all wait counts for nobody. */
static void test_clock_jumps_between_runs(void **state)
{
	u64 rnd = test_seed() + 3;
	static struct world w;
	unsigned int i;

	begin(&w, 2 * MS);
	world_wake_all(&w);
	for (i = 0; i < 20; i++) {
		check_fair(&w, &rnd, 107, 0, NR);
		w.now_ns += DAY;
	}
	world_exit(&w);
}

/* From the shortest slice to the longest and back, while all want the engine. */
static void test_slice_changes_under_load(void **state)
{
	static u64 from_ns[WORLD_ENTITIES];
	u64 rnd = test_seed() + 4, most_ns;
	unsigned int change, turn;
	static struct world w;

	begin(&w, VGPU_SLICE_MIN_NS);
	world_wake_all(&w);
	for (change = 0; change < 20; change++) {
		/* Within a round, too. */
		check_fair(&w, &rnd, 1000 + change, 0, NR);
		memcpy(from_ns, w.service_ns, sizeof(from_ns));
		w.rq.slice_ns = change % 2 ? VGPU_SLICE_MIN_NS : VGPU_SLICE_MAX_NS;
		for (turn = 0; turn < 60 * NR; turn++)
			world_full_turn(&w);
		most_ns = world_spread_ns(&w, from_ns);
		/* In one round some run for the old slice, and others for the new one. */
		check_that(most_ns <= 5 * VGPU_SLICE_MAX_NS, "change %u: %llu", change, most_ns);
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
