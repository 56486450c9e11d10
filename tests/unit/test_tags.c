// SPDX-License-Identifier: GPL-2.0
/*
 * qos alone: its tags where distances are long. Months of sleep, of a hog whose
 * virtual time runs a thousand times as fast, clocks that jump. And where a run
 * of the excess ends.
 */
#include "vgpu_test.h"

#include "sched/policy.h"

#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define DAY		(86400 * SEC)
#define NR		2

static const struct vgpu_sched_policy *policy = &vgpu_policy_qos;

/* A timeline, as little of it as a policy needs. */
struct world {
	struct vgpu_rq rq;
	struct vgpu_entity entity[NR];
	u64 service_ns[NR];
	u64 now_ns;
};

static void world_init(struct world *w)
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->rq.policy = policy;
	w->rq.slice_ns = 2 * MS;
	w->now_ns = SEC;
	assert_int_equal(policy->rq_init(&w->rq), 0);
	for (i = 0; i < NR; i++) {
		w->entity[i].share.cap = 1000;
		w->entity[i].share.weight = 1;
		policy->init(&w->rq, &w->entity[i], w->now_ns);
	}
}

static void enqueue(struct world *w, unsigned int i, bool woken)
{
	w->entity[i].queued = true;
	policy->enqueue(&w->rq, &w->entity[i], woken, w->now_ns);
}

/* One run of @ran_ns, or a wait until the policy is to be asked again. */
static void step(struct world *w, u64 ran_ns)
{
	struct vgpu_entity *entity;
	struct vgpu_pick pick = {};

	entity = policy->pick(&w->rq, w->now_ns, &pick);
	if (!entity) {
		assert_true(pick.until_ns > w->now_ns);
		w->now_ns = pick.until_ns;
		return;
	}
	entity->queued = false;
	w->rq.running = entity;
	w->now_ns += ran_ns;
	w->rq.running = NULL;
	w->service_ns[entity - w->entity] += ran_ns;
	policy->charge(&w->rq, entity, ran_ns, w->now_ns);
	enqueue(w, entity - w->entity, false);
}

static void reshare(struct world *w, unsigned int i, u32 guarantee, u32 cap,
		    u32 weight)
{
	struct vgpu_entity *entity = &w->entity[i];
	struct vgpu_share share = entity->share;

	share.guarantee = guarantee;
	share.cap = cap;
	share.weight = weight;
	if (entity->queued)
		policy->dequeue(&w->rq, entity, w->now_ns);
	policy->reshare(&w->rq, entity, &share, w->now_ns);
	entity->share = share;
	if (entity->queued)
		policy->enqueue(&w->rq, entity, false, w->now_ns);
}

static void world_exit(struct world *w)
{
	unsigned int i;

	for (i = 0; i < NR; i++) {
		if (w->entity[i].queued)
			policy->dequeue(&w->rq, &w->entity[i], w->now_ns);
		policy->exit(&w->rq, &w->entity[i]);
	}
	policy->rq_exit(&w->rq);
}

/* Runs both for @time_ns; what the first one gets of it, per mille. */
static u64 first_per_mille(struct world *w, u64 time_ns)
{
	u64 from_ns = w->now_ns, before_ns = w->service_ns[0];

	while (w->now_ns < from_ns + time_ns)
		step(w, w->rq.slice_ns);
	return (w->service_ns[0] - before_ns) * 1000 / (w->now_ns - from_ns);
}

/* It sleeps for that long, then its share is changed, then it wakes. */
static void check_sleeper(u64 sleep_ns, u32 guarantee, u32 cap, u64 least)
{
	static struct world w;
	u64 got;

	world_init(&w);
	reshare(&w, 0, guarantee ? 1000 : 0, 1000, 1);
	reshare(&w, 1, 0, 1000, 1000);
	w.now_ns += sleep_ns;
	reshare(&w, 0, guarantee, cap, cap == 1000 ? 1 : 1000);
	enqueue(&w, 0, true);
	enqueue(&w, 1, true);
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

/* Alone it takes virtual time, of weight 1, forward by @virtual. */
static void hog(struct world *w, u64 virtual)
{
	u64 until = w->service_ns[1] + virtual / 1000;

	if (w->entity[0].queued)
		policy->dequeue(&w->rq, &w->entity[0], w->now_ns);
	while (w->service_ns[1] < until)
		step(w, 100 * SEC);
	if (w->entity[0].queued)
		policy->enqueue(&w->rq, &w->entity[0], false, w->now_ns);
	/* By then it is not far ahead. */
	step(w, w->rq.slice_ns);
}

/* Its weight of the excess counts however long the other was alone. */
static void test_sleep_beside_hog(void **state)
{
	static struct world w;
	u64 got, end;

	for (end = 1; end < 20; end += 2) {
		world_init(&w);
		enqueue(&w, 1, true);
		hog(&w, end * (1ULL << 60));
		enqueue(&w, 0, true);
		got = first_per_mille(&w, 10 * SEC);
		check_that(got >= 450 && got <= 550, "%llu after %llu/16", got,
			   end);
		world_exit(&w);
	}
}

static void test_weight_beside_hog(void **state)
{
	static struct world w;
	u64 got, end;

	for (end = 1; end < 20; end += 2) {
		world_init(&w);
		reshare(&w, 0, 0, 1000, 1000);
		enqueue(&w, 1, true);
		hog(&w, end * (1ULL << 52));
		reshare(&w, 0, 0, 1000, 1);
		enqueue(&w, 0, true);
		got = first_per_mille(&w, 10 * SEC);
		check_that(got >= 450 && got <= 550, "%llu after %llu", got, end);
		world_exit(&w);
	}
}

/*
 * With a cap that is its guarantee it has no part in the excess, and its place
 * there stays behind; it still has its weight when the cap is lifted.
 */
static void test_capped_beside_hog(void **state)
{
	static struct world w;
	unsigned int i;
	u64 got;

	world_init(&w);
	reshare(&w, 0, 1, 1, 1);
	enqueue(&w, 0, true);
	enqueue(&w, 1, true);
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

/* A run that seems to have taken a year does not throttle for many. */
static void test_year(void **state)
{
	static const u32 caps[] = { 1, 30, 1000 };
	static struct world w;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		world_init(&w);
		reshare(&w, 0, 1, caps[i], 1);
		enqueue(&w, 0, true);
		step(&w, 365 * DAY);
		check_that((s64)(w.entity[0].qos.limit_ns - w.now_ns) <=
			   (s64)(200 * DAY), "cap %u: %llu days", caps[i],
			   (w.entity[0].qos.limit_ns - w.now_ns) / DAY);
		world_exit(&w);
	}
}

/*
 * The first one has a guarantee of 100 per mille, which is its cap, too, and ran
 * for 2 ms: it is due 20 ms after that began. How long the other may run, from
 * @before_ns before that.
 */
static u64 excess_ns(u64 slice_ns, u64 before_ns, bool queued)
{
	static struct world w;
	struct vgpu_pick pick = {};
	struct vgpu_entity *entity;
	u64 from_ns;

	world_init(&w);
	w.rq.slice_ns = slice_ns;
	reshare(&w, 0, 100, 100, 1);
	enqueue(&w, 0, true);
	enqueue(&w, 1, true);
	from_ns = w.now_ns;
	step(&w, 2 * MS);
	assert_int_equal(w.service_ns[0], 2 * MS);
	if (!queued) {
		policy->dequeue(&w.rq, &w.entity[0], w.now_ns);
		w.entity[0].queued = false;
	}

	w.now_ns = from_ns + 20 * MS - before_ns;
	entity = policy->pick(&w.rq, w.now_ns, &pick);
	assert_ptr_equal(entity, &w.entity[1]);
	entity->queued = false;
	policy->charge(&w.rq, entity, 0, w.now_ns);
	world_exit(&w);
	return pick.slice_ns;
}

/*
 * A run of the excess ends where a guarantee comes due that somebody waits for,
 * but not in its first half.
 */
static void test_excess_ends_at_guarantee(void **state)
{
	static const u64 slices[] = { 2 * MS, 4 * MS, 10 * MS };
	unsigned int i;
	u64 slice;

	for (i = 0; i < ARRAY_SIZE(slices); i++) {
		slice = slices[i];
		/* In its first half. */
		assert_int_equal(excess_ns(slice, 1, true), slice / 2);
		assert_int_equal(excess_ns(slice, slice / 4, true), slice / 2);
		assert_int_equal(excess_ns(slice, slice / 2, true), slice / 2);
		/* In the second. */
		assert_int_equal(excess_ns(slice, slice / 2 + 1, true),
				 slice / 2 + 1);
		assert_int_equal(excess_ns(slice, slice * 3 / 4, true),
				 slice * 3 / 4);
		assert_int_equal(excess_ns(slice, slice - 1, true), slice - 1);
		/* Later. */
		assert_int_equal(excess_ns(slice, slice, true), slice);
		assert_int_equal(excess_ns(slice, slice + 1, true), slice);
		assert_int_equal(excess_ns(slice, 18 * MS, true), slice);
		/* Nobody waits for it. */
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
