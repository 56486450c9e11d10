// SPDX-License-Identifier: GPL-2.0
/* equal_share and fixed_share alone (slots_world.h): how even the slots are, and edge cases. */

#include "slots_world.h"

#include "core/objects/placement.h"

/*
 * How far the number of entity @who's slots in an interval is from its share of that interval, at
 * most, times the length of the cycle. Intervals of whole slots are looked at only, as those that
 * begin or end within a slot are not further off.
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
 * What the head of fixed_share.c says of how even the slots are, for all places that a vGPU of
 * @size has on a GPU of @nr_slots. *@most is raised to how uneven they are, in thousandths.
 */
static void spread(u32 nr_slots, u32 size, bool homogeneous, s64 *most)
{
	struct vgpu_placement p;
	unsigned int i, nr;
	struct vgpu_share place[128];
	int table[128];
	s64 off;

	vgpu_placement_init(&p, nr_slots, homogeneous);
	nr = vgpu_placement_count(&p, size);
	assert_true(nr && nr <= ARRAY_SIZE(place));
	for (i = 0; i < nr; i++) {
		place[i].first_slot = vgpu_placement_id(&p, size, i);
		place[i].nr_slots = size;
	}
	slots_seen(nr_slots, place, nr, table);
	for (i = 0; i < nr; i++) {
		off = uneven(table, nr_slots, i);
		*most = max(*most, off * 1000 / nr_slots);
		check_that(off <= 3 * nr_slots, "%u of %u at %u: %lld", size, nr_slots,
			   place[i].first_slot, off);
		if (!(size & (size - 1)) && place[i].first_slot % size == 0)
			check_that(off < nr_slots, "%u of %u at %u: %lld", size, nr_slots,
				   place[i].first_slot, off);
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
	printf("# at most %lld, for usual sizes %lld thousandths of a slot off\n", most,
	       most_usual);
	assert_true(most_usual <= 2250);
}

/* A world of @nr entities that have one slot of the cycle each, and are all queued. */
static void begin_busy(struct world *w, const struct vgpu_sched_policy *policy, u32 nr,
		       u64 slice_ns)
{
	slots_begin(w, policy, nr, slice_ns);
	world_open(w, nr);
	world_wake_all(w);
}

static void test_one_alone(void **state)
{
	const struct vgpu_sched_policy *policy;
	unsigned int p, turn;
	static struct world w;

	for_each_slots_policy(policy, p) {
		slots_begin(&w, policy, 1, 2 * MS);
		world_open(&w, 1);
		for (turn = 0; turn < 100; turn++) {
			world_wake(&w, 0);
			assert_int_equal(world_pick(&w), 0);
			assert_int_equal(w.deadline_ns, w.now_ns + 2 * MS);
			world_ran(&w, 0, 2 * MS);
		}
		/* An entity that is alone pays its debt at once, all but a part of a slot. */
		world_wake(&w, 0);
		assert_int_equal(world_pick(&w), 0);
		world_ran(&w, 0, 2 * MS + 2 * HOUR + 1 * MS);
		world_wake(&w, 0);
		assert_int_equal(world_pick(&w), 0);
		assert_int_equal(vgpu_slots_of(&w.entity[0])->debt_ns, 1 * MS);
		world_exit(&w);
	}
}

/* A slot is its owner's: the owner comes and goes in it, and nobody else runs in it. */
static void test_slot_is_kept(void **state)
{
	const struct vgpu_sched_policy *policy;
	static struct world w;
	unsigned int p;
	u64 begin_ns;

	for_each_slots_policy(policy, p) {
		slots_begin(&w, policy, 2, 2 * MS);
		begin_ns = w.now_ns;
		world_open(&w, 2);
		assert_int_equal(world_pick(&w), NOBODY);
		world_wake(&w, 1);
		assert_int_equal(world_pick(&w), NOBODY);
		assert_int_equal(w.until_ns, begin_ns + 2 * MS);
		w.now_ns += 1 * MS;
		world_wake(&w, 0);
		assert_int_equal(world_pick(&w), 0);
		assert_int_equal(w.deadline_ns, begin_ns + 2 * MS);
		world_ran(&w, 0, 100 * US);
		assert_int_equal(world_pick(&w), NOBODY);
		assert_int_equal(w.until_ns, begin_ns + 2 * MS);
		/* One nanosecond before its end. */
		w.now_ns = begin_ns + 2 * MS - 1;
		world_wake(&w, 0);
		assert_int_equal(world_pick(&w), 0);
		assert_int_equal(w.deadline_ns, w.now_ns + 1);
		/* What switching costs then is a debt of its owner. */
		world_ran(&w, 0, 50 * US);
		assert_int_equal(vgpu_slots_of(&w.entity[0])->debt_ns, 50 * US - 1);
		world_wake(&w, 0);
		assert_int_equal(world_pick(&w), 1);
		assert_int_equal(w.deadline_ns, w.now_ns + 2 * MS);
		world_ran(&w, 1, 2 * MS);
		world_exit(&w);
	}
}

/* Slots do not move before the cycle is over, whoever starts or stops. */
static void test_start_and_stop_at_the_end(void **state)
{
	static struct world w;
	u64 begin_ns;

	slots_begin(&w, &vgpu_policy_equal_share, 4, 1 * MS);
	begin_ns = w.now_ns;
	world_open(&w, 3);
	world_wake(&w, 0);
	world_wake(&w, 2);
	assert_int_equal(world_pick(&w), 0);
	world_open(&w, 1);
	world_wake(&w, 3);
	world_stop(&w, 1);
	world_ran(&w, 0, 1 * MS);
	world_requeue(&w, 0);
	assert_int_equal(world_pick(&w), NOBODY);
	assert_int_equal(w.until_ns, begin_ns + 2 * MS);
	w.now_ns = w.until_ns;
	assert_int_equal(world_pick(&w), 2);
	world_ran(&w, 2, 1 * MS);
	/* 0, 2, 3 from now on. */
	assert_int_equal(world_pick(&w), 0);
	assert_int_equal(w.now_ns, begin_ns + 3 * MS);
	world_ran(&w, 0, 1 * MS);
	assert_int_equal(world_pick(&w), NOBODY);
	assert_int_equal(w.until_ns, begin_ns + 5 * MS);
	/* An entity that stops and starts in one cycle keeps its place. */
	world_stop(&w, 0);
	world_start(&w, 0);
	w.now_ns = w.until_ns;
	assert_int_equal(world_pick(&w), 3);
	world_ran(&w, 3, 1 * MS);
	world_wake(&w, 0);
	assert_int_equal(world_pick(&w), 0);
	assert_int_equal(w.now_ns, begin_ns + 6 * MS);
	world_ran(&w, 0, 1 * MS);
	/* With nobody left there is no grid, and the next start begins one. */
	world_stop(&w, 0);
	world_stop(&w, 2);
	world_stop(&w, 3);
	w.now_ns += 100 * US;
	world_start(&w, 2);
	world_wake(&w, 2);
	assert_int_equal(world_pick(&w), 2);
	assert_int_equal(w.deadline_ns, w.now_ns + 1 * MS);
	world_ran(&w, 2, 1 * MS);
	world_requeue(&w, 2);
	assert_int_equal(world_pick(&w), 2);
	world_ran(&w, 2, 1 * MS);
	world_exit(&w);
}

/* Nor does a slot get longer or shorter before that. */
static void test_slice_changes_at_the_end(void **state)
{
	const struct vgpu_sched_policy *policy;
	static struct world w;
	u64 begin_ns, at_ns;
	unsigned int p, i;
	int who;

	for_each_slots_policy(policy, p) {
		begin_busy(&w, policy, 4, 1 * MS);
		begin_ns = w.now_ns;
		for (i = 0; i < 4; i++) {
			at_ns = w.now_ns;
			who = world_pick(&w);
			if (i == 1)
				w.rq.slice_ns = 30 * MS;
			assert_int_equal(w.deadline_ns, at_ns + 1 * MS);
			world_ran(&w, who, 1 * MS);
			world_requeue(&w, who);
		}
		assert_int_equal(world_pick(&w), 0);
		assert_int_equal(w.deadline_ns, begin_ns + 4 * MS + 30 * MS);
		/* It owes a slot only if slots are shorter again. */
		world_ran(&w, 0, 30 * MS + 15 * MS);
		w.rq.slice_ns = 1 * MS;
		for (i = 0; i < 3; i++) {
			who = world_pick(&w);
			assert_int_not_equal(who, 0);
			assert_int_equal(w.deadline_ns, w.now_ns + 30 * MS);
			world_ran(&w, who, 30 * MS);
			world_requeue(&w, who);
		}
		assert_int_not_equal(world_pick(&w), 0);
		assert_int_equal(w.deadline_ns, w.now_ns + 1 * MS);
		assert_int_equal(vgpu_slots_of(&w.entity[0])->debt_ns, 14 * MS);
		world_exit(&w);
	}
}

/*
 * After a long time in which all are idle the grid goes on as it was, though nobody has walked it
 * slot by slot, and no entity has saved anything.
 */
static void test_long_idle(void **state)
{
	static const u64 idle_ns[] = { HOUR, DAY, 365 * 100 * DAY };
	const struct vgpu_sched_policy *policy;
	unsigned int p, k, i, turn, ran_by[4];
	static struct world w;
	u64 begin_ns, now_ns;

	for_each_slots_policy(policy, p) {
		for (k = 0; k < ARRAY_SIZE(idle_ns); k++) {
			slots_begin(&w, policy, 4, 1 * MS);
			world_open(&w, 4);
			begin_ns = w.now_ns;
			w.now_ns += idle_ns[k] + 1234567;
			world_wake_all(&w);
			memset(ran_by, 0, sizeof(ran_by));
			for (turn = 0; turn < 41; turn++) {
				now_ns = w.now_ns;
				i = world_full_turn(&w);
				ran_by[i]++;
				/* It had not to wait, and its slot is on the old grid. */
				assert_true(w.now_ns - now_ns <= 1 * MS);
				assert_int_equal((w.now_ns - begin_ns) % MS, 0);
			}
			for (i = 0; i < 4; i++)
				check_that(ran_by[i] >= 10 && ran_by[i] <= 11, "%u ran %u", i,
					   ran_by[i]);
			/* Nor is the grid walked if all are queued and the policy is not asked. */
			w.now_ns += idle_ns[k] % (1000 * DAY);
			for (turn = 0; turn < 4; turn++) {
				now_ns = w.now_ns;
				world_full_turn(&w);
				assert_true(w.now_ns - now_ns <= 1 * MS);
			}
			world_exit(&w);
		}
	}
}

/* All owe hours: these pass at once, and leave those in front that owe least. */
static void test_long_debts(void **state)
{
	const struct vgpu_sched_policy *policy;
	static struct world w;
	unsigned int p, i, turn;
	u64 least_ns;
	int who;

	for_each_slots_policy(policy, p) {
		begin_busy(&w, policy, 1024, 1 * MS);
		for (i = 0; i < 1024; i++) {
			who = world_pick(&w);
			world_ran(&w, who, 1 * MS + HOUR + who * 10 * MS);
			world_requeue(&w, who);
		}
		for (turn = 0; turn < 50; turn++) {
			who = world_next(&w);
			least_ns = U64_MAX;
			for (i = 0; i < 1024; i++)
				least_ns = min(least_ns, vgpu_slots_of(&w.entity[i])->debt_ns);
			assert_true(vgpu_slots_of(&w.entity[who])->debt_ns < 1 * MS);
			assert_true(least_ns < 1 * MS);
			world_ran(&w, who, 1 * MS);
			world_requeue(&w, who);
		}
		/* With nobody queued all is paid in time. */
		for (i = 0; i < 1024; i++)
			if (w.entity[i].queued)
				world_dequeue(&w, i);
		w.now_ns += 10 * HOUR;
		world_wake(&w, 0);
		world_pick(&w);
		for (i = 0; i < 1024; i++)
			assert_true(vgpu_slots_of(&w.entity[i])->debt_ns < 1 * MS);
		world_exit(&w);
	}
}

/*
 * Each of the four has as many runs as slots, of a whole slice each from the first boundary on, at
 * which there is one to run.
 */
static void check_slots_go_on(struct world *w)
{
	unsigned int runs[4] = {}, turn, i;
	u64 now_ns;
	int who;

	for (turn = 0; turn < 160; turn++) {
		now_ns = w->now_ns;
		who = world_next(w);
		assert_true(w->now_ns - now_ns <= w->rq.slice_ns);
		runs[who]++;
		world_ran(w, who, w->deadline_ns - w->now_ns);
		world_requeue(w, who);
	}
	for (i = 0; i < 4; i++)
		check_that(runs[i] >= 39 && runs[i] <= 41, "%u: %u of %u", i, runs[i], turn);
}

/*
 * A day, and a part of a slice, passes at once: between runs that is charged to nobody, and of a
 * run it is a debt of its entity, paid by slots that pass.
 */
static void test_clock_jumps(void **state)
{
	const struct vgpu_sched_policy *policy;
	unsigned int p, i, jump;
	static struct world w;
	int who, other;
	u64 now_ns;

	for_each_slots_policy(policy, p) {
		begin_busy(&w, policy, 4, 2 * MS);
		for (jump = 0; jump < 20; jump++) {
			check_slots_go_on(&w);
			w.now_ns += DAY + jump * 333 * US;
		}
		who = world_turn(&w, DAY);
		/* Its slots stay empty; the others have theirs. */
		for (i = 0; i < 300; i++) {
			now_ns = w.now_ns;
			other = world_next(&w);
			assert_int_not_equal(other, who);
			assert_true(w.now_ns - now_ns <= 2 * 2 * MS);
			world_ran(&w, other, w.deadline_ns - w.now_ns);
			world_requeue(&w, other);
		}
		/* While the entity skips slots for its debt of a day the others have three. */
		w.now_ns += 4 * DAY;
		check_slots_go_on(&w);
		world_exit(&w);
	}
}

/* Each run of each entity takes 9 of the 10 ms more that an engine has to stop. */
static void test_all_overrun(void **state)
{
	static const unsigned int nrs[] = { 1, 4, 32, 1024 };
	const struct vgpu_sched_policy *policy;
	unsigned int p, k, i, turn, nr;
	static struct world w;
	u64 apart_ns;
	int who;

	for_each_slots_policy(policy, p) {
		for (k = 0; k < ARRAY_SIZE(nrs); k++) {
			nr = nrs[k];
			begin_busy(&w, policy, nr, 2 * MS);
			for (turn = 0; turn < 20 * nr; turn++) {
				who = world_pick(&w);
				assert_true(who != NOBODY);
				world_ran(&w, who, 2 * MS + 9 * MS);
				world_requeue(&w, who);
			}
			for (i = 0; i < nr; i++)
				assert_true(vgpu_slots_of(&w.entity[i])->debt_ns < 2 * MS + 9 * MS);
			apart_ns = world_spread_ns(&w, NULL);
			check_that(apart_ns <= 2 * (2 + 9) * MS, "%llu", apart_ns);
			world_exit(&w);
		}
	}
}

/* Closing and opening again sheds no debt, and does not gain anything else. */
static void test_reopen_sheds_no_debt(void **state)
{
	const struct vgpu_sched_policy *policy;
	static struct world w;
	unsigned int p, turn;
	u64 end_ns;
	int who;

	for_each_slots_policy(policy, p) {
		begin_busy(&w, policy, 4, 1 * MS);
		end_ns = w.now_ns + 10 * SEC;
		for (turn = 0; w.now_ns < end_ns; turn++) {
			who = world_pick(&w);
			if (who == NOBODY) {
				w.now_ns = w.until_ns;
				continue;
			}
			world_ran(&w, who, 1 * MS + (who ? 0 : 9 * MS));
			if (!who && turn % 3) {
				world_stop(&w, 0);
				if (turn % 2)
					w.now_ns += 50 * US;
				world_start(&w, 0);
			}
			world_requeue(&w, who);
		}
		check_that(w.service_ns[0] <= 10 * SEC / 4 + 10 * MS, "%llu", w.service_ns[0]);
		for (who = 1; who < 4; who++)
			check_that(w.service_ns[who] >= 10 * SEC / 5, "%llu", w.service_ns[who]);
		world_exit(&w);
	}
}

/* A run that began under another policy leaves no debt, and the grid begins when it is over. */
static void test_policy_switched(void **state)
{
	const struct vgpu_sched_policy *policy;
	static struct world w;
	unsigned int p, i;

	for_each_slots_policy(policy, p) {
		slots_begin(&w, policy, 4, 2 * MS);
		world_open(&w, 4);
		w.rq.running = &w.entity[2];
		for (i = 0; i < 4; i++)
			if (i != 2)
				world_wake(&w, i);
		world_ran(&w, 2, 12345678);
		assert_int_equal(vgpu_slots_of(&w.entity[2])->debt_ns, 0);
		world_requeue(&w, 2);
		assert_int_equal(world_pick(&w), 0);
		assert_int_equal(w.deadline_ns, w.now_ns + 2 * MS);
		world_ran(&w, 0, 2 * MS);
		assert_true(world_pick(&w) > 0);
		world_exit(&w);
	}
}

/* Shares that make no sense, and such that change. */
static void test_shares(void **state)
{
	static const u32 bad[][2] = {
		{ 0, 0 }, { 4, 1 }, { 100, 100 }, { ~0U, ~0U }, { 5, 0 },
	};
	struct vgpu_share share = { .first_slot = 2, .nr_slots = 2 };
	static struct world w;
	unsigned int i, turn;
	u64 begin_ns;

	slots_begin(&w, &vgpu_policy_fixed_share, 4, 1 * MS);
	begin_ns = w.now_ns;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		world_wake(&w, world_join(&w, bad[i][0], bad[i][1]));
	assert_int_equal(world_pick(&w), NOBODY);
	assert_int_equal(w.until_ns, 0);
	/* This share is cut off at the end of the cycle, and has two slots of four. */
	world_wake(&w, world_join(&w, 2, ~0U));
	for (turn = 0; turn < 20; turn++) {
		assert_int_equal(world_turn(&w, 1 * MS), 5);
		check_that((turn + 1) * 2 * MS == w.now_ns - begin_ns, "%u by %llu", turn,
			   w.now_ns);
	}

	/* Another entity takes these slots, and pays three slots that it owes. */
	world_dequeue(&w, 0);
	world_dequeue(&w, 5);
	vgpu_slots_of(&w.entity[0])->debt_ns = 3 * MS + 1;
	world_reshare(&w, 0, &share);
	world_wake(&w, 0);
	assert_int_equal(world_next(&w), 0);
	assert_int_equal(vgpu_slots_of(&w.entity[0])->debt_ns, 1);
	world_exit(&w);
}

/* Shares should not overlap; if they do nobody hangs, and time goes on. */
static void test_overlapping_shares(void **state)
{
	u64 rnd = test_seed() + 6;
	unsigned int load, turn, i;
	static struct world w;
	int who;

	for (load = 0; load < 100; load++) {
		slots_begin(&w, &vgpu_policy_fixed_share, 16, 1 * MS);
		for (i = 0; i < 6; i++)
			world_wake(&w, world_join(&w, random_range(&rnd, 0, 12), 4));
		for (turn = 0; turn < 600; turn++) {
			who = world_pick(&w);
			if (who == NOBODY) {
				assert_true(w.until_ns);
				w.now_ns = w.until_ns;
				continue;
			}
			world_ran(&w, who, 1 * MS + (random_one_in(&rnd, 2) ? 0 :
						     random_range(&rnd, 0, 9 * MS)));
			world_requeue(&w, who);
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

	/* A policy that walked over slots one by one would not come to an end here. */
	test_limit_cpu(300);
	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
