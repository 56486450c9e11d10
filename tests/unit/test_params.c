// SPDX-License-Identifier: GPL-2.0
/* The scheduler's settings: which values are taken, and that they take effect all at once. */
#include "race.h"

static const struct vgpu_sched_params good = {
	.policy = &vgpu_policy_best_effort,
	.slice_ns = 2 * MS,
	.window_ns = 100 * MS,
	.preempt_timeout_us = TIMEOUT_US,
	.linger_us = 100,
	.nr_slots = 1,
};

/* Which settings are taken and which are not, and what the refusal says. */
static void test_params_check(void **state)
{
	static const struct {
		u64 slice_ns;
		u64 window_ns;
		u32 timeout_us;
		u32 linger_us;
		int ret;
		const char *why;
	} row[] = {
		{ 1 * MS, 10 * MS, 1000, 0, 0, "" },
		{ 30 * MS, 1000 * MS, 1000000, 1000, 0, "" },
		{ 1041667, 100 * MS, 10000, 100, 0, "" },
		{ 1 * MS - 1, 100 * MS, 10000, 100, -ERANGE,
		  "slice 999999 ns: 1 .. 30 ms" },
		{ 31 * MS, 100 * MS, 10000, 100, -ERANGE,
		  "slice 31 ms: 1 .. 30 ms" },
		{ 0, 100 * MS, 10000, 100, -ERANGE, "slice 0 ms: 1 .. 30 ms" },
		{ U64_MAX, 100 * MS, 10000, 100, -ERANGE,
		  "slice 18446744073709551615 ns: 1 .. 30 ms" },
		{ 1 * MS, 10 * MS - 1, 10000, 100, -ERANGE,
		  "window 9999999 ns: 10 .. 1000 ms" },
		{ 1 * MS, 1001 * MS, 10000, 100, -ERANGE,
		  "window 1001 ms: 10 .. 1000 ms" },
		{ 10 * MS, 50 * MS, 10000, 100, -EINVAL,
		  "window 50 ms: at least 10 slices, 100 ms at a slice of 10 ms" },
		{ 10 * MS + 1, 100 * MS, 10000, 100, -EINVAL,
		  "window 100 ms: at least 10 slices, 100000010 ns at a slice of 10000001 ns" },
		{ 1 * MS, 100 * MS, 999, 100, -ERANGE,
		  "preemption timeout 999 us: 1000 .. 1000000 us" },
		{ 1 * MS, 100 * MS, 1000001, 100, -ERANGE,
		  "preemption timeout 1000001 us: 1000 .. 1000000 us" },
		{ 1 * MS, 100 * MS, 10000, 1001, -ERANGE,
		  "linger 1001 us: 0 .. 1000 us" },
	};
	struct vgpu_sched_params params;
	char why[VGPU_TEXT_LEN], few[8];
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		params = good;
		params.slice_ns = row[i].slice_ns;
		params.window_ns = row[i].window_ns;
		params.preempt_timeout_us = row[i].timeout_us;
		params.linger_us = row[i].linger_us;
		why[0] = 0;
		ret = vgpu_sched_params_check(&params, why, sizeof(why));
		check_that(ret == row[i].ret && !strcmp(why, row[i].why),
			   "row %u: %d, %s", i, ret, why);
		/* There is little room for the text, or none. */
		few[0] = 0;
		few[7] = 'x';
		assert_int_equal(vgpu_sched_params_check(&params, few, 7), ret);
		assert_true(few[7] == 'x' && strlen(few) < 7);
		assert_int_equal(vgpu_sched_params_check(&params, NULL, 0), ret);
	}
	params = good;
	params.policy = NULL;
	assert_int_equal(vgpu_sched_params_check(&params, why, sizeof(why)), -EINVAL);
	assert_int_equal(strcmp(why, "no such policy"), 0);
	params = good;
	params.nr_slots = 0;
	assert_int_equal(vgpu_sched_params_check(&params, why, sizeof(why)), -EINVAL);
}

static void test_policies(void **state)
{
	const struct vgpu_sched_policy *policy;
	char names[256], less[12];
	unsigned int i;

	vgpu_sched_policy_names(names, sizeof(names), "and");
	for (i = 0; (policy = vgpu_sched_policy_at(i)); i++) {
		assert_ptr_equal(vgpu_sched_policy(policy->name), policy);
		assert_non_null(strstr(names, policy->name));
		assert_int_not_equal(policy->due, VGPU_DUE_UNKNOWN);
	}
	assert_true(i >= 4);
	assert_null(vgpu_sched_policy_at(i));
	assert_ptr_equal(vgpu_sched_policy("best_effort"), &vgpu_policy_best_effort);
	assert_ptr_equal(vgpu_sched_policy("qos"), &vgpu_policy_qos);
	assert_memory_equal(names, "best_effort, equal_share, ", 26);
	assert_non_null(strstr(names, " and "));
	assert_string_equal(vgpu_sched_policy_names(less, sizeof(less), "and"), "best_effort");
	assert_string_equal(vgpu_sched_policy_names(less, 1, "and"), "");
	assert_null(vgpu_sched_policy("qo"));
	assert_null(vgpu_sched_policy("qos "));
	assert_null(vgpu_sched_policy(""));
}

static void test_create_refuses(void **state)
{
	static const struct vgpu_timeline_ops ops;
	struct vgpu_sched_params bad = good;

	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 0, &ops, NULL, NULL, &good)), -EINVAL);
	bad.policy = NULL;
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 1, &ops, NULL, NULL, &bad)), -EINVAL);
	bad = good;
	bad.slice_ns = VGPU_SLICE_MAX_NS + 1;
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 1, &ops, NULL, NULL, &bad)), -ERANGE);
	bad = good;
	bad.preempt_timeout_us = 0;
	assert_int_equal(PTR_ERR(vgpu_sched_create("x", 1, &ops, NULL, NULL, &bad)), -ERANGE);
}

/* All timelines have the new settings or none has, wherever memory runs out. */
static void test_set_is_atomic(void **state)
{
	struct vgpu_sched_params params, now;
	struct race_user *user[NR_TIMELINES];
	unsigned int i, left;

	race_begin(1, 0, 2 * MS);
	for (i = 0; i < NR_TIMELINES; i++) {
		user[i] = race_user_open(i);
		race_submit(user[i], 1 * SEC);
	}
	sim_sleep(5 * MS);
	for (left = 0; left <= NR_TIMELINES; left++) {
		params = race.params;
		params.policy = race_watched("qos");
		params.slice_ns = 10 * MS;
		params.linger_us = 7;
		race.rqs_left = left;
		assert_int_equal(race_set_params(&params), left < NR_TIMELINES ? -ENOMEM : 0);
		vgpu_sched_params_get(race.sched, &now);
		assert_int_equal(memcmp(&now, &race.params, sizeof(now)), 0);
		for (i = 0; i < NR_TIMELINES; i++) {
			assert_ptr_equal(race.engine[i].tl->rq.policy, race.params.policy);
			assert_int_equal(race.engine[i].tl->rq.slice_ns, race.params.slice_ns);
			assert_int_equal(race.engine[i].tl->rq.linger_ns,
					 race.params.linger_us * US);
		}
	}
	/* The same policy again needs no memory. */
	race.rqs_left = 0;
	assert_int_equal(race_set_params(&race.params), 0);
	params = race.params;
	params.nr_slots++;
	assert_int_equal(race_set_params(&params), -EINVAL);
	params = race.params;
	params.window_ns = 50 * MS;
	assert_int_equal(race_set_params(&params), -EINVAL);
	vgpu_sched_params_get(race.sched, &now);
	assert_int_equal(memcmp(&now, &race.params, sizeof(now)), 0);
	race_drain();
	for (i = 0; i < NR_TIMELINES; i++)
		race_user_close(user[i]);
	race_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_params_check),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_create_refuses),
		cmocka_unit_test(test_set_is_atomic),
	};

	return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
