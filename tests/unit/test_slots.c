// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share and fixed_share: how even the slots are, and edge cases.
 */
#include <unistd.h>

#include "slots_world.h"

#include "core/placement.h"

/*
 * How far, over any interval of whole slots, the number of an entity's slots is
 * from its share, times the cycle. More is not in intervals that begin or end
 * within a slot.
 */
static s64 uneven(const int *table, u32 nr_slots, int who)
{
	s64 off = 0, low = 0, high = 0, nr = 0;
	u32 slot;

	for (slot = 0; slot < nr_slots; slot++)
		nr += table[slot] == who;
	for (slot = 0; slot < 2 * nr_slots; slot++) {
		off += (table[slot % nr_slots] == who) * nr_slots - nr;
		low = min(low, off);
		high = max(high, off);
	}
	return high - low;
}

/*
 * What the head of fixed_share.c says of how even the slots are, for all types
 * that a GPU has, in all places.
 */
static void spread(u32 nr_slots, u32 size, bool homogeneous, s64 *most)
{
	struct vgpu_placement p;
	u32 place[128][2];
	int table[128];
	unsigned int i, nr;
	s64 off;

	vgpu_placement_init(&p, nr_slots, homogeneous);
	nr = vgpu_placement_count(&p, size);
	assert_true(nr && nr <= ARRAY_SIZE(place));
	for (i = 0; i < nr; i++) {
		place[i][0] = vgpu_placement_id(&p, size, i);
		place[i][1] = size;
	}
	slots_seen(nr_slots, place, nr, table);
	for (i = 0; i < nr; i++) {
		off = uneven(table, nr_slots, i);
		*most = max(*most, off * 1000 / nr_slots);
		check_that(off <= 3 * nr_slots, "%u of %u at %u: %lld", size,
			   nr_slots, place[i][0], off);
		if (!(size & (size - 1)) && place[i][0] % size == 0)
			check_that(off < nr_slots, "%u of %u at %u: %lld", size,
				   nr_slots, place[i][0], off);
	}
}

static void test_spread(void **state)
{
	static const u32 usual[] = { 24, 40, 48, 80, 96 };
	s64 most = 0, most_usual = 0;
	u32 nr_slots, size;
	unsigned int i;

	for (nr_slots = 1; nr_slots <= 128; nr_slots++) {
		for (size = 1; size <= nr_slots; size++) {
			if (nr_slots % size)
				continue;
			spread(nr_slots, size, true, &most);
			spread(nr_slots, size, false, &most);
			for (i = 0; i < ARRAY_SIZE(usual); i++) {
				if (nr_slots != usual[i])
					continue;
				spread(nr_slots, size, true, &most_usual);
				spread(nr_slots, size, false, &most_usual);
			}
		}
	}
	printf("# at most %lld, for usual sizes %lld thousandths of a slot off\n",
	       most, most_usual);
	assert_true(most_usual <= 2250);
}

static void test_one_alone(void **state)
{
	static struct world w;
	unsigned int p, turn;
	u64 until_ns;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 1, 2 * MS);
		join_and_start(&w, 1);
		for (turn = 0; turn < 100; turn++) {
			enqueue(&w, 0);
			assert_int_equal(pick(&w, &until_ns), 0);
			assert_int_equal(w.deadline_ns, w.now_ns + 2 * MS);
			ran(&w, 0, 2 * MS);
		}
		/* Its debt is its own: it pays at once, all of it but a rest. */
		enqueue(&w, 0);
		assert_int_equal(pick(&w, &until_ns), 0);
		ran(&w, 0, 2 * MS + 2 * HOUR + 1 * MS);
		enqueue(&w, 0);
		assert_int_equal(pick(&w, &until_ns), 0);
		assert_int_equal(w.entity[0].slots.debt_ns, 1 * MS);
		ran(&w, 0, 2 * MS);
		world_exit(&w);
	}
}

/* A slot is its owner's: it comes and goes in it, and nobody else does. */
static void test_slot_is_kept(void **state)
{
	static struct world w;
	unsigned int p;
	u64 until_ns, begin_ns;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 2, 2 * MS);
		begin_ns = w.now_ns;
		join_and_start(&w, 2);
		assert_int_equal(pick(&w, &until_ns), NOBODY);
		enqueue(&w, 1);
		assert_int_equal(pick(&w, &until_ns), NOBODY);
		assert_int_equal(until_ns, begin_ns + 2 * MS);
		w.now_ns += 1 * MS;
		enqueue(&w, 0);
		assert_int_equal(pick(&w, &until_ns), 0);
		assert_int_equal(w.deadline_ns, begin_ns + 2 * MS);
		ran(&w, 0, 100 * US);
		assert_int_equal(pick(&w, &until_ns), NOBODY);
		assert_int_equal(until_ns, begin_ns + 2 * MS);
		/* One nanosecond before its end. */
		w.now_ns = begin_ns + 2 * MS - 1;
		enqueue(&w, 0);
		assert_int_equal(pick(&w, &until_ns), 0);
		assert_int_equal(w.deadline_ns, w.now_ns + 1);
		/* What switching costs then is its own debt. */
		ran(&w, 0, 50 * US);
		assert_int_equal(w.entity[0].slots.debt_ns, 50 * US - 1);
		enqueue(&w, 0);
		assert_int_equal(pick(&w, &until_ns), 1);
		assert_int_equal(w.deadline_ns, w.now_ns + 2 * MS);
		ran(&w, 1, 2 * MS);
		world_exit(&w);
	}
}

/* Nobody's slots move before the cycle is over. */
static void test_start_and_stop_at_the_end(void **state)
{
	static struct world w;
	u64 until_ns, begin_ns;

	world_init(&w, &vgpu_policy_equal_share, 4, 1 * MS);
	begin_ns = w.now_ns;
	join_and_start(&w, 3);
	enqueue(&w, 0);
	enqueue(&w, 2);
	assert_int_equal(pick(&w, &until_ns), 0);
	start(&w, join(&w, 3, 1));
	enqueue(&w, 3);
	stop(&w, 1);
	ran(&w, 0, 1 * MS);
	enqueue(&w, 0);
	assert_int_equal(pick(&w, &until_ns), NOBODY);
	assert_int_equal(until_ns, begin_ns + 2 * MS);
	w.now_ns = until_ns;
	assert_int_equal(pick(&w, &until_ns), 2);
	ran(&w, 2, 1 * MS);
	/* 0, 2, 3 from now on. */
	assert_int_equal(pick(&w, &until_ns), 0);
	assert_int_equal(w.now_ns, begin_ns + 3 * MS);
	ran(&w, 0, 1 * MS);
	assert_int_equal(pick(&w, &until_ns), NOBODY);
	assert_int_equal(until_ns, begin_ns + 5 * MS);
	/* What stops and starts in one cycle has its place still. */
	stop(&w, 0);
	start(&w, 0);
	w.now_ns = until_ns;
	assert_int_equal(pick(&w, &until_ns), 3);
	ran(&w, 3, 1 * MS);
	enqueue(&w, 0);
	assert_int_equal(pick(&w, &until_ns), 0);
	assert_int_equal(w.now_ns, begin_ns + 6 * MS);
	ran(&w, 0, 1 * MS);
	/* With nobody left there is no grid, and the next start begins one. */
	stop(&w, 0);
	stop(&w, 2);
	stop(&w, 3);
	w.now_ns += 100 * US;
	start(&w, 2);
	enqueue(&w, 2);
	assert_int_equal(pick(&w, &until_ns), 2);
	assert_int_equal(w.deadline_ns, w.now_ns + 1 * MS);
	ran(&w, 2, 1 * MS);
	enqueue(&w, 2);
	assert_int_equal(pick(&w, &until_ns), 2);
	ran(&w, 2, 1 * MS);
	world_exit(&w);
}

/* Nor does a slot get longer or shorter before that. */
static void test_slice_changes_at_the_end(void **state)
{
	static struct world w;
	u64 until_ns, begin_ns;
	unsigned int p, i;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 4, 1 * MS);
		begin_ns = w.now_ns;
		join_and_start(&w, 4);
		for (i = 0; i < 4; i++)
			enqueue(&w, i);
		for (i = 0; i < 4; i++) {
			u64 at_ns = w.now_ns;
			int who = pick(&w, &until_ns);

			if (i == 1)
				w.rq.slice_ns = 30 * MS;
			assert_int_equal(w.deadline_ns, at_ns + 1 * MS);
			ran(&w, who, 1 * MS);
			enqueue(&w, who);
		}
		assert_int_equal(pick(&w, &until_ns), 0);
		assert_int_equal(w.deadline_ns, begin_ns + 4 * MS + 30 * MS);
		/* Owes a slot only if slots are shorter again. */
		ran(&w, 0, 30 * MS + 15 * MS);
		w.rq.slice_ns = 1 * MS;
		for (i = 0; i < 3; i++) {
			int who = pick(&w, &until_ns);

			assert_int_not_equal(who, 0);
			assert_int_equal(w.deadline_ns, w.now_ns + 30 * MS);
			ran(&w, who, 30 * MS);
			enqueue(&w, who);
		}
		assert_int_not_equal(pick(&w, &until_ns), 0);
		assert_int_equal(w.deadline_ns, w.now_ns + 1 * MS);
		assert_int_equal(w.entity[0].slots.debt_ns, 14 * MS);
		ran(&w, w.rq.running - w.entity, 1 * MS);
		world_exit(&w);
	}
}

/* Long idle: the grid goes on, nobody walks it, and nobody has saved anything. */
static void test_long_idle(void **state)
{
	static const u64 idle_ns[] = {
		HOUR, 24 * HOUR, 24 * 365 * 100 * HOUR
	};
	static struct world w;
	unsigned int p, k, i, turn, ran_by[4];
	u64 until_ns, begin_ns;

	for (p = 0; p < 2; p++) {
		for (k = 0; k < ARRAY_SIZE(idle_ns); k++) {
			world_init(&w, policies[p], 4, 1 * MS);
			join_and_start(&w, 4);
			begin_ns = w.now_ns;
			w.now_ns += idle_ns[k] + 1234567;
			for (i = 0; i < 4; i++)
				enqueue(&w, i);
			memset(ran_by, 0, sizeof(ran_by));
			for (turn = 0; turn < 41; turn++) {
				int who = pick(&w, &until_ns);

				assert_true(who >= 0);
				assert_int_equal((w.deadline_ns - begin_ns) %
						 MS, 0);
				ran(&w, who, w.deadline_ns - w.now_ns);
				enqueue(&w, who);
				ran_by[who]++;
			}
			for (i = 0; i < 4; i++)
				check_that(ran_by[i] >= 10 && ran_by[i] <= 11,
					   "%u ran %u", i, ran_by[i]);
			/* The same while all are queued and nobody asks. */
			w.now_ns += idle_ns[k] % (1000 * 24 * HOUR);
			for (turn = 0; turn < 4; turn++) {
				int who = pick(&w, &until_ns);

				ran(&w, who, w.deadline_ns - w.now_ns);
				enqueue(&w, who);
			}
			world_exit(&w);
		}
	}
}

/* All owe hours: they pass at once, and leave those in front who owe least. */
static void test_long_debts(void **state)
{
	static struct world w;
	unsigned int p, i, turn;
	u64 until_ns, least_ns;
	int who;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 1024, 1 * MS);
		join_and_start(&w, 1024);
		for (i = 0; i < 1024; i++)
			enqueue(&w, i);
		for (i = 0; i < 1024; i++) {
			who = pick(&w, &until_ns);
			ran(&w, who, 1 * MS + HOUR + who * 10 * MS);
			enqueue(&w, who);
		}
		for (turn = 0; turn < 50; turn++) {
			who = pick(&w, &until_ns);
			if (who == NOBODY) {
				w.now_ns = until_ns;
				continue;
			}
			least_ns = U64_MAX;
			for (i = 0; i < 1024; i++)
				least_ns = min(least_ns,
					       w.entity[i].slots.debt_ns);
			assert_true(w.entity[who].slots.debt_ns < 1 * MS);
			assert_true(least_ns < 1 * MS);
			ran(&w, who, 1 * MS);
			enqueue(&w, who);
		}
		/* With nobody there all is paid in time. */
		for (i = 0; i < 1024; i++)
			if (w.entity[i].queued)
				dequeue(&w, i);
		w.now_ns += 10 * HOUR;
		enqueue(&w, 0);
		pick(&w, &until_ns);
		for (i = 0; i < 1024; i++)
			assert_true(w.entity[i].slots.debt_ns < 1 * MS);
		if (w.rq.running)
			ran(&w, 0, 0);
		world_exit(&w);
	}
}

/* Each has as many runs as slots, of a whole slice, from the first boundary on. */
static void check_slots_go_on(struct world *w, unsigned int nr)
{
	unsigned int runs[4] = {}, turn, i;
	u64 until_ns;
	int who;

	assert_true(nr <= ARRAY_SIZE(runs));
	for (turn = 0; turn < 40 * nr; turn++) {
		who = pick(w, &until_ns);
		if (who == NOBODY) {
			assert_true(until_ns - w->now_ns <= w->rq.slice_ns);
			w->now_ns = until_ns;
			who = pick(w, &until_ns);
		}
		assert_true(who != NOBODY);
		runs[who]++;
		ran(w, who, w->deadline_ns - w->now_ns);
		enqueue(w, who);
	}
	for (i = 0; i < nr; i++)
		check_that(runs[i] >= 39 && runs[i] <= 41, "%u: %u of %u", i,
			   runs[i], turn);
}

/*
 * A day, and a part of a slice, passes at once: between runs it is nobody's, and
 * of a run it is a debt of its own, paid by slots that pass.
 */
static void test_clock_jumps(void **state)
{
	static struct world w;
	unsigned int p, i, jump;
	u64 until_ns;
	int who;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 4, 2 * MS);
		join_and_start(&w, 4);
		for (i = 0; i < 4; i++)
			enqueue(&w, i);
		for (jump = 0; jump < 20; jump++) {
			check_slots_go_on(&w, 4);
			w.now_ns += 24 * HOUR + jump * 333 * US;
		}
		do {
			who = pick(&w, &until_ns);
			if (who == NOBODY)
				w.now_ns = until_ns;
		} while (who == NOBODY);
		ran(&w, who, 24 * HOUR);
		enqueue(&w, who);
		/* Its slots stay empty; the others have theirs. */
		for (i = 0; i < 300; i++) {
			int other = pick(&w, &until_ns);

			assert_int_not_equal(other, who);
			if (other == NOBODY) {
				assert_true(until_ns - w.now_ns <= 2 * 2 * MS);
				w.now_ns = until_ns;
				continue;
			}
			ran(&w, other, w.deadline_ns - w.now_ns);
			enqueue(&w, other);
		}
		/* After the three times a day that others have of it, it is paid. */
		w.now_ns += 4 * 24 * HOUR;
		check_slots_go_on(&w, 4);
		world_exit(&w);
	}
}

/* 9 of the 10 ms an engine has to stop, each time, each of them. */
static void test_all_overrun(void **state)
{
	static const unsigned int nrs[] = { 1, 4, 32, 1024 };
	static struct world w;
	unsigned int p, k, i, turn, nr;
	u64 until_ns, low_ns, high_ns;
	int who;

	for (p = 0; p < 2; p++) {
		for (k = 0; k < ARRAY_SIZE(nrs); k++) {
			nr = nrs[k];
			world_init(&w, policies[p], nr, 2 * MS);
			join_and_start(&w, nr);
			for (i = 0; i < nr; i++)
				enqueue(&w, i);
			for (turn = 0; turn < 20 * nr; turn++) {
				who = pick(&w, &until_ns);
				assert_true(who >= 0);
				ran(&w, who, 2 * MS + 9 * MS);
				enqueue(&w, who);
			}
			low_ns = U64_MAX;
			high_ns = 0;
			for (i = 0; i < nr; i++) {
				low_ns = min(low_ns, w.service_ns[i]);
				high_ns = max(high_ns, w.service_ns[i]);
				assert_true(w.entity[i].slots.debt_ns <
					    2 * MS + 9 * MS);
			}
			check_that(high_ns - low_ns <= 2 * (2 + 9) * MS,
				   "%llu .. %llu", low_ns, high_ns);
			world_exit(&w);
		}
	}
}

/* Closing and opening again sheds no debt, and does not gain anything else. */
static void test_reopen_sheds_no_debt(void **state)
{
	static struct world w;
	unsigned int p, turn;
	u64 until_ns, end_ns;
	int who;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 4, 1 * MS);
		join_and_start(&w, 4);
		for (who = 0; who < 4; who++)
			enqueue(&w, who);
		end_ns = w.now_ns + 10 * SEC;
		for (turn = 0; w.now_ns < end_ns; turn++) {
			who = pick(&w, &until_ns);
			if (who == NOBODY) {
				w.now_ns = until_ns;
				continue;
			}
			ran(&w, who, 1 * MS + (who ? 0 : 9 * MS));
			if (!who && turn % 3) {
				stop(&w, 0);
				if (turn % 2)
					w.now_ns += 50 * US;
				start(&w, 0);
			}
			enqueue(&w, who);
		}
		check_that(w.service_ns[0] <= 10 * SEC / 4 + 10 * MS,
			   "%llu", w.service_ns[0]);
		for (who = 1; who < 4; who++)
			check_that(w.service_ns[who] >= 10 * SEC / 5, "%llu",
				   w.service_ns[who]);
		world_exit(&w);
	}
}

/* Put on by another policy: what it does until it is off is not this one's. */
static void test_policy_switched(void **state)
{
	static struct world w;
	unsigned int p, i;
	u64 until_ns;

	for (p = 0; p < 2; p++) {
		world_init(&w, policies[p], 4, 2 * MS);
		join_and_start(&w, 4);
		w.rq.running = &w.entity[2];
		for (i = 0; i < 4; i++)
			if (i != 2)
				enqueue(&w, i);
		ran(&w, 2, 12345678);
		assert_int_equal(w.entity[2].slots.debt_ns, 0);
		enqueue(&w, 2);
		assert_int_equal(pick(&w, &until_ns), 0);
		assert_int_equal(w.deadline_ns, w.now_ns + 2 * MS);
		ran(&w, 0, 2 * MS);
		assert_true(pick(&w, &until_ns) > 0);
		ran(&w, w.rq.running - w.entity, 2 * MS);
		world_exit(&w);
	}
}

/* Shares that make no sense, and such that change. */
static void test_shares(void **state)
{
	static const u32 bad[][2] = {
		{ 0, 0 }, { 4, 1 }, { 100, 100 }, { ~0U, ~0U }, { 5, 0 },
	};
	static struct world w;
	struct vgpu_share share = { .first_slot = 2, .nr_slots = 2 };
	u64 until_ns, begin_ns;
	unsigned int i, turn, runs = 0;
	int who;

	world_init(&w, &vgpu_policy_fixed_share, 4, 1 * MS);
	begin_ns = w.now_ns;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		enqueue(&w, join(&w, bad[i][0], bad[i][1]));
	assert_int_equal(pick(&w, &until_ns), NOBODY);
	assert_int_equal(until_ns, 0);
	/* Cut off at the end. */
	enqueue(&w, join(&w, 2, ~0U));
	for (turn = 0; turn < 40; turn++) {
		who = pick(&w, &until_ns);
		if (who == NOBODY) {
			assert_true(until_ns);
			w.now_ns = until_ns;
			continue;
		}
		ran(&w, who, 1 * MS);
		enqueue(&w, who);
		runs++;
	}
	check_that(runs * 2 * MS == w.now_ns - begin_ns, "%u", runs);

	/* Another takes that place, with what it owes. */
	dequeue(&w, 0);
	dequeue(&w, 5);
	w.entity[0].slots.debt_ns = 3 * MS + 1;
	w.rq.policy->reshare(&w.rq, &w.entity[0], &share, w.now_ns);
	w.entity[0].share = share;
	enqueue(&w, 0);
	do {
		who = pick(&w, &until_ns);
		if (who == NOBODY) {
			assert_true(until_ns);
			w.now_ns = until_ns;
		}
	} while (who == NOBODY);
	assert_int_equal(who, 0);
	assert_int_equal(w.entity[0].slots.debt_ns, 1);
	ran(&w, 0, 1 * MS);
	world_exit(&w);
}

/* Which should not be: nobody hangs, and nobody is left out for ever. */
static void test_overlapping_shares(void **state)
{
	static struct world w;
	unsigned int load, turn, i;
	u64 rnd = test_seed() + 6, until_ns;
	int who;

	for (load = 0; load < 100; load++) {
		world_init(&w, &vgpu_policy_fixed_share, 16, 1 * MS);
		for (i = 0; i < 6; i++)
			enqueue(&w, join(&w, rnd_range(&rnd, 0, 12), 4));
		for (turn = 0; turn < 600; turn++) {
			who = pick(&w, &until_ns);
			if (who == NOBODY) {
				assert_true(until_ns);
				w.now_ns = until_ns;
				continue;
			}
			ran(&w, who, 1 * MS + (rnd_one_in(&rnd, 2) ? 0 :
					       rnd_range(&rnd, 0, 9 * MS)));
			enqueue(&w, who);
		}
		assert_true(w.now_ns > 100 * MS);
		world_exit(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_one_alone),
		cmocka_unit_test(test_slot_is_kept),
		cmocka_unit_test(test_start_and_stop_at_the_end),
		cmocka_unit_test(test_slice_changes_at_the_end),
		cmocka_unit_test(test_long_idle),
		cmocka_unit_test(test_long_debts),
		cmocka_unit_test(test_clock_jumps),
		cmocka_unit_test(test_all_overrun),
		cmocka_unit_test(test_reopen_sheds_no_debt),
		cmocka_unit_test(test_policy_switched),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_overlapping_shares),
	};

	/* What walks over slots one by one does not come to an end here. */
	alarm(300);
	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
