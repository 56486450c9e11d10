// SPDX-License-Identifier: GPL-2.0
/* The simulator of des.h itself: what it records, and T1 to T3 on its records. */
#include "vgpu_test.h"

#include "des_test.h"

/* A client that waits for each job, then thinks: all that it does can be said beforehand. */
static void test_record(void **state)
{
	struct des_config config;
	struct des_track *track;
	struct des *des;

	des_config_init(&config, &vgpu_policy_best_effort, 1);
	config.length_ns = 10 * MS;
	config.poll_ns = 30 * US;
	config.client[0].load = des_closed(400 * US, 100 * US, 1);
	des = des_run(&config);
	track = &des->client[0].track[0];
	/* The first run restores the client's state; after that the engine has it still. */
	assert_int_equal(des->client[0].submitted, 20);
	assert_int_equal(des->client[0].completed, 20);
	assert_int_equal(des->client[0].left, 0);
	assert_int_equal(track->spans.nr, 20);
	assert_int_equal(track->spans.at[1].start_ns, 505 * US);
	assert_int_equal(track->spans.at[1].end_ns, 905 * US);
	assert_int_equal(track->waits.nr, 20);
	assert_int_equal(track->edges.nr, 40);
	assert_int_equal(des->engine[0].runs.at[0].idle_ns, 30 * US);
	assert_int_equal(des_service_ns(des, 0, 0, 0, MS), 805 * US);
	assert_int_equal(des_runnable_ns(des, 0, 0, 0, MS), 805 * US);
	des_test_end(des, &config);
}

/* Overruns are as long as they were ordered, and p is the largest of them. */
static void test_overruns(void **state)
{
	struct des_config config;
	struct des *des;
	size_t i;

	des_config_init(&config, &vgpu_policy_best_effort, 2);
	config.client[0].load.overrun_ns = 700 * US;
	config.client[0].load.overrun_always = true;
	config.client[1].load = des_closed(10 * MS, 0, 1);
	config.client[1].load.chunk_ns = 300 * US;
	config.save_ns = 10 * US;
	des = des_run(&config);
	assert_int_equal(des_overrun_ns(des, 0), 710 * US);
	for (i = 0; i + 1 < des->engine[0].runs.nr; i++) {
		const struct des_run *run = &des->engine[0].runs.at[i];
		u64 over_ns = run->end_ns - run->deadline_ns;

		if (run->client == 0)
			assert_int_equal(over_ns, 710 * US);
		else if (run->end_ns > run->deadline_ns)
			assert_in_range(over_ns, 1, 310 * US);
	}
	des_test_end(des, &config);
}

static void scan_all(const struct des_config *config, s64 bound_ns, bool holds)
{
	struct des *des = des_run(config);
	bool held = true;
	unsigned int i;

	for (i = 0; i < config->nr_clients; i++) {
		struct des_scan scan;

		des_scan(des, i, 0, 50 * MS, des->end_ns, 1, 4, &scan);
		held &= scan.lack_ns <= bound_ns && scan.surplus_ns <= bound_ns;
	}
	assert_int_equal(held, holds);
	des_free(des);
}

/* T1 and T3 hold under equal_share, and the checks find cases in which they do not. */
static void test_shares(void **state)
{
	struct des_config config;

	des_config_init(&config, &vgpu_policy_equal_share, 4);
	scan_all(&config, config.params.slice_ns, true);
	config.client[3].load = des_closed(100 * US, MS, 1);
	scan_all(&config, config.params.slice_ns, false);
	config.params.policy = &vgpu_policy_best_effort;
	config.client[3].load = des_busy();
	scan_all(&config, 2 * config.params.slice_ns, true);
	config.client[3].load = des_closed(100 * US, MS, 1);
	scan_all(&config, 2 * config.params.slice_ns, false);
	des_config_exit(&config);
}

/* By how much the jobs and the runs of a client move if its neighbours work. */
static void shifts(const struct vgpu_sched_policy *policy, u64 *jobs_ns, u64 *runs_ns)
{
	struct des_config config;
	struct des *busy, *quiet;
	unsigned int i;

	des_config_init(&config, policy, 4);
	config.client[0].load = des_closed(500 * US, 200 * US, 1);
	busy = des_run(&config);
	for (i = 1; i < 4; i++)
		config.client[i].load.kind = DES_NONE;
	quiet = des_run(&config);
	*jobs_ns = des_shift_jobs_ns(busy, quiet, 0);
	*runs_ns = des_shift_runs_ns(busy, 0, quiet, 0, 0);
	des_free(busy);
	des_free(quiet);
	des_config_exit(&config);
}

/* T2: under equal_share all that a client can notice of its neighbours is the cost of switches. */
static void test_neighbours(void **state)
{
	u64 jobs_ns, runs_ns;

	shifts(&vgpu_policy_equal_share, &jobs_ns, &runs_ns);
	assert_in_range(jobs_ns, 0, MS);
	shifts(&vgpu_policy_best_effort, &jobs_ns, &runs_ns);
	assert_true(jobs_ns == DES_NEVER);
	assert_true(runs_ns == DES_NEVER);
}

/* A client's work comes at the same times with and without the other client. */
static void test_remove(void **state)
{
	struct des_config config, less;
	struct des *a, *b;
	size_t i;

	des_config_init(&config, &vgpu_policy_best_effort, 2);
	config.client[1].load = des_poisson(10 * US, MS, 1);
	des_config_act(&config, MS, DES_STOP, 0);
	des_config_act(&config, 500 * MS, DES_RESET, 1);
	des_config_copy(&less, &config);
	des_config_remove_client(&less, 0);
	assert_int_equal(less.nr_actions, 1);
	assert_int_equal(less.action[0].client, 0);
	a = des_run(&config);
	b = des_run(&less);
	assert_int_equal(a->client[1].submitted, b->client[0].submitted);
	assert_true(a->client[1].jobs.nr > 800);
	/* Until the reset: how much that drops depends on the other client. */
	for (i = 0; a->client[1].jobs.at[i].submit_ns < 499 * MS; i++)
		assert_int_equal(a->client[1].jobs.at[i].submit_ns,
				 b->client[0].jobs.at[i].submit_ns);
	des_free(a);
	des_free(b);
	des_config_exit(&config);
	des_config_exit(&less);
}

/* Times between Poisson arrivals have mean and variance of an exponential distribution. */
static void test_poisson(void **state)
{
	double sum = 0, squares = 0, mean, variance;
	struct des_config config;
	struct des *des;
	size_t i, nr;

	des_config_init(&config, &vgpu_policy_best_effort, 1);
	config.length_ns = 20 * SEC;
	config.client[0].load = des_poisson(1, MS, 1);
	des = des_run(&config);
	nr = des->client[0].jobs.nr - 1;
	for (i = 0; i < nr; i++) {
		double gap = des->client[0].jobs.at[i + 1].submit_ns -
			     des->client[0].jobs.at[i].submit_ns;

		sum += gap;
		squares += gap * gap;
	}
	mean = sum / nr;
	variance = squares / nr - mean * mean;
	assert_true(mean > 0.95e6 && mean < 1.05e6);
	assert_true(variance > 0.9e12 && variance < 1.1e12);
	des_test_end(des, &config);
}

/*
 * Two engines of three are reset all the time, for 20 ms each time. A client that has the third
 * one for itself notices nothing of that, whatever the policy.
 */
static void test_resets(void **state)
{
	const struct vgpu_sched_policy *policy;
	struct des_config config;
	struct des *busy, *quiet;
	unsigned int i, j;

	for (i = 0; (policy = vgpu_sched_policy_at(i)); i++) {
		des_config_init(&config, policy, 3);
		config.length_ns = 5 * SEC;
		config.nr_engines = 3;
		config.reset_ns = 20 * MS;
		config.client[0].load = des_closed(100 * US, 3 * MS, 1);
		for (j = 1; j < 3; j++) {
			config.client[j].load = des_closed(300 * US, MS, 1);
			config.client[j].load.hang_one_in = 2;
			config.client[j].load.stage[0].engine = j;
		}
		busy = des_run(&config);
		for (j = 1; j < 3; j++) {
			assert_in_range(busy->engine[j].resets, 5, 300);
			config.client[j].load.kind = DES_NONE;
		}
		quiet = des_run(&config);
		assert_int_equal(des_shift_runs_ns(busy, 0, quiet, 0, 0), 0);
		assert_int_equal(busy->client[0].completed, quiet->client[0].completed);
		des_free(busy);
		des_free(quiet);
		des_config_exit(&config);
	}
}

static struct vgpu_entity *pick_nobody(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	pick->until_ns = now_ns - rq->slice_ns % 2;
	return NULL;
}

/* A policy that chooses nobody, to be asked again now or in the past, does not stop the world. */
static void test_until_now(void **state)
{
	struct vgpu_sched_policy policy = vgpu_policy_best_effort;
	struct des_config config;
	struct des *des;
	unsigned int i;

	policy.pick = pick_nobody;
	for (i = 0; i < 2; i++) {
		des_config_init(&config, &policy, 1);
		config.params.slice_ns += i;
		config.length_ns = 100 * MS;
		des = des_run(&config);
		assert_int_equal(des->engine[0].runs.nr, 0);
		/* Every 10 us. */
		assert_in_range(des->events, 10000, 11000);
		des_test_end(des, &config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_overruns),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_remove),
		cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_until_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
