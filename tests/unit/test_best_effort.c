// SPDX-License-Identifier: GPL-2.0
/*
 * best_effort alone, in virtual time (world.h): what deficit round robin promises, under random
 * loads, and against a round robin that counts naively. test_best_effort_edge.c has edge cases.
 */

#include "world.h"

#include "sched/best_effort.c"

static void begin(struct world *w, unsigned int nr, u64 slice_ns)
{
	world_init(w, &vgpu_policy_best_effort, WORLD_CONSERVES | WORLD_FULL, 1, slice_ns);
	world_open(w, nr);
}

/* The head of best_effort.c has the bound: 2 S for each of two, and their largest overruns. */
static void watch(struct world_fair *fair, const struct world *w, unsigned int nr)
{
	world_fair_begin(fair, w, 0, nr, 4 * w->rq.slice_ns);
}

/* How long an entity runs, of one of several kinds, that has more work than a slice lasts. */
static u64 random_run_ns(u64 *rnd, u64 slice_ns, unsigned int kind)
{
	switch (kind % 5) {
	case 0:
		return slice_ns;
	case 1:
		return slice_ns + random_range(rnd, 0, 50 * US);
	case 2:
		return slice_ns + random_range(rnd, 0, 2 * slice_ns);
	case 3:		/* ends early, goes on */
		return random_range(rnd, 20 * US, slice_ns);
	default:	/* all of it, and sometimes far too long */
		if (random_one_in(rnd, 20))
			return slice_ns * random_range(rnd, 2, 40);
		return random_range(rnd, 20 * US, slice_ns + slice_ns / 8);
	}
}

static void test_fair_in_every_interval(void **state)
{
	unsigned int load, turn, kind[16];
	static struct world_fair fair;
	static struct world w;
	u64 rnd = test_seed(), most = 0;
	bool alike;
	int i;

	for (load = 0; load < 400; load++) {
		begin(&w, random_range(&rnd, 2, 12),
		      random_range(&rnd, VGPU_SLICE_MIN_NS, VGPU_SLICE_MAX_NS));
		watch(&fair, &w, w.nr);
		alike = random_one_in(&rnd, 4);
		kind[0] = random_next(&rnd);
		for (i = 0; i < w.nr; i++)
			kind[i] = alike ? kind[0] : random_next(&rnd);
		world_wake_all(&w);
		for (turn = 0; turn < 2000; turn++) {
			i = world_pick(&w);
			world_ran(&w, i, random_run_ns(&rnd, w.rq.slice_ns, kind[i]));
			world_requeue(&w, i);
			most = max(most, world_fair_check(&fair, &w));
		}
		world_exit(&w);
	}
	printf("# %llu per mille of the bound were used\n", most);
}

/*
 * Entities that come and go, are held and have debts make no difference between two others that
 * are runnable all the time.
 */
static void test_fair_beside_sleepers(void **state)
{
	unsigned int load, turn, kind[16];
	static struct world_fair fair;
	static struct world w;
	u64 rnd = test_seed() + 1;
	int i;

	for (load = 0; load < 400; load++) {
		begin(&w, random_range(&rnd, 3, 12),
		      random_range(&rnd, VGPU_SLICE_MIN_NS, VGPU_SLICE_MAX_NS));
		watch(&fair, &w, 2);
		for (i = 0; i < w.nr; i++) {
			kind[i] = random_next(&rnd);
			if (i < 2)
				world_wake(&w, i);
		}
		for (turn = 0; turn < 3000; turn++) {
			i = world_pick(&w);
			world_ran(&w, i, random_run_ns(&rnd, w.rq.slice_ns, kind[i]));
			if (i < 2 || !random_one_in(&rnd, 3))
				world_requeue(&w, i);
			for (i = 2; i < w.nr; i++) {
				if (!random_one_in(&rnd, 8))
					continue;
				if (w.entity[i].queued)
					world_dequeue(&w, i);
				else
					world_wake(&w, i);
			}
			world_fair_check(&fair, &w);
		}
		world_exit(&w);
	}
}

/* By how much a run is longer than a slice, the @run-th of entity @i in the load of @salt. */
static u64 random_over_ns(u64 salt, unsigned int i, u64 run, u64 slice_ns)
{
	u64 rnd = salt + i * 1000003ULL + run * 7919ULL;

	return random_range(&rnd, 0, 9) ? random_range(&rnd, 0, 100 * US) :
				       random_range(&rnd, 0, 12) * slice_ns;
}

/*
 * Rounds, counted naively: each entity gets a slice of credit in each round, and each that has
 * credit left then runs for one slice.
 */
static void test_like_naive_rounds(void **state)
{
	u64 rnd = test_seed() + 2, round, seen, salt, slice_ns = 1 * MS;
	u64 runs[16], policy_runs[16];
	unsigned int load, picks;
	static struct world w;
	s64 credit[16];
	int i, k;

	for (load = 0; load < 300; load++) {
		begin(&w, random_range(&rnd, 1, 10), slice_ns);
		salt = random_next(&rnd);
		memset(runs, 0, sizeof(runs));
		memset(policy_runs, 0, sizeof(policy_runs));
		memset(credit, 0, sizeof(credit));
		world_wake_all(&w);
		i = world_pick(&w);
		round = drr_of(&w.entity[i])->round;
		seen = round;
		for (picks = 0; picks < 1000; picks++) {
			/* All rounds that have ended. */
			while (seen < round) {
				for (k = 0; k < w.nr; k++) {
					credit[k] += slice_ns;
					if (credit[k] <= 0)
						continue;
					credit[k] -= slice_ns + random_over_ns(salt, k, runs[k],
									       slice_ns);
					runs[k]++;
				}
				seen++;
				if (seen < round)
					continue;
				for (k = 0; k < w.nr; k++)
					check_that(runs[k] == policy_runs[k],
						   "%d ran %llu, not %llu, by round %llu", k,
						   policy_runs[k], runs[k], round);
			}
			world_ran(&w, i, slice_ns +
				  random_over_ns(salt, i, policy_runs[i], slice_ns));
			policy_runs[i]++;
			world_requeue(&w, i);
			i = world_pick(&w);
			round = drr_of(&w.entity[i])->round;
		}
		world_exit(&w);
	}
}

/* How many slices entity @hog runs for before @until, which is then on the engine, has its turn. */
static unsigned int runs_before(struct world *w, int hog, int until)
{
	unsigned int runs = 0;
	int i;

	while ((i = world_pick(w)) != until) {
		assert_int_equal(i, hog);
		world_ran(w, i, w->rq.slice_ns);
		world_requeue(w, i);
		runs++;
		assert_true(runs < 1000);
	}
	return runs;
}

/* Two entities are queued, and the first one has run for @ran_ns of its slice of 2 ms. */
static void begin_with_two(struct world *w, u64 ran_ns)
{
	begin(w, 2, 2 * MS);
	world_wake_all(w);
	assert_int_equal(world_pick(w), 0);
	world_ran(w, 0, ran_ns);
}

/*
 * An entity owes 3.5 slices: the other one has its turn of this round, three alone, and the first
 * turn of the round after, as an entity that comes back is the last of its round.
 */
static void test_debtor_skips(void **state)
{
	static struct world w;

	begin_with_two(&w, 9 * MS);
	world_requeue(&w, 0);
	assert_int_equal(runs_before(&w, 1, 0), 1 + 3 + 1);
	/* It still owes half a slice: it gets a full one, and then skips one turn. */
	world_ran(&w, 0, 2 * MS);
	world_requeue(&w, 0);
	assert_int_equal(runs_before(&w, 1, 0), 1);
	world_ran(&w, 0, 3 * MS);
	world_requeue(&w, 0);
	assert_int_equal(runs_before(&w, 1, 0), 2);
	world_exit(&w);
}

static void test_sleep_sheds_no_debt(void **state)
{
	static struct world w;
	unsigned int n;

	begin_with_two(&w, 9 * MS);
	for (n = 0; n < 1000; n++)
		assert_int_equal(world_turn(&w, 2 * MS), 1);
	world_wake(&w, 0);
	n = runs_before(&w, 1, 0);
	check_that(n >= 3 && n <= 5, "%u", n);
	world_ran(&w, 0, 2 * MS + 100 * MS);
	/* Coming and going is not faster than waiting. */
	for (n = 0; n < 45; n++) {
		world_wake(&w, 0);
		assert_int_equal(world_pick(&w), 1);
		world_dequeue(&w, 0);
		world_ran(&w, 1, 2 * MS);
		world_requeue(&w, 1);
	}
	check_that(drr_of(&w.entity[0])->deficit_ns <= -10 * (s64)MS, "%lld",
		   drr_of(&w.entity[0])->deficit_ns);
	world_exit(&w);
}

/*
 * An entity that overruns by more than a slice each time skips every other turn. A guest that
 * resets its device while its entity waits has it taken off the queue and put back, and gets no
 * more by that.
 */
static void test_reset_sheds_no_debt(void **state)
{
	static struct world w;
	unsigned int n;
	int i;

	begin(&w, 2, 2 * MS);
	world_wake_all(&w);
	for (n = 0; n < 1000; n++) {
		i = world_pick(&w);
		if (i && w.entity[0].queued) {
			world_dequeue(&w, 0);
			world_requeue(&w, 0);
		}
		world_ran(&w, i, i ? 2 * MS : 4 * MS + 200 * US);
		world_requeue(&w, i);
	}
	check_that(w.service_ns[0] < w.service_ns[1] + 20 * MS, "%llu beside %llu",
		   w.service_ns[0], w.service_ns[1]);
	world_exit(&w);
}

static void test_sleep_banks_no_credit(void **state)
{
	static struct world w;
	unsigned int n, runs[2] = {};

	begin(&w, 2, 2 * MS);
	world_wake(&w, 0);
	assert_int_equal(world_pick(&w), 0);
	world_ran(&w, 0, 100 * US);
	world_wake(&w, 1);
	for (n = 0; n < 1000; n++)
		assert_int_equal(world_turn(&w, 2 * MS), 1);
	world_wake(&w, 0);
	for (n = 0; n < 20; n++) {
		runs[world_turn(&w, 2 * MS)]++;
		check_that(runs[0] <= runs[1] + 1, "%u, %u", runs[0], runs[1]);
	}
	world_exit(&w);
}

/* An entity that sleeps and has short work waits for no more than the turns of the others. */
static void test_nobody_starves(void **state)
{
	u64 rnd = test_seed() + 3, wait_ns, bound_ns, wake_ns[40];
	unsigned int load, turn;
	static struct world w;
	int i, k;

	for (load = 0; load < 200; load++) {
		begin(&w, random_range(&rnd, 2, 40), 1 * MS);
		for (i = 0; i < w.nr; i++)
			wake_ns[i] = w.now_ns + random_range(&rnd, 0, 20 * MS);
		/* Two rounds, in which entities that sleep may come once more. */
		bound_ns = 3 * w.nr * (w.rq.slice_ns + 50 * US);
		for (turn = 0; turn < 4000; turn++) {
			for (k = 0; k < w.nr; k++)
				if (!w.entity[k].queued && wake_ns[k] <= w.now_ns)
					world_wake(&w, k);
			i = world_pick(&w);
			if (i == NOBODY) {
				w.now_ns += 100 * US;
				continue;
			}
			wait_ns = w.now_ns - w.entity[i].ready_ns;
			check_that(wait_ns <= bound_ns, "%llu > %llu", wait_ns, bound_ns);
			if (i % 2) {
				world_ran(&w, i, w.rq.slice_ns + random_range(&rnd, 0, 50 * US));
				wake_ns[i] = w.now_ns;
			} else {
				world_ran(&w, i, random_range(&rnd, 20 * US, 200 * US));
				wake_ns[i] = w.now_ns + random_range(&rnd, 0, 10 * MS);
			}
		}
		world_exit(&w);
	}
}

/* An entity that is woken again and again and never does anything costs the others little. */
static void test_storm(void **state)
{
	unsigned int turn, storm = 0;
	static struct world w;
	int i;

	begin(&w, 3, 2 * MS);
	world_wake_all(&w);
	for (turn = 0; turn < 100000; turn++) {
		i = world_pick(&w);
		storm += !i;
		world_ran(&w, i, i ? w.rq.slice_ns : 0);
		world_requeue(&w, i);
	}
	check_that(storm <= 1 + (turn - storm) / 2 * (2 * MS / (20 * US) + 1), "%u of %u", storm,
		   turn);
	assert_true(w.service_ns[1] > 0 && w.service_ns[2] > 0);
	check_that(w.service_ns[1] - w.service_ns[2] + 4 * MS <= 8 * MS, "%llu, %llu",
		   w.service_ns[1], w.service_ns[2]);
	world_exit(&w);
}

/* This would never end if the rounds in which all skip their turns were gone through. */
static void test_endless_debts(void **state)
{
	unsigned int turn, n[3] = {};
	static struct world w;
	int i;

	test_limit_cpu(60);
	begin(&w, 3, VGPU_SLICE_MIN_NS);
	world_wake_all(&w);
	for (i = 0; i < 3; i++)
		assert_int_equal(world_turn(&w, 1ULL << 60), i);
	/* All owe the same: they are forgiven, and go on as if nothing had been. */
	for (turn = 0; turn < 300; turn++)
		n[world_full_turn(&w)]++;
	for (i = 0; i < 3; i++)
		check_that(n[i] >= 99 && n[i] <= 101, "%d: %u", i, n[i]);

	/* One owes more than anybody can pay, and is alone. */
	for (turn = 0; turn < 20; turn++)
		world_turn(&w, U64_MAX);
	world_dequeue(&w, 1);
	world_dequeue(&w, 2);
	for (turn = 0; turn < 1000; turn++)
		assert_int_equal(world_turn(&w, w.rq.slice_ns + 1), 0);
	world_exit(&w);
	test_limit_cpu(0);
}

static void test_slice_changes(void **state)
{
	static u64 from_ns[WORLD_ENTITIES];
	u64 rnd = test_seed() + 4, most_ns;
	unsigned int load, turn;
	static struct world w;

	for (load = 0; load < 200; load++) {
		begin(&w, random_range(&rnd, 1, 20), 1 * MS);
		world_wake_all(&w);
		for (turn = 0; turn < 3000; turn++) {
			if (random_one_in(&rnd, 10))
				w.rq.slice_ns =
					random_range(&rnd, VGPU_SLICE_MIN_NS, VGPU_SLICE_MAX_NS);
			world_turn(&w, random_run_ns(&rnd, w.rq.slice_ns, 4));
		}
		/* Once the slice is constant and debts are paid, no trace of changes is left. */
		w.rq.slice_ns = 5 * MS;
		for (turn = 0; turn < 300 * w.nr; turn++)
			world_full_turn(&w);
		memcpy(from_ns, w.service_ns, sizeof(from_ns));
		for (turn = 0; turn < 100 * w.nr; turn++)
			world_full_turn(&w);
		most_ns = world_spread_ns(&w, from_ns);
		check_that(most_ns <= 4 * 5 * MS, "%llu", most_ns);
		world_exit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fair_in_every_interval),
		cmocka_unit_test(test_fair_beside_sleepers),
		cmocka_unit_test(test_like_naive_rounds),
		cmocka_unit_test(test_debtor_skips),
		cmocka_unit_test(test_sleep_sheds_no_debt),
		cmocka_unit_test(test_reset_sheds_no_debt),
		cmocka_unit_test(test_sleep_banks_no_credit),
		cmocka_unit_test(test_nobody_starves),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_endless_debts),
		cmocka_unit_test(test_slice_changes),
	};

	return cmocka_run_group_tests_name("best_effort", tests, NULL, NULL);
}
