// SPDX-License-Identifier: GPL-2.0
/* For how long the OOM killer is held up: soft/memory/oom_hold.h. */
#include <linux/param.h>

#include "vgpu_test.h"

#include "soft/memory/oom_hold.h"

#define ROUNDS	2000
#define CALLS	3000

/*
 * The killer is held up, whatever it is told and whenever it calls, for no more than
 * SOFT_OOM_HOLD and the part of the time that it is given back, in every interval.
 */
static void test_bound(void **state)
{
	u64 seed = test_seed();

	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned long now = random_next(&seed);
		struct soft_oom_hold hold = { .called_at = now };
		unsigned int usual = 1u << random_range(&seed, 0, 14);
		double since = 0, worst = 0;
		bool held = false, want = true;

		for (unsigned int j = 0; j < CALLS; j++) {
			unsigned long most = random_one_in(&seed, 4) ? 60 * HZ : usual;
			unsigned long gap = random_range(&seed, 0, most);

			/* The most that any interval that ends here has beyond its part. */
			if (held)
				since += gap < SOFT_OOM_HOLD_GAP ? gap : SOFT_OOM_HOLD_GAP;
			since -= (double)gap / (SOFT_OOM_HOLD_SHARE + 1);
			if (since < 0)
				since = 0;
			if (since > worst)
				worst = since;
			now += gap;
			held = soft_oom_hold(&hold, now, random_one_in(&seed, 4) ? false : want);
			if (random_one_in(&seed, 8))
				want = !want;
		}
		if (worst > SOFT_OOM_HOLD + SOFT_OOM_HOLD_GAP)
			fail_msg("%g jiffies, gaps of up to %u", worst, usual);
	}
}

/* After a rest it is held up for as long as it may be, and then let go. */
static void test_rest(void **state)
{
	u64 seed = test_seed();

	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned long now = random_next(&seed), begun;
		unsigned long step = random_range(&seed, 1, SOFT_OOM_HOLD_GAP);
		struct soft_oom_hold hold = { .called_at = now };
		unsigned int held = 0;

		for (unsigned int j = random_range(&seed, 0, CALLS); j; j--)
			soft_oom_hold(&hold, now += random_range(&seed, 0, HZ / 10),
				      random_one_in(&seed, 2));
		now += (SOFT_OOM_HOLD_SHARE + 1) * (unsigned long)(SOFT_OOM_HOLD + HZ);
		for (begun = now; soft_oom_hold(&hold, now, true); now += step)
			if (now - begun > SOFT_OOM_HOLD)
				fail_msg("still held after %lu jiffies", now - begun);
		assert_true(now - begun >= SOFT_OOM_HOLD);
		/* From then on it is held for its part of the time only. */
		for (unsigned int j = 0; j < 1000; j++)
			held += soft_oom_hold(&hold, ++now, true);
		assert_true(held <= 1000 / (SOFT_OOM_HOLD_SHARE + 1) + 1);
	}
}

/* Nothing is spent while there is no reason to hold it up. */
static void test_no_reason(void **state)
{
	struct soft_oom_hold hold = { 0 };
	u64 seed = test_seed();
	unsigned long now = 0;

	(void)state;
	for (unsigned int i = 0; i < CALLS; i++) {
		/* A moment, and then the killer is called all the time, for another reason. */
		assert_true(soft_oom_hold(&hold, ++now, true));
		for (unsigned int j = random_range(&seed, HZ, 2 * HZ); j; j--)
			assert_false(soft_oom_hold(&hold, ++now, false));
		now += random_range(&seed, SOFT_OOM_HOLD_SHARE, HZ);
	}
}

/* Memory that ran out for a moment, long ago, costs nothing. */
static void test_moments(void **state)
{
	struct soft_oom_hold hold = { 0 };
	u64 seed = test_seed();
	unsigned long now = 0;

	(void)state;
	for (unsigned int i = 0; i < CALLS; i++)
		assert_true(soft_oom_hold(&hold, now += 13 * HZ + random_range(&seed, 0, HZ),
					  true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_no_reason),
		cmocka_unit_test(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
