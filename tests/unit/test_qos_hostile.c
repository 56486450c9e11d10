// SPDX-License-Identifier: GPL-2.0
/*
 * qos where it is hard: clients that try to get more than their share, or to take from others what
 * they have a right to, knowingly or not.
 */
#include "vgpu_test.h"

#include "des_test.h"

/* A client gains nothing by being closed, reset or held: it keeps its debt and its cap. */
static void test_shed_debt(void **state)
{
	static const enum des_action_kind kinds[] = { DES_RESET, DES_STOP, DES_HOLD };
	struct des_config config;
	unsigned int i, k;
	struct des *des;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		des_test_qos(&config, 3);
		config.length_ns = 2 * SEC;
		des_test_share(&config, 0, 50, 100, 1000);
		des_test_share(&config, 1, 300, 1000, 1);
		for (i = 1; i < 660; i++) {
			u64 at_ns = i * 3 * MS;

			des_config_act(&config, at_ns, kinds[k], 0);
			if (kinds[k] == DES_STOP)
				des_config_act(&config, at_ns + 10 * US, DES_START, 0);
			else if (kinds[k] == DES_HOLD)
				des_config_act(&config, at_ns + 10 * US, DES_UNHOLD, 0);
		}
		des = des_test_run(&config);
		assert_in_range(des_test_per_mille(des, 0), 1, 104);
		des_test_end(des, &config);
	}
}

/*
 * A client whose work stops again and again in the middle, because its device is reset or because
 * its memory is slow, waits for its neighbour's slice each time. It must not have saved up all of
 * these waits when it has work all the time later.
 */
static void test_stops_save_nothing(void **state)
{
	static const struct {
		u64 work_ns, stop_ns;
		bool holds;
		unsigned int times;
	} stops[] = {
		{ 83 * US, 90 * US, true, 1300 },
		{ 67 * US, 249 * US, false, 1240 },
		{ 67 * US, 90 * US, false, 1240 },
		{ 83 * US, 150 * US, true, 1300 },
		{ 1 * US, 1 * US, true, 1300 },
		{ 1 * US, 1 * US, false, 1300 },
	};
	struct des_config config;
	unsigned int i;
	u64 hog_ns;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		des_test_qos(&config, 2);
		config.params.slice_ns = MS;
		hog_ns = stops[i].times * (MS + stops[i].work_ns);
		config.length_ns = hog_ns + 800 * MS;
		des_test_share_all(&config, 500, 1000, 1);
		des_config_act(&config, hog_ns, DES_LOAD, 1)->load = des_busy();
		config.client[1].load.stall_every_ns = stops[i].work_ns;
		config.client[1].load.stall_ns = stops[i].stop_ns;
		config.client[1].load.stall_holds = stops[i].holds;
		des_test_once(&config);
	}
}

/* Many such clients at once, each with a small guarantee, have not saved up their waits either. */
static void test_many_save_nothing(void **state)
{
	struct des_config config;
	unsigned int holds, i;

	for (holds = 0; holds < 2; holds++) {
		des_test_qos(&config, 32);
		config.params.slice_ns = MS;
		config.length_ns = 3 * SEC;
		config.switch_ns = 0;
		des_test_share(&config, 0, 504, 1000, 1);
		for (i = 1; i < 32; i++) {
			des_test_share(&config, i, 16, 1000, 1);
			config.client[i].load.stall_every_ns = US;
			config.client[i].load.stall_ns = 90 * US;
			config.client[i].load.stall_holds = holds;
			des_config_act(&config, 2 * SEC, DES_LOAD, i)->load = des_busy();
		}
		des_test_once(&config);
	}
}

/* One client, or all, overruns by 0.9 of the preemption timeout in each run. */
static void test_overrunners(void **state)
{
	struct des_config config;
	unsigned int all, i;
	struct des *des;

	for (all = 0; all < 2; all++) {
		des_test_qos(&config, 4);
		config.length_ns = 10 * SEC;
		for (i = 0; i < 4; i++) {
			des_test_share(&config, i, 250, 1000, 1);
			if (i && !all)
				continue;
			config.client[i].load.overrun_ns = 9 * MS;
			config.client[i].load.overrun_always = true;
		}
		des = des_test_run(&config);
		for (i = 0; i < 4; i++)
			assert_in_range(des_test_per_mille(des, i), 245, 255);
		assert_int_equal(des->engine[0].resets, 0);
		des_test_end(des, &config);
	}
}

/*
 * All clients begin to overrun at once, when those with small guarantees have queued up with
 * deadlines that were counted without overruns.
 */
static void test_overruns_begin(void **state)
{
	static const u64 overruns_ns[] = { 9 * MS, MS, 100 * US, 60 * US };
	struct des_config config;
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(overruns_ns); k++) {
		des_test_qos(&config, 32);
		config.length_ns = 10 * SEC;
		config.params.slice_ns = MS;
		for (i = 0; i < 32; i++) {
			struct des_load *load = &config.client[i].load;

			des_test_share(&config, i, i ? 3 : 907, 1000, 1);
			load->overrun_ns = overruns_ns[k];
			load->overrun_always = true;
			load->overrun_from_ns = SEC + 70 * k * MS;
		}
		des_test_once(&config);
	}
}

/* A client whose jobs hang costs the others time by its resets, and is charged for these. */
static void test_hangs(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	des_test_qos(&config, 4);
	config.length_ns = 10 * SEC;
	des_test_share_all(&config, 250, 1000, 1);
	config.client[0].load = des_closed(MS, 0, 2);
	config.client[0].load.hang_one_in = 4;
	des = des_test_run(&config);
	assert_true(des->engine[0].resets > 50);
	assert_int_equal(des->engine[0].resets, des->client[0].faulted);
	for (i = 0; i < 4; i++)
		assert_in_range(des_test_per_mille(des, i), 245, 255);
	des_test_end(des, &config);
}

/* A client with jobs of 20 us, as many as it can, gets no more by that, switches included. */
static void test_flood(void **state)
{
	struct des_config config;
	unsigned int depth;
	struct des *des;

	for (depth = 1; depth <= 8; depth += 7) {
		des_test_qos(&config, 3);
		config.length_ns = 2 * SEC;
		des_test_share(&config, 0, 400, 1000, 1);
		config.client[0].load = des_closed(20 * US, depth == 1 ? 2 * US : 0, depth);
		des_test_share(&config, 1, 300, 1000, 1);
		des = des_test_run(&config);
		assert_in_range(des_test_per_mille(des, 0), 395, 510);
		des_test_end(des, &config);
	}
}

/* Clients whose period is that of the slice, the cycle or the window, or a little beside it. */
static void test_resonance(void **state)
{
	static const s64 besides[] = { -1000, -1, 0, 1, 1000, 50000 };
	struct des_config config;
	unsigned int base, i;
	u64 period_ns;

	for (base = 0; base < 3; base++)
		for (i = 0; i < ARRAY_SIZE(besides); i++) {
			des_test_qos(&config, 4);
			config.length_ns = 2 * SEC;
			period_ns = config.params.slice_ns;
			if (base == 1)
				period_ns *= 4;
			else if (base == 2)
				period_ns = config.params.window_ns;
			period_ns += besides[i];
			des_test_share(&config, 0, 300, 1000, 1);
			config.client[0].load = des_frames(period_ns / 2, period_ns);
			des_test_share(&config, 1, 300, 400, 1);
			config.client[1].load = des_frames(period_ns / 3, period_ns);
			config.client[1].load.phase_ns = period_ns / 2;
			des_test_share(&config, 2, 200, 1000, 3);
			des_test_once(&config);
		}
}

/* A client that sleeps just before each of its slices ends, to be taken for a new one. */
static void test_dodger(void **state)
{
	struct des_config config;
	unsigned int i;
	struct des *des;

	for (i = 1; i < 100; i += 14) {
		des_test_qos(&config, 4);
		config.length_ns = 2 * SEC;
		des_test_share(&config, 0, 250, 1000, 1);
		config.client[0].load = des_closed(config.params.slice_ns - config.switch_ns -
						   i * US, 30 * US, 1);
		des_test_share(&config, 1, 250, 1000, 1);
		des_test_share(&config, 2, 250, 1000, 1);
		des = des_test_run(&config);
		assert_in_range(des_test_per_mille(des, 0), 240, 320);
		des_test_end(des, &config);
	}
}

/* What a client with a guarantee of 250 gets that thinks for @think_ns after each job. */
static u64 thinker_per_mille(u64 job_ns, u64 think_ns)
{
	struct des_config config;
	struct des *des;
	u64 got;

	des_test_qos(&config, 4);
	config.length_ns = 2 * SEC;
	des_test_share_all(&config, 250, 1000, 1);
	config.client[0].load = des_closed(job_ns, think_ns, 1);
	des = des_test_run(&config);
	got = des_test_per_mille(des, 0);
	des_test_end(des, &config);
	return got;
}

/*
 * A client whose gaps are not longer than linger_us gets its guarantee, one whose gaps are twice as
 * long what is left over. Between these, a gap longer by a microsecond costs little, and the part
 * of the guarantee that it gets at least falls from all of it to nothing in proportion.
 */
static void test_thinking_longer(void **state)
{
	static const u64 jobs_ns[] = { 20 * US, 100 * US, 500 * US };
	u64 us, got, last, part;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jobs_ns); i++) {
		last = thinker_per_mille(jobs_ns[i], VGPU_LINGER_US * US);
		got = thinker_per_mille(jobs_ns[i], VGPU_LINGER_US * US + 1);
		assert_in_range(last, jobs_ns[i] == 20 * US ? 160 : 248, 251);
		assert_in_range(got, last - 2, last + 2);
		for (us = VGPU_LINGER_US; us <= 2 * VGPU_LINGER_US; us += 2) {
			got = thinker_per_mille(jobs_ns[i], us * US);
			check_that(got <= last + 10 && got + 40 >= last,
				   "%llu at %llu us, before %llu", got, us, last);
			part = min(jobs_ns[i] * 1000 / (jobs_ns[i] + us * US), 250ULL) *
			       (2 * VGPU_LINGER_US - us) / VGPU_LINGER_US;
			/* 3 Q are 3 per mille of 2 s. */
			check_that(got + 3 >= part, "%llu at %llu us, not %llu", got, us, part);
			last = got;
		}
	}
}

/*
 * Client 0 thinks after each job. Client 1, which has the rest of the guarantees, works for
 * @work_ns, stalls for @away_ns, and is back: it gets no more than client 0's promise leaves.
 */
static void check_visits(unsigned int guarantee, u64 job_ns, u64 think_ns, u64 work_ns,
			 u64 away_ns)
{
	struct des_config config;
	struct des *des;
	u64 part;

	des_test_qos(&config, 2);
	config.length_ns = 2 * SEC;
	des_test_share(&config, 0, guarantee, 1000, 1);
	config.client[0].load = des_closed(job_ns, think_ns, 1);
	des_test_share(&config, 1, 1000 - guarantee, 1000, 1);
	config.client[1].load.stall_every_ns = work_ns;
	config.client[1].load.stall_ns = away_ns;
	des = des_test_run(&config);
	/* 3 Q are 3 per mille of 2 s. */
	part = min(guarantee, job_ns * 1000 / (job_ns + think_ns));
	check_that(des_test_per_mille(des, 1) <= 1003 - part, "%llu beside %llu",
		   des_test_per_mille(des, 1), part);
	des_test_end(des, &config);
}

/*
 * A client that comes again and again for a short time, mostly with the earlier deadline, takes
 * time from one that thinks. The latter cannot make all of that good while it is alone, as it has
 * no more work then. But what the client that comes gets is bounded.
 */
static void test_visits(void **state)
{
	u64 seed = test_seed();
	unsigned int i;

	/* Alone, client 0 uses 361 per mille of the engine: less than its guarantee. */
	check_visits(379, 33424, 59 * US, 1884444, 17870647);
	/* Here that is 553 and 911 per mille: more than the guarantee, but not by enough. */
	check_visits(457, 118 * US, 95 * US, 1828 * US, 3323 * US);
	check_visits(732, 921 * US, 89 * US, 1318 * US, 2052 * US);
	for (i = 0; i < 200; i++) {
		unsigned int guarantee = random_range(&seed, 1, 999);
		u64 job_ns = random_range(&seed, 1, 1 << random_range(&seed, 1, 11)) * US;

		check_visits(guarantee, min(job_ns, 2 * MS),
			     random_range(&seed, 1, VGPU_LINGER_US * US - 1),
			     random_range(&seed, 50 * US, 4 * MS),
			     random_range(&seed, 1, 1 << random_range(&seed, 1, 14)) * US);
	}
}

/* The engine does not wait for many small clients that get their guarantees by short turns. */
static void test_no_linger_in_vain(void **state)
{
	static const u64 thinks_ns[] = { 101 * US, 150 * US, 190 * US, 300 * US };
	struct des_config config;
	unsigned int i, k;
	struct des *des;

	for (k = 0; k < ARRAY_SIZE(thinks_ns); k++) {
		des_test_qos(&config, 32);
		config.params.slice_ns = MS;
		des_test_share(&config, 0, 504, 1000, 1);
		for (i = 1; i < 32; i++) {
			des_test_share(&config, i, 16, 1000, 1);
			config.client[i].load = des_closed(100 * US, thinks_ns[k], 1);
			config.client[i].load.phase_ns = i * 600 * US;
		}
		des = des_test_run(&config);
		assert_in_range(des->engine[0].linger_ns, 0, 5 * MS);
		assert_in_range(des_test_per_mille(des, 0), 500, 520);
		des_test_end(des, &config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shed_debt),
		cmocka_unit_test(test_stops_save_nothing),
		cmocka_unit_test(test_many_save_nothing),
		cmocka_unit_test(test_overrunners),
		cmocka_unit_test(test_overruns_begin),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_resonance),
		cmocka_unit_test(test_dodger),
		cmocka_unit_test(test_thinking_longer),
		cmocka_unit_test(test_visits),
		cmocka_unit_test(test_no_linger_in_vain),
	};

	return cmocka_run_group_tests_name("qos_hostile", tests, NULL, NULL);
}
