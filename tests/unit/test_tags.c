// SPDX-License-Identifier: GPL-2.0
/*
 * qos alone (world.h): its tags where distances are long. Months of sleep, months of an entity
 * that is always busy, whose virtual time runs a thousand times as fast, clocks that jump. And
 * where a run of the excess ends.
 */
#include "world.h"

#include "sched/qos.h"

/* Two entities, with no work yet. */
static void begin(struct world *w)
{
	world_init(w, &vgpu_policy_qos, WORLD_PREEMPTS, 1, 2 * MS);
	world_open(w, 2);
}

static void reshare(struct world *w, unsigned int i, u32 guarantee, u32 cap, u32 weight)
{
	struct vgpu_share share = w->entity[i].share;

	share.guarantee = guarantee;
	share.cap = cap;
	share.weight = weight;
	world_reshare(w, i, &share);
}

/* Runs both for @time_ns; what the first one gets of it, per mille. */
static u64 first_per_mille(struct world *w, u64 time_ns)
{
	u64 from_ns = w->now_ns, before_ns = w->service_ns[0];

	while (w->now_ns < from_ns + time_ns)
		world_turn(w, w->rq.slice_ns);
	return (w->service_ns[0] - before_ns) * 1000 / (w->now_ns - from_ns);
}

/* The first entity sleeps for @sleep_ns, then its share is changed, then it wakes. */
static void check_sleeper(u64 sleep_ns, u32 guarantee, u32 cap, u64 least)
{
	static struct world w;
	u64 got;

	begin(&w);
	reshare(&w, 0, guarantee ? 1000 : 0, 1000, 1);
	reshare(&w, 1, 0, 1000, 1000);
	w.now_ns += sleep_ns;
	reshare(&w, 0, guarantee, cap, cap == 1000 ? 1 : 1000);
	world_wake(&w, 0);
	world_wake(&w, 1);
	got = first_per_mille(&w, 100 * SEC);
	check_that(got >= least, "%llu after %llu days", got, sleep_ns / DAY);
	world_exit(&w);
}

static void test_sleep_and_reshare(void **state)
{
	unsigned int days;

	for (days = 1; days < 4000; days += 50) {
		check_sleeper(days * DAY, 0, 1, 1);
		check_sleeper(days * DAY, 0, 10, 9);
		check_sleeper(days * DAY, 10, 1000, 9);
		check_sleeper(days * DAY, 100, 1000, 90);
	}
}

/* Entity 1, alone on the engine, takes virtual time, which is that of weight 1, on by @virtual. */
static void hog(struct world *w, u64 virtual)
{
	u64 until = w->service_ns[1] + virtual / 1000;
	bool queued = w->entity[0].queued;

	if (queued)
		world_dequeue(w, 0);
	while (w->service_ns[1] < until)
		world_turn(w, 100 * SEC);
	if (queued)
		world_requeue(w, 0);
	/* After this short turn the place of entity 1 is not far ahead of virtual time. */
	world_turn(w, w->rq.slice_ns);
}

/* The weight of an entity counts however long it has slept and the other one was alone. */
static void test_sleep_beside_hog(void **state)
{
	static struct world w;
	u64 got, end;

	for (end = 1; end < 20; end += 2) {
		begin(&w);
		world_wake(&w, 1);
		hog(&w, end * (1ULL << 60));
		world_wake(&w, 0);
		got = first_per_mille(&w, 10 * SEC);
		check_that(got >= 450 && got <= 550, "%llu after %llu/16", got, end);
		world_exit(&w);
	}
}

static void test_weight_beside_hog(void **state)
{
	static struct world w;
	u64 got, end;

	for (end = 1; end < 20; end += 2) {
		begin(&w);
		reshare(&w, 0, 0, 1000, 1000);
		world_wake(&w, 1);
		hog(&w, end * (1ULL << 52));
		reshare(&w, 0, 0, 1000, 1);
		world_wake(&w, 0);
		got = first_per_mille(&w, 10 * SEC);
		check_that(got >= 450 && got <= 550, "%llu after %llu", got, end);
		world_exit(&w);
	}
}

/*
 * An entity whose cap is its guarantee has no part in the excess, and its place there stays behind
 * virtual time; when the cap is lifted its weight counts again.
 */
static void test_capped_beside_hog(void **state)
{
	static struct world w;
	unsigned int i;
	u64 got;

	begin(&w);
	reshare(&w, 0, 1, 1, 1);
	world_wake(&w, 0);
	world_wake(&w, 1);
	for (i = 0; i < 10; i++) {
		hog(&w, 1ULL << 60);
		got = first_per_mille(&w, 100 * SEC);
		check_that(got <= 20, "%llu", got);
	}
	reshare(&w, 0, 1, 1000, 1);
	first_per_mille(&w, 10 * SEC);
	got = first_per_mille(&w, 10 * SEC);
	check_that(got >= 450 && got <= 550, "%llu", got);
	world_exit(&w);
}

/* A run that seems to have taken a year does not throttle its entity for many years. */
static void test_year(void **state)
{
	static const u32 caps[] = { 1, 30, 1000 };
	static struct world w;
	unsigned int i;
	s64 held_ns;

	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		begin(&w);
		reshare(&w, 0, 1, caps[i], 1);
		world_wake(&w, 0);
		world_turn(&w, 365 * DAY);
		held_ns = vgpu_qos_of(&w.entity[0])->limit_ns - w.now_ns;
		check_that(held_ns <= (s64)(200 * DAY), "cap %u: %lld days", caps[i],
			   held_ns / (s64)DAY);
		world_exit(&w);
	}
}

/*
 * The first entity has a guarantee of 100 per mille, which is its cap, too, and has run for 2 ms:
 * its guarantee comes due 20 ms after the beginning of that run. Returns for how long the other
 * one may run if it begins @before_ns before that, the first one being queued or not.
 */
static u64 excess_ns(u64 slice_ns, u64 before_ns, bool queued)
{
	static struct world w;
	u64 from_ns, may_run_ns;

	begin(&w);
	w.rq.slice_ns = slice_ns;
	reshare(&w, 0, 100, 100, 1);
	world_wake(&w, 0);
	world_wake(&w, 1);
	from_ns = w.now_ns;
	world_turn(&w, 2 * MS);
	assert_int_equal(w.service_ns[0], 2 * MS);
	if (!queued)
		world_dequeue(&w, 0);

	w.now_ns = from_ns + 20 * MS - before_ns;
	assert_int_equal(world_pick(&w), 1);
	may_run_ns = w.deadline_ns - w.now_ns;
	world_exit(&w);
	return may_run_ns;
}

/*
 * A run of the excess ends where the guarantee of an entity that is queued comes due, but not in
 * its first half.
 */
static void test_excess_ends_at_guarantee(void **state)
{
	static const u64 slices[] = { 2 * MS, 4 * MS, 10 * MS };
	unsigned int i;
	u64 slice;

	for (i = 0; i < ARRAY_SIZE(slices); i++) {
		slice = slices[i];
		/* It comes due in the run's first half. */
		assert_int_equal(excess_ns(slice, 1, true), slice / 2);
		assert_int_equal(excess_ns(slice, slice / 4, true), slice / 2);
		assert_int_equal(excess_ns(slice, slice / 2, true), slice / 2);
		/* It does in the second half. */
		assert_int_equal(excess_ns(slice, slice / 2 + 1, true), slice / 2 + 1);
		assert_int_equal(excess_ns(slice, slice * 3 / 4, true), slice * 3 / 4);
		assert_int_equal(excess_ns(slice, slice - 1, true), slice - 1);
		/* It does later. */
		assert_int_equal(excess_ns(slice, slice, true), slice);
		assert_int_equal(excess_ns(slice, slice + 1, true), slice);
		assert_int_equal(excess_ns(slice, 18 * MS, true), slice);
		/* The entity of the guarantee is not queued. */
		assert_int_equal(excess_ns(slice, slice / 4, false), slice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleep_and_reshare),
		cmocka_unit_test(test_sleep_beside_hog),
		cmocka_unit_test(test_weight_beside_hog),
		cmocka_unit_test(test_capped_beside_hog),
		cmocka_unit_test(test_year),
		cmocka_unit_test(test_excess_ends_at_guarantee),
	};

	return cmocka_run_group_tests_name("tags", tests, NULL, NULL);
}
