// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks of partitions (vgpu_clock.h), against a clock that is carried on from edge to edge of the
 * slots: for all places of partitions, and at times of which most are at edges, up to the end of
 * time.
 */
#include "vgpu_test.h"

#include <linux/vgpu_clock.h>

#include "core/objects/profile.h"

#define PERIOD		((u64)VGPU_SLOTS_PERIOD_NS)
#define TRIES		20000
#define WALK_PERIODS	50

typedef void (*each_place)(const struct vgpu_profile *profile, unsigned int start);

static void for_places(each_place each)
{
	unsigned int i, start;

	for (i = 0; i < VGPU_PROFILES; i++)
		for (start = 0; start < VGPU_PROFILE_EIGHTHS; start++)
			if (vgpu_profiles[i].starts & BIT(start))
				each(&vgpu_profiles[i], start);
}

static struct vgpu_clock clock_of(const struct vgpu_profile *profile, unsigned int start)
{
	struct vgpu_clock clock;

	assert_true(start + profile->slices <= VGPU_SLOTS);
	vgpu_clock_slots(&clock, start, profile->slices);
	return clock;
}

/* A time at an edge or a few ns beside it, or any time of a period. */
static u64 random_rest(const struct vgpu_clock *clock, u64 *rng)
{
	u64 edges[] = { 0, clock->begin_ns, clock->begin_ns + clock->length_ns, PERIOD };

	if (random_one_in(rng, 4))
		return random_range(rng, 0, PERIOD - 1);
	return (edges[random_range(rng, 0, 3)] + PERIOD + random_range(rng, 0, 4) - 2) % PERIOD;
}

static void check_whole(const struct vgpu_clock *clock, u64 real_ns)
{
	assert_int_equal(vgpu_clock_at(clock, real_ns), real_ns);
	assert_int_equal(vgpu_clock_real(clock, real_ns), real_ns);
	assert_int_equal(vgpu_clock_stands_at(clock, real_ns), U64_MAX);
}

static void test_whole(void **state)
{
	const struct vgpu_clock none = {};
	struct vgpu_clock all = { 1, 1 };
	u64 rng = test_seed(), ns;
	unsigned int i;

	vgpu_clock_slots(&all, 0, VGPU_SLOTS);
	for (i = 0; i < TRIES; i++) {
		ns = random_next(&rng) >> random_range(&rng, 0, 63);
		check_whole(&none, ns);
		check_whole(&all, ns);
	}
	check_whole(&none, 0);
	check_whole(&none, U64_MAX);
}

/* From edge to edge: the clock goes on in the slots, and stands in between. */
static void walk(const struct vgpu_profile *profile, unsigned int start)
{
	const struct vgpu_clock clock = clock_of(profile, start);
	u64 rng = test_seed() + start, from_ns, ns, shows_ns = 0;
	unsigned int i;

	if (!clock.length_ns)
		return;
	for (i = 0; i < WALK_PERIODS; i++) {
		from_ns = i * PERIOD + start * (u64)VGPU_SLOT_NS;
		assert_int_equal(vgpu_clock_at(&clock, i * PERIOD), shows_ns);
		assert_int_equal(vgpu_clock_at(&clock, from_ns), shows_ns);
		assert_int_equal(vgpu_clock_real(&clock, shows_ns), from_ns);
		ns = random_range(&rng, 0, clock.length_ns - 1);
		assert_int_equal(vgpu_clock_at(&clock, from_ns + ns), shows_ns + ns);
		assert_int_equal(vgpu_clock_real(&clock, shows_ns + ns), from_ns + ns);
		assert_int_equal(vgpu_clock_stands_at(&clock, from_ns + ns),
				 from_ns + clock.length_ns);
		shows_ns += clock.length_ns;
		ns = from_ns + clock.length_ns;
		assert_int_equal(vgpu_clock_at(&clock, ns), shows_ns);
		assert_int_equal(vgpu_clock_stands_at(&clock, ns), ns);
	}
	/* Exactly its part of whole periods, but for the time to stop in. */
	assert_int_equal(shows_ns + WALK_PERIODS * (u64)VGPU_SLOT_STOP_NS,
			 WALK_PERIODS * PERIOD / VGPU_SLOTS * profile->slices);
}

static void test_walk(void **state)
{
	for_places(walk);
}

static void far(const struct vgpu_profile *profile, unsigned int start)
{
	const struct vgpu_clock clock = clock_of(profile, start);
	u64 rng = test_seed() ^ (start << 8 | profile->slices), last_period = U64_MAX / PERIOD - 1;
	u64 real_ns, periods, ns, back_ns, stands_ns, more_ns;
	unsigned int i;

	if (!clock.length_ns)
		return;
	for (i = 0; i < TRIES; i++) {
		periods = min(random_next(&rng) >> random_range(&rng, 0, 63), last_period);
		real_ns = periods * PERIOD + random_rest(&clock, &rng);
		ns = vgpu_clock_at(&clock, real_ns);
		check_that(ns - vgpu_clock_at(&clock, real_ns % PERIOD) ==
			   periods * clock.length_ns, "%llu", real_ns);

		/* Later, and by no more than real time. */
		more_ns = min(random_next(&rng) >> random_range(&rng, 0, 63), U64_MAX - real_ns);
		back_ns = vgpu_clock_at(&clock, real_ns + more_ns) - ns;
		check_that(back_ns <= more_ns, "%llu + %llu", real_ns, more_ns);

		/* There and back: the time itself in the slots, else when they begin. */
		stands_ns = vgpu_clock_stands_at(&clock, real_ns);
		back_ns = vgpu_clock_real(&clock, ns);
		if (back_ns == U64_MAX) {
			assert_true(periods >= last_period);
			continue;
		}
		assert_int_equal(vgpu_clock_at(&clock, back_ns), ns);
		assert_int_equal(vgpu_clock_at(&clock, back_ns + 1), ns + 1);
		check_that(stands_ns > real_ns ? back_ns == real_ns :
			   back_ns > real_ns && back_ns - real_ns < PERIOD,
			   "%llu: %llu, %llu", real_ns, stands_ns, back_ns);
	}
	assert_int_equal(vgpu_clock_real(&clock, U64_MAX), U64_MAX);
	assert_true(vgpu_clock_at(&clock, U64_MAX) < U64_MAX);
}

static void test_far(void **state)
{
	for_places(far);
}

/* At no time are two partitions in their slots, nor is one less than the time to stop after one. */
static void check_apart(const struct vgpu_profile *profile, unsigned int start,
			const struct vgpu_profile *other, unsigned int other_start)
{
	const struct vgpu_clock a = clock_of(profile, start), b = clock_of(other, other_start);
	u64 a_end = (u64)a.begin_ns + a.length_ns, b_end = (u64)b.begin_ns + b.length_ns;

	check_that(a_end + VGPU_SLOT_STOP_NS <= b.begin_ns ||
		   b_end + VGPU_SLOT_STOP_NS <= a.begin_ns, "%s at %u, %s at %u",
		   profile->name, start, other->name, other_start);
	/* Over the end of the period, too. */
	assert_true(a_end + VGPU_SLOT_STOP_NS <= PERIOD && b_end + VGPU_SLOT_STOP_NS <= PERIOD);
}

static unsigned int nr_pairs;

static void apart_from(const struct vgpu_profile *profile, unsigned int start)
{
	unsigned int i, other_start;

	for (i = 0; i < VGPU_PROFILES; i++) {
		const struct vgpu_profile *other = &vgpu_profiles[i];

		for (other_start = start + profile->eighths; other_start < VGPU_PROFILE_EIGHTHS;
		     other_start++) {
			if (!(other->starts & BIT(other_start)))
				continue;
			check_apart(profile, start, other, other_start);
			nr_pairs++;
		}
	}
}

static void test_apart(void **state)
{
	for_places(apart_from);
	assert_true(nr_pairs > 40);
}

static unsigned int cpus_of(const struct vgpu_profile *profile, unsigned int start,
			    unsigned int nr)
{
	unsigned int i, slot, cpus = 0;

	for (i = 0; i < nr; i++) {
		slot = vgpu_slot_of_cpu(i, nr);
		assert_true(slot < VGPU_SLOTS);
		cpus += slot >= start && slot < start + profile->slices;
	}
	return cpus;
}

/* With as many CPUs as units, and at least one per slice, each unit of a partition has one. */
static void enough_cpus(const struct vgpu_profile *profile, unsigned int start)
{
	unsigned int nr, units;

	for (nr = VGPU_SLOTS; nr <= 128; nr++)
		for (units = 1; units <= nr; units++)
			check_that(cpus_of(profile, start, nr) >=
				   vgpu_profile_units(profile, units), "%s at %u: %u CPUs, %u units",
				   profile->name, start, nr, units);
}

static void test_cpus(void **state)
{
	for_places(enough_cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
