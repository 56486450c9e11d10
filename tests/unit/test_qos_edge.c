// SPDX-License-Identifier: GPL-2.0
/* qos where it is hard: what is rare or extreme. test_qos_hostile.c has what is meant badly. */
#include "vgpu_test.h"

#include "des_test.h"
#include "policy_at.h"

static void test_one(void **state)
{
	struct des_config config;
	struct des *des;

	des_test_qos(&config, 1);
	des = des_test_run(&config);
	assert_true(des_test_per_mille(des, 0) >= 999);
	assert_int_equal(des->engine[0].switches, 0);
	des_test_end(des, &config);
}

static void test_all_idle(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	des_test_qos(&config, 8);
	des_test_share_all(&config, 125, 1000, 1);
	for (i = 0; i < 8; i++)
		config.client[i].load.kind = DES_NONE;
	des = des_test_run(&config);
	assert_int_equal(des->engine[0].runs.nr, 0);
	/* No time is spent on clients that do nothing. */
	assert_in_range(des->events, 0, 20);
	des_test_end(des, &config);
}

/* Of an engine with 3 clients that have a cap of 200 each, 2/5 stay idle. */
static void test_all_capped(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	des_test_qos(&config, 3);
	for (i = 0; i < 3; i++)
		des_test_share(&config, i, i * 100, 200, 1);
	config.length_ns = 4 * SEC;
	des = des_test_run(&config);
	for (i = 0; i < 3; i++)
		assert_in_range(des_test_per_mille(des, i), 198, 201);
	des_test_end(des, &config);
}

/* Each guarantee is a cap, and their sum exactly 1000: there is no excess at all. */
static void test_exactly_full(void **state)
{
	static const unsigned int shares[] = { 1, 9, 40, 150, 300, 500 };
	struct des_config config;
	unsigned int i;
	struct des *des;

	des_test_qos(&config, ARRAY_SIZE(shares));
	for (i = 0; i < ARRAY_SIZE(shares); i++)
		des_test_share(&config, i, shares[i], shares[i], 1 + i);
	config.length_ns = 20 * SEC;
	des = des_test_run(&config);
	for (i = 0; i < ARRAY_SIZE(shares); i++)
		assert_in_range(des_test_per_mille(des, i), shares[i] - 1, shares[i] + 1);
	des_test_end(des, &config);
}

/* A client whose guarantee and cap are 1, beside busy ones, gets 1/1000 and no more. */
static void test_one_per_mille(void **state)
{
	struct des_config config;
	struct des *des;

	des_test_qos(&config, 3);
	des_test_share(&config, 0, 1, 1, 1000);
	des_test_share(&config, 1, 999, 1000, 1);
	config.length_ns = 60 * SEC;
	des = des_test_run(&config);
	assert_in_range(des_test_per_mille(des, 0), 1, 1);
	des_test_end(des, &config);
}

static void test_weights(void **state)
{
	struct des_config config;
	struct des *des;

	des_test_qos(&config, 3);
	des_test_share(&config, 0, 0, 1000, 1);
	des_test_share(&config, 1, 0, 1000, 1000);
	des_test_share(&config, 2, 300, 1000, 1);
	config.length_ns = 60 * SEC;
	des = des_test_run(&config);
	assert_in_range(des_test_per_mille(des, 1), 697, 700);
	assert_in_range(des_test_per_mille(des, 2), 300, 302);
	des_test_end(des, &config);
}

/* Guarantee, cap or weight go from 1 to 1000 and back, every 50 ms. */
static void test_steps(void **state)
{
	struct des_config config;
	unsigned int i, what;

	for (what = 0; what < 3; what++) {
		des_test_qos(&config, 4);
		config.length_ns = 2 * SEC;
		des_test_share(&config, 1, what ? 300 : 0, 1000, 5);
		des_test_share(&config, 2, 0, 600, 1);
		for (i = 1; i < 40; i++) {
			struct des_action *action = des_config_act(&config, i * 50 * MS,
								   DES_SHARE, 0);

			if (what == 0)
				action->share.guarantee = i % 2 ? 1000 : 1;
			else if (what == 1)
				action->share.cap = i % 2 ? 1 : 1000;
			else
				action->share.weight = i % 2 ? 1000 : 1;
		}
		des_test_once(&config);
	}
}

/*
 * A client alone, whose cap changes, runs whenever the new cap lets it, whether the change comes
 * while it runs or while the old cap holds it back.
 */
static void test_cap_changes(void **state)
{
	static const unsigned int caps[][2] = {
		{ 100, 1000 }, { 1000, 1 }, { 1, 500 }, { 50, 60 },
	};
	struct des_config config;
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(caps); k++) {
		des_test_qos(&config, 1);
		config.length_ns = 4 * SEC;
		des_test_share(&config, 0, 0, caps[k][0], 1);
		for (i = 1; i < 20; i++)
			des_config_act(&config, i * (190 * MS + 333 * US), DES_SHARE,
				       0)->share.cap = caps[k][i % 2];
		des_test_once(&config);
	}
}

/* Service that a client had under another policy does not count against its cap. */
static void test_cap_begins(void **state)
{
	struct des_config config;
	unsigned int i;

	des_test_qos(&config, 2);
	config.length_ns = 4 * SEC;
	config.params.slice_ns = 30 * MS;
	des_test_share(&config, 0, 0, 10, 1);
	config.client[1].load.kind = DES_NONE;
	for (i = 1; i < 20; i++)
		des_config_act(&config, i * (190 * MS + 333 * US), DES_PARAMS, 0)->params.policy =
			i % 2 ? &vgpu_policy_best_effort : &vgpu_policy_qos;
	des_test_once(&config);
}

static void test_slice(void **state)
{
	struct des_config config;
	unsigned int i;

	des_test_qos(&config, 5);
	config.length_ns = 4 * SEC;
	config.params.slice_ns = MS;
	des_test_share(&config, 0, 300, 1000, 1);
	des_test_share(&config, 1, 200, 200, 1);
	des_test_share(&config, 2, 100, 1000, 7);
	config.client[3].load = des_closed(300 * US, 50 * US, 1);
	des_test_share(&config, 3, 200, 1000, 1);
	for (i = 1; i < 20; i++)
		des_config_act(&config, i * (200 * MS + 77 * US), DES_PARAMS, 0)->params.slice_ns =
			i % 2 ? 30 * MS : MS;
	des_test_once(&config);
}

/* Every 5 ms another policy is set: nothing is lost, and nobody waits for ever. */
static void test_policies(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	des_test_qos(&config, 4);
	des_test_share(&config, 0, 0, 1, 1);
	des_test_share(&config, 1, 500, 500, 1);
	config.client[2].load = des_closed(700 * US, 90 * US, 3);
	config.client[3].load = des_poisson(MS, 4 * MS, 2);
	for (i = 1; i < 199; i++)
		des_config_act(&config, i * 5 * MS, DES_PARAMS, 0)->params.policy =
			sim_policy(i - 1);
	des = des_test_run(&config);
	for (i = 0; i < 4; i++)
		assert_true(des_test_per_mille(des, i) > 10);
	des_test_end(des, &config);
}

/* A client that qos holds back for its cap runs at once under another policy. */
static void test_policy_while_throttled(void **state)
{
	struct des_config config;
	struct des *des;

	des_test_qos(&config, 1);
	des_test_share(&config, 0, 0, 1, 1);
	des_config_act(&config, 500 * MS, DES_PARAMS, 0)->params.policy = &vgpu_policy_best_effort;
	des = des_test_run(&config);
	assert_in_range(des_service_ns(des, 0, 0, 0, 500 * MS), 1, 6 * MS);
	assert_in_range(des_service_ns(des, 0, 0, 501 * MS, SEC), 498 * MS, 499 * MS);
	des_test_end(des, &config);
}

/*
 * The machine stands still for 3 s, which is then p, the largest overrun. Some time after that all
 * is as it was before.
 */
static void test_jump(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;
	u64 ns;

	des_test_qos(&config, 4);
	config.length_ns = 60 * SEC;
	for (i = 0; i < 4; i++)
		des_test_share(&config, i, 200, i == 3 ? 300 : 1000, 1);
	config.client[2].load = des_closed(300 * US, 50 * US, 1);
	des_config_act(&config, SEC, DES_JUMP, 0)->jump_ns = 3 * SEC;
	des = des_test_run(&config);
	for (i = 0; i < 4; i++) {
		ns = des_service_ns(des, i, 0, 50 * SEC, 60 * SEC);
		assert_in_range(ns / (10 * MS), 199, 310);
	}
	des_test_end(des, &config);
}

/* Clients that have slept for an hour have no credit from that. */
static void test_sleepers_burst(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;
	u64 from_ns = HOUR;

	des_test_qos(&config, 4);
	config.length_ns = from_ns + 500 * MS;
	for (i = 0; i < 4; i++) {
		des_test_share(&config, i, 200, i ? 1000 : 400, 1);
		config.client[i].load.phase_ns = from_ns;
	}
	/* This one has a little work all the time, so that time passes for the policy. */
	config.client[3].load = des_poisson(100 * US, 100 * MS, 1);
	des = des_test_run(&config);
	assert_true(des_service_ns(des, 0, 0, from_ns, des->end_ns) < (500 * 400 / 1000 + 9) * MS);
	des_test_end(des, &config);
}

/* 1024 clients wake at the same time, again and again, and none misses a frame. */
static void test_1024_wake(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	des_test_qos(&config, 1024);
	config.length_ns = 3 * SEC;
	config.params.slice_ns = MS;
	for (i = 0; i < 1024; i++) {
		if (i < 1000)
			des_test_share(&config, i, 1, 1000, 1 + i % 7);
		config.client[i].load = des_frames(MS, 1500 * MS);
	}
	des = des_test_run(&config);
	for (i = 0; i < 1024; i++)
		assert_int_equal(des->client[i].missed, 0);
	des_test_end(des, &config);
}

/* Work on the engine gr, then a copy on ce0, then on gr again; others keep both engines busy. */
static void test_chain(void **state)
{
	struct des_load chain = des_closed(MS, 0, 1);
	struct des_config config;
	unsigned int i;
	struct des *des;

	chain.nr_stages = 3;
	chain.stage[1] = (struct des_stage){ .engine = 1, .job_ns = MS };
	chain.stage[2] = (struct des_stage){ .engine = 0, .job_ns = MS };
	des_test_qos(&config, 5);
	config.nr_engines = 2;
	config.length_ns = 4 * SEC;
	des_test_share_all(&config, 200, 1000, 1);
	for (i = 0; i < 5; i++)
		config.client[i].load.stage[0].engine = i % 2;
	config.client[0].load = chain;
	des = des_test_run(&config);
	assert_true(des->client[0].completed > 100);
	/* Copies do not count against graphics. */
	assert_true(des->client[1].track[1].busy_ns > 2 * SEC / 2);
	des_test_end(des, &config);
}

/* Every 5 ms a client comes or goes; the guarantees of the others hold. */
static void test_arrivals(void **state)
{
	struct des_config config;
	unsigned int i;

	des_test_qos(&config, 6);
	for (i = 0; i < 6; i++)
		des_test_share(&config, i, 160, 1000, 1 + i);
	for (i = 1; i < 199; i++)
		des_config_act(&config, i * 5 * MS, i % 2 ? DES_STOP : DES_START, i / 2 % 5);
	des_test_once(&config);
}

/* If the scheduler's thread is late that costs time, but never a wake-up. */
static void test_late_kthread(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	for (i = 1; i <= 100; i++) {
		des_config_random(&config, &vgpu_policy_qos, i);
		config.kick_ns = 2 * MS;
		config.drain = true;
		des = des_run(&config);
		assert_false(des->stuck);
		des_test_end(des, &config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_all_idle),
		cmocka_unit_test(test_all_capped),
		cmocka_unit_test(test_exactly_full),
		cmocka_unit_test(test_one_per_mille),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_cap_changes),
		cmocka_unit_test(test_cap_begins),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_policy_while_throttled),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_sleepers_burst),
		cmocka_unit_test(test_1024_wake),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_late_kthread),
	};

	return cmocka_run_group_tests_name("qos_edge", tests, NULL, NULL);
}
