// SPDX-License-Identifier: GPL-2.0
/* qos where it is hard: what is rare, extreme or meant badly. */
#include "vgpu_test.h"

#include "des_test.h"
#include "policy_at.h"

/* Service of a client, per mille of all time. */
static u64 per_mille(const struct des *des, unsigned int client)
{
	return des->client[client].track[0].busy_ns * 1000 / des->end_ns;
}

static struct des *checked_run(const struct des_config *config)
{
	struct des *des = des_run(config);

	check_des(des);
	return des;
}

static void run_and_end(struct des_config *config)
{
	des_free(checked_run(config));
	des_config_exit(config);
}

static void qos_config(struct des_config *config, unsigned int nr_clients)
{
	des_config_init(config, &vgpu_policy_qos, nr_clients);
	config->drain = true;
}

static void set_share(struct des_config *config, unsigned int client,
		      unsigned int guarantee, unsigned int cap,
		      unsigned int weight)
{
	config->client[client].share.guarantee = guarantee;
	config->client[client].share.cap = cap;
	config->client[client].share.weight = weight;
}

static void test_one(void **state)
{
	struct des_config config;
	struct des *des;

	qos_config(&config, 1);
	des = checked_run(&config);
	assert_true(per_mille(des, 0) >= 999);
	assert_int_equal(des->engine[0].switches, 0);
	des_free(des);
	des_config_exit(&config);
}

static void test_all_idle(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	qos_config(&config, 8);
	for (i = 0; i < 8; i++) {
		set_share(&config, i, 125, 1000, 1);
		config.client[i].load.kind = DES_NONE;
	}
	des = checked_run(&config);
	assert_int_equal(des->engine[0].runs.nr, 0);
	/* Nobody looks after what does nothing. */
	assert_in_range(des->events, 0, 20);
	des_free(des);
	des_config_exit(&config);
}

/* 3 with a cap of 200: 2/5 stay idle, though all are always runnable. */
static void test_all_capped(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	qos_config(&config, 3);
	for (i = 0; i < 3; i++)
		set_share(&config, i, i * 100, 200, 1);
	config.length_ns = 4 * DES_SEC;
	des = checked_run(&config);
	for (i = 0; i < 3; i++)
		assert_in_range(per_mille(des, i), 198, 201);
	des_free(des);
	des_config_exit(&config);
}

/* g = c, the sum exactly 1000: there is no excess at all. */
static void test_exactly_full(void **state)
{
	static const unsigned int shares[] = { 1, 9, 40, 150, 300, 500 };
	struct des_config config;
	unsigned int i;
	struct des *des;

	qos_config(&config, ARRAY_SIZE(shares));
	for (i = 0; i < ARRAY_SIZE(shares); i++)
		set_share(&config, i, shares[i], shares[i], 1 + i);
	config.length_ns = 20 * DES_SEC;
	des = checked_run(&config);
	for (i = 0; i < ARRAY_SIZE(shares); i++)
		assert_in_range(per_mille(des, i), shares[i] - 1, shares[i] + 1);
	des_free(des);
	des_config_exit(&config);
}

/* g = c = 1 beside hogs: 1/1000 and no more. */
static void test_one_per_mille(void **state)
{
	struct des_config config;
	struct des *des;

	qos_config(&config, 3);
	set_share(&config, 0, 1, 1, 1000);
	set_share(&config, 1, 999, 1000, 1);
	config.length_ns = 60 * DES_SEC;
	des = checked_run(&config);
	assert_in_range(per_mille(des, 0), 1, 1);
	des_free(des);
	des_config_exit(&config);
}

static void test_weights(void **state)
{
	struct des_config config;
	struct des *des;

	qos_config(&config, 3);
	set_share(&config, 0, 0, 1000, 1);
	set_share(&config, 1, 0, 1000, 1000);
	set_share(&config, 2, 300, 1000, 1);
	config.length_ns = 60 * DES_SEC;
	des = checked_run(&config);
	assert_in_range(per_mille(des, 1), 697, 700);
	assert_in_range(per_mille(des, 2), 300, 302);
	des_free(des);
	des_config_exit(&config);
}

/* 1 to 1000 and back, of each, every 50 ms. */
static void test_steps(void **state)
{
	struct des_config config;
	unsigned int i, what;

	for (what = 0; what < 3; what++) {
		qos_config(&config, 4);
		config.length_ns = 2 * DES_SEC;
		set_share(&config, 1, what ? 300 : 0, 1000, 5);
		set_share(&config, 2, 0, 600, 1);
		for (i = 1; i < 40; i++) {
			struct des_action *action;

			action = des_config_act(&config, i * 50 * DES_MS,
						DES_SHARE, 0);
			if (what == 0)
				action->share.guarantee = i % 2 ? 1000 : 1;
			else if (what == 1)
				action->share.cap = i % 2 ? 1 : 1000;
			else
				action->share.weight = i % 2 ? 1000 : 1;
		}
		run_and_end(&config);
	}
}

/*
 * Alone with a cap that changes: whenever the new one lets it run it does, though
 * the change comes while it runs or while the old one held it.
 */
static void test_cap_changes(void **state)
{
	static const unsigned int caps[][2] = {
		{ 100, 1000 }, { 1000, 1 }, { 1, 500 }, { 50, 60 },
	};
	struct des_config config;
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(caps); k++) {
		qos_config(&config, 1);
		config.length_ns = 4 * DES_SEC;
		set_share(&config, 0, 0, caps[k][0], 1);
		for (i = 1; i < 20; i++)
			des_config_act(&config, i * (190 * DES_MS + 333 * DES_US),
				       DES_SHARE, 0)->share.cap = caps[k][i % 2];
		run_and_end(&config);
	}
}

/* What it had under another policy does not count against its cap. */
static void test_cap_begins(void **state)
{
	struct des_config config;
	unsigned int i;

	qos_config(&config, 2);
	config.length_ns = 4 * DES_SEC;
	config.params.slice_ns = 30 * DES_MS;
	set_share(&config, 0, 0, 10, 1);
	config.client[1].load.kind = DES_NONE;
	for (i = 1; i < 20; i++)
		des_config_act(&config, i * (190 * DES_MS + 333 * DES_US),
			       DES_PARAMS, 0)->params.policy =
			i % 2 ? &vgpu_policy_best_effort : &vgpu_policy_qos;
	run_and_end(&config);
}

static void test_slice(void **state)
{
	struct des_config config;
	unsigned int i;

	qos_config(&config, 5);
	config.length_ns = 4 * DES_SEC;
	config.params.slice_ns = DES_MS;
	set_share(&config, 0, 300, 1000, 1);
	set_share(&config, 1, 200, 200, 1);
	set_share(&config, 2, 100, 1000, 7);
	config.client[3].load = des_closed(300 * DES_US, 50 * DES_US, 1);
	set_share(&config, 3, 200, 1000, 1);
	for (i = 1; i < 20; i++)
		des_config_act(&config, i * 200 * DES_MS + i * 77 * DES_US,
			       DES_PARAMS, 0)->params.slice_ns =
			i % 2 ? 30 * DES_MS : DES_MS;
	run_and_end(&config);
}

/* Every 5 ms another policy: nothing is lost, and nobody waits for ever. */
static void test_policies(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	qos_config(&config, 4);
	set_share(&config, 0, 0, 1, 1);
	set_share(&config, 1, 500, 500, 1);
	config.client[2].load = des_closed(700 * DES_US, 90 * DES_US, 3);
	config.client[3].load = des_poisson(DES_MS, 4 * DES_MS, 2);
	for (i = 1; i < 199; i++)
		des_config_act(&config, i * 5 * DES_MS, DES_PARAMS, 0)
			->params.policy = sim_policy(i - 1);
	des = checked_run(&config);
	for (i = 0; i < 4; i++)
		assert_true(per_mille(des, i) > 10);
	des_free(des);
	des_config_exit(&config);
}

/* Throttled under qos, it runs at once under another policy. */
static void test_policy_while_throttled(void **state)
{
	struct des_config config;
	struct des *des;

	qos_config(&config, 1);
	set_share(&config, 0, 0, 1, 1);
	des_config_act(&config, 500 * DES_MS, DES_PARAMS, 0)->params.policy =
		&vgpu_policy_best_effort;
	des = checked_run(&config);
	assert_in_range(des_service_ns(des, 0, 0, 0, 500 * DES_MS), 1,
			6 * DES_MS);
	assert_in_range(des_service_ns(des, 0, 0, 501 * DES_MS, DES_SEC),
			498 * DES_MS, 499 * DES_MS);
	des_free(des);
	des_config_exit(&config);
}

/* Nobody notices anything for 3 s; p is that long then. After that, as before. */
static void test_jump(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;
	u64 ns;

	qos_config(&config, 4);
	config.length_ns = 60 * DES_SEC;
	for (i = 0; i < 4; i++)
		set_share(&config, i, 200, i == 3 ? 300 : 1000, 1);
	config.client[2].load = des_closed(300 * DES_US, 50 * DES_US, 1);
	des_config_act(&config, DES_SEC, DES_JUMP, 0)->jump_ns = 3 * DES_SEC;
	des = checked_run(&config);
	for (i = 0; i < 4; i++) {
		ns = des_service_ns(des, i, 0, 50 * DES_SEC, 60 * DES_SEC);
		assert_in_range(ns / (10 * DES_MS), 199, 310);
	}
	des_free(des);
	des_config_exit(&config);
}

/* An hour of sleep is no credit. */
static void test_sleepers_burst(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;
	u64 from_ns = 3600 * DES_SEC;

	qos_config(&config, 4);
	config.length_ns = from_ns + 500 * DES_MS;
	for (i = 0; i < 4; i++) {
		set_share(&config, i, 200, i ? 1000 : 400, 1);
		config.client[i].load.phase_ns = from_ns;
	}
	/* A little all the time, so that time passes for the policy. */
	config.client[3].load = des_poisson(100 * DES_US, 100 * DES_MS, 1);
	des = checked_run(&config);
	assert_true(des_service_ns(des, 0, 0, from_ns, des->end_ns) <
		    (500 * 400 / 1000 + 9) * DES_MS);
	des_free(des);
	des_config_exit(&config);
}

/* Closing, reset or quarantine shed neither debt nor cap. */
static void test_shed_debt(void **state)
{
	static const enum des_action_kind kinds[] = {
		DES_RESET, DES_STOP, DES_HOLD,
	};
	struct des_config config;
	unsigned int i, k;
	struct des *des;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		qos_config(&config, 3);
		config.length_ns = 2 * DES_SEC;
		set_share(&config, 0, 50, 100, 1000);
		set_share(&config, 1, 300, 1000, 1);
		for (i = 1; i < 660; i++) {
			u64 at_ns = i * 3 * DES_MS;

			des_config_act(&config, at_ns, kinds[k], 0);
			if (kinds[k] == DES_STOP)
				des_config_act(&config, at_ns + 10 * DES_US,
					       DES_START, 0);
			else if (kinds[k] == DES_HOLD)
				des_config_act(&config, at_ns + 10 * DES_US,
					       DES_UNHOLD, 0);
		}
		des = checked_run(&config);
		assert_in_range(per_mille(des, 0), 1, 104);
		des_free(des);
		des_config_exit(&config);
	}
}

/*
 * A client whose work stops again and again in the middle, because its device is
 * reset or because its memory is slow, waits for its neighbour's slice each time.
 * It must not have saved all of these waits up when it turns into a hog.
 */
static void test_stops_save_nothing(void **state)
{
	static const struct {
		u64 work_ns, stop_ns;
		bool holds;
		unsigned int times;
	} stops[] = {
		{ 83 * DES_US, 90 * DES_US, true, 1300 },
		{ 67 * DES_US, 249 * DES_US, false, 1240 },
		{ 67 * DES_US, 90 * DES_US, false, 1240 },
		{ 83 * DES_US, 150 * DES_US, true, 1300 },
		{ 1 * DES_US, 1 * DES_US, true, 1300 },
		{ 1 * DES_US, 1 * DES_US, false, 1300 },
	};
	struct des_config config;
	unsigned int i;
	u64 hog_ns;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		qos_config(&config, 2);
		config.params.slice_ns = DES_MS;
		hog_ns = stops[i].times * (DES_MS + stops[i].work_ns);
		config.length_ns = hog_ns + 800 * DES_MS;
		set_share(&config, 0, 500, 1000, 1);
		set_share(&config, 1, 500, 1000, 1);
		des_config_act(&config, hog_ns, DES_LOAD, 1)->load = des_busy();
		config.client[1].load.stall_every_ns = stops[i].work_ns;
		config.client[1].load.stall_ns = stops[i].stop_ns;
		config.client[1].load.stall_holds = stops[i].holds;
		run_and_end(&config);
	}
}

/* The same by many at once, each with a small guarantee. */
static void test_many_save_nothing(void **state)
{
	struct des_config config;
	unsigned int holds, i;

	for (holds = 0; holds < 2; holds++) {
		qos_config(&config, 32);
		config.params.slice_ns = DES_MS;
		config.length_ns = 3 * DES_SEC;
		config.switch_ns = 0;
		set_share(&config, 0, 504, 1000, 1);
		for (i = 1; i < 32; i++) {
			set_share(&config, i, 16, 1000, 1);
			config.client[i].load.stall_every_ns = DES_US;
			config.client[i].load.stall_ns = 90 * DES_US;
			config.client[i].load.stall_holds = holds;
			des_config_act(&config, 2 * DES_SEC, DES_LOAD,
				       i)->load = des_busy();
		}
		run_and_end(&config);
	}
}

/* All wake at the same time, again and again. */
static void test_1024_wake(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	qos_config(&config, 1024);
	config.length_ns = 3 * DES_SEC;
	config.params.slice_ns = DES_MS;
	for (i = 0; i < 1024; i++) {
		if (i < 1000)
			set_share(&config, i, 1, 1000, 1 + i % 7);
		config.client[i].load = des_frames(DES_MS, 1500 * DES_MS);
	}
	des = checked_run(&config);
	for (i = 0; i < 1024; i++)
		assert_int_equal(des->client[i].missed, 0);
	des_free(des);
	des_config_exit(&config);
}

/* Runs 0.9 of the preemption timeout over, each time; one, or all. */
static void test_overrunners(void **state)
{
	struct des_config config;
	unsigned int all, i;
	struct des *des;

	for (all = 0; all < 2; all++) {
		qos_config(&config, 4);
		config.length_ns = 10 * DES_SEC;
		for (i = 0; i < 4; i++) {
			set_share(&config, i, 250, 1000, 1);
			if (i && !all)
				continue;
			config.client[i].load.overrun_ns = 9 * DES_MS;
			config.client[i].load.overrun_always = true;
		}
		des = checked_run(&config);
		for (i = 0; i < 4; i++)
			assert_in_range(per_mille(des, i), 245, 255);
		assert_int_equal(des->engine[0].resets, 0);
		des_free(des);
		des_config_exit(&config);
	}
}

/*
 * All begin to overrun at once, when those with small guarantees have queued up
 * with deadlines that know nothing of it.
 */
static void test_overruns_begin(void **state)
{
	static const u64 overruns_ns[] = {
		9 * DES_MS, DES_MS, 100 * DES_US, 60 * DES_US,
	};
	struct des_config config;
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(overruns_ns); k++) {
		qos_config(&config, 32);
		config.length_ns = 10 * DES_SEC;
		config.params.slice_ns = DES_MS;
		for (i = 0; i < 32; i++) {
			struct des_load *load = &config.client[i].load;

			set_share(&config, i, i ? 3 : 907, 1000, 1);
			load->overrun_ns = overruns_ns[k];
			load->overrun_always = true;
			load->overrun_from_ns = DES_SEC + 70 * k * DES_MS;
		}
		run_and_end(&config);
	}
}

/* One whose jobs hang costs the others its resets, and they are charged. */
static void test_hangs(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	qos_config(&config, 4);
	config.length_ns = 10 * DES_SEC;
	for (i = 0; i < 4; i++)
		set_share(&config, i, 250, 1000, 1);
	config.client[0].load = des_closed(DES_MS, 0, 2);
	config.client[0].load.hang_one_in = 4;
	des = checked_run(&config);
	assert_true(des->engine[0].resets > 50);
	assert_int_equal(des->engine[0].resets, des->client[0].faulted);
	for (i = 0; i < 4; i++)
		assert_in_range(per_mille(des, i), 245, 255);
	des_free(des);
	des_config_exit(&config);
}

/* 20 us at a time, as fast as it can: no more than others, switches included. */
static void test_flood(void **state)
{
	struct des_config config;
	unsigned int depth;
	struct des *des;

	for (depth = 1; depth <= 8; depth += 7) {
		qos_config(&config, 3);
		config.length_ns = 2 * DES_SEC;
		set_share(&config, 0, 400, 1000, 1);
		config.client[0].load = des_closed(20 * DES_US,
						   depth == 1 ? 2 * DES_US : 0,
						   depth);
		set_share(&config, 1, 300, 1000, 1);
		des = checked_run(&config);
		assert_in_range(per_mille(des, 0), 395, 510);
		des_free(des);
		des_config_exit(&config);
	}
}

/* Periods at the slice, the cycle, the window, and a little beside. */
static void test_resonance(void **state)
{
	static const s64 besides[] = { -1000, -1, 0, 1, 1000, 50000 };
	struct des_config config;
	unsigned int base, i;
	u64 period_ns;

	for (base = 0; base < 3; base++)
		for (i = 0; i < ARRAY_SIZE(besides); i++) {
			qos_config(&config, 4);
			config.length_ns = 2 * DES_SEC;
			period_ns = config.params.slice_ns;
			if (base == 1)
				period_ns *= 4;
			else if (base == 2)
				period_ns = config.params.window_ns;
			period_ns += besides[i];
			set_share(&config, 0, 300, 1000, 1);
			config.client[0].load = des_frames(period_ns / 2,
							   period_ns);
			set_share(&config, 1, 300, 400, 1);
			config.client[1].load = des_frames(period_ns / 3,
							   period_ns);
			config.client[1].load.phase_ns = period_ns / 2;
			set_share(&config, 2, 200, 1000, 3);
			run_and_end(&config);
		}
}

/* Sleeps just before each slice ends, to be found new each time. */
static void test_dodger(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	for (i = 1; i < 100; i += 14) {
		qos_config(&config, 4);
		config.length_ns = 2 * DES_SEC;
		set_share(&config, 0, 250, 1000, 1);
		config.client[0].load = des_closed(config.params.slice_ns -
						   config.switch_ns -
						   i * DES_US, 30 * DES_US, 1);
		set_share(&config, 1, 250, 1000, 1);
		set_share(&config, 2, 250, 1000, 1);
		des = checked_run(&config);
		assert_in_range(per_mille(des, 0), 240, 320);
		des_free(des);
		des_config_exit(&config);
	}
}

/* gr, its own copy on ce0, gr again; others keep both busy. */
static void test_chain(void **state)
{
	struct des_load chain = des_closed(DES_MS, 0, 1);
	struct des_config config;
	unsigned int i;
	struct des *des;

	chain.nr_stages = 3;
	chain.stage[1] = (struct des_stage){ .engine = 1, .job_ns = DES_MS };
	chain.stage[2] = (struct des_stage){ .engine = 0, .job_ns = DES_MS };
	qos_config(&config, 5);
	config.nr_engines = 2;
	config.length_ns = 4 * DES_SEC;
	for (i = 0; i < 5; i++) {
		set_share(&config, i, 200, 1000, 1);
		config.client[i].load.stage[0].engine = i % 2;
	}
	config.client[0].load = chain;
	des = checked_run(&config);
	assert_true(des->client[0].completed > 100);
	/* Copies do not count against graphics. */
	assert_true(des->client[1].track[1].busy_ns > 2 * DES_SEC / 2);
	des_free(des);
	des_config_exit(&config);
}

/* Comes and goes every 5 ms; the others' guarantees hold. */
static void test_arrivals(void **state)
{
	struct des_config config;
	unsigned int i;

	qos_config(&config, 6);
	for (i = 0; i < 6; i++)
		set_share(&config, i, 160, 1000, 1 + i);
	for (i = 1; i < 199; i++)
		des_config_act(&config, i * 5 * DES_MS,
			       i % 2 ? DES_STOP : DES_START, i / 2 % 5);
	run_and_end(&config);
}

/* Of a guarantee of 250, what one gets that thinks so long after each job. */
static u64 thinker_per_mille(u64 job_ns, u64 think_ns)
{
	struct des_config config;
	unsigned int i;
	struct des *des;
	u64 got;

	qos_config(&config, 4);
	config.length_ns = 2 * DES_SEC;
	for (i = 0; i < 4; i++)
		set_share(&config, i, 250, 1000, 1);
	config.client[0].load = des_closed(job_ns, think_ns, 1);
	des = checked_run(&config);
	got = per_mille(des, 0);
	des_free(des);
	des_config_exit(&config);
	return got;
}

/*
 * Gaps of up to linger get the guarantee, gaps of twice that what is left over.
 * Between, each us costs little, and the promise is the part of the guarantee
 * that the distance to twice linger is of linger.
 */
static void test_thinking_longer(void **state)
{
	static const u64 jobs_ns[] = { 20 * DES_US, 100 * DES_US, 500 * DES_US };
	u64 us, got, last, part;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jobs_ns); i++) {
		last = thinker_per_mille(jobs_ns[i], VGPU_LINGER_US * DES_US);
		got = thinker_per_mille(jobs_ns[i], VGPU_LINGER_US * DES_US + 1);
		assert_in_range(last, jobs_ns[i] == 20 * DES_US ? 160 : 248, 251);
		assert_in_range(got, last - 2, last + 2);
		for (us = VGPU_LINGER_US; us <= 2 * VGPU_LINGER_US; us += 2) {
			got = thinker_per_mille(jobs_ns[i], us * DES_US);
			check_that(got <= last + 10 && got + 40 >= last,
				   "%llu at %llu us, before %llu", got, us, last);
			part = min(jobs_ns[i] * 1000 / (jobs_ns[i] + us * DES_US),
				   250ULL) *
			       (2 * VGPU_LINGER_US - us) / VGPU_LINGER_US;
			/* 3 Q are 3 per mille of 2 s. */
			check_that(got + 3 >= part, "%llu at %llu us, not %llu",
				   got, us, part);
			last = got;
		}
	}
}

/* Many small ones that get their guarantees by short turns do not hold the engine. */
static void test_no_linger_in_vain(void **state)
{
	static const u64 thinks_ns[] = {
		101 * DES_US, 150 * DES_US, 190 * DES_US, 300 * DES_US,
	};
	struct des_config config;
	unsigned int i, k;
	struct des *des;

	for (k = 0; k < ARRAY_SIZE(thinks_ns); k++) {
		qos_config(&config, 32);
		config.params.slice_ns = DES_MS;
		set_share(&config, 0, 504, 1000, 1);
		for (i = 1; i < 32; i++) {
			set_share(&config, i, 16, 1000, 1);
			config.client[i].load = des_closed(100 * DES_US,
							   thinks_ns[k], 1);
			config.client[i].load.phase_ns = i * 600 * DES_US;
		}
		des = checked_run(&config);
		assert_in_range(des->engine[0].linger_ns, 0, 5 * DES_MS);
		assert_in_range(per_mille(des, 0), 500, 520);
		des_free(des);
		des_config_exit(&config);
	}
}

/* A kthread that is late costs time, but never a wake-up. */
static void test_late_kthread(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	for (i = 1; i <= 100; i++) {
		des_config_random(&config, &vgpu_policy_qos, i);
		config.kick_ns = 2 * DES_MS;
		config.drain = true;
		des = des_run(&config);
		assert_false(des->stuck);
		des_free(des);
		des_config_exit(&config);
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
		cmocka_unit_test(test_shed_debt),
		cmocka_unit_test(test_stops_save_nothing),
		cmocka_unit_test(test_many_save_nothing),
		cmocka_unit_test(test_1024_wake),
		cmocka_unit_test(test_overrunners),
		cmocka_unit_test(test_overruns_begin),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_resonance),
		cmocka_unit_test(test_dodger),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_thinking_longer),
		cmocka_unit_test(test_no_linger_in_vain),
		cmocka_unit_test(test_late_kthread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
