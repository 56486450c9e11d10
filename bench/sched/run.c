// SPDX-License-Identifier: GPL-2.0
/* See run.h. */
#include <stdlib.h>

#include "run.h"

/* So many clients of a kind have their demands measured; the others have the same demands. */
#define ALONE_MAX	8

static void case_params(const struct bench_case *bcase, const struct vgpu_sched_policy *policy,
			struct des_config *config)
{
	const struct bench_scenario *scenario = bcase->scenario;

	config->seed = bcase->seed;
	config->length_ns = scenario->length_ns;
	config->nr_engines = bcase->nr_engines;
	config->params.policy = policy;
	config->params.slice_ns = scenario->slice_ns ?: BENCH_SLICE_NS;
	config->params.window_ns = VGPU_WINDOW_NS;
	config->params.preempt_timeout_us = 10000;
	config->params.linger_us = VGPU_LINGER_US;
	config->params.nr_slots = bcase->nr_slots;
	config->switch_ns = BENCH_SWITCH_NS;
	config->save_ns = 0;
	config->poll_ns = BENCH_POLL_NS;
	config->kick_ns = BENCH_KICK_NS;
	config->reset_ns = BENCH_RESET_NS;
}

static void case_clients(const struct bench_scenario *scenario, struct des_config *config)
{
	const struct bench_kind *kind = scenario->kind;
	unsigned int i, j, at = 0;

	for (i = 0; i < BENCH_KINDS && kind[i].nr; i++) {
		for (j = 0; j < kind[i].nr; j++, at++) {
			struct des_client_config *client = &config->client[at];

			client->id = at;
			client->load = kind[i].load;
			if (!client->load.overrun_ns) {
				client->load.overrun_ns = BENCH_LATE_NS;
				client->load.overrun_always = true;
			}
			client->share.guarantee = kind[i].guarantee;
			client->share.cap = kind[i].cap ?: VGPU_PER_MILLE;
			client->share.weight = kind[i].weight ?: 1;
		}
	}
	if (scenario->act)
		scenario->act(config);
}

/**
 * bench_cooperative() - make engines run jobs to their end, as GVT-g does
 * @config: configuration; the actions and the loads of all clients are changed
 */
void bench_cooperative(struct des_config *config)
{
	unsigned int i, j;

	config->params.preempt_timeout_us = VGPU_PREEMPT_TIMEOUT_MAX_US;
	for (i = 0; i < config->nr_clients; i++) {
		struct des_load *load = &config->client[i].load;

		for (j = 0; j < load->nr_stages; j++)
			load->chunk_ns = max3(load->chunk_ns, load->stage[j].job_ns,
					      load->stage[j].job_max_ns);
	}
	for (i = 0; i < config->nr_actions; i++)
		config->action[i].params.preempt_timeout_us =
			VGPU_PREEMPT_TIMEOUT_MAX_US;
}

/**
 * bench_case_config() - the simulator's configuration of a case
 * @bcase:  the case
 * @policy: policy to run it under
 * @config: set to the configuration; the caller frees it by des_config_exit()
 */
void bench_case_config(const struct bench_case *bcase, const struct vgpu_sched_policy *policy,
		       struct des_config *config)
{
	unsigned int i;

	des_config_init(config, policy, bcase->nr);
	case_params(bcase, policy, config);
	case_clients(bcase->scenario, config);
	for (i = 0; i < bcase->nr; i++)
		config->client[i].share = bcase->share[i];
	if (policy == &bench_policy_gvt_like) {
		bench_cooperative(config);
		for (i = 0; i < bcase->nr; i++)
			config->client[i].share.weight = bcase->gvt_weight[i];
	}
}

/* Measures what the client gets of engines that it has for itself. */
static void case_alone(struct bench_case *bcase, const struct des_config *all, unsigned int index)
{
	struct des_config config;
	struct des *des;
	unsigned int i;

	des_config_init(&config, &vgpu_policy_best_effort, 1);
	case_params(bcase, &vgpu_policy_best_effort, &config);
	config.client[0] = all->client[index];
	config.client[0].stopped = false;
	des = des_run(&config);
	for (i = 0; i < bcase->nr_engines; i++)
		bcase->demand[i][index] =
			(double)des->client[0].track[i].busy_ns / des->end_ns;
	des_free(des);
	des_config_exit(&config);
}

static void case_demand(struct bench_case *bcase, const struct des_config *all)
{
	unsigned int i, j, first = 0, known;

	for (i = 0; i < bcase->nr; i++) {
		if (i && bcase->group[i] != bcase->group[i - 1])
			first = i;
		if (i - first < ALONE_MAX) {
			case_alone(bcase, all, i);
			continue;
		}
		known = first + (i - first) % ALONE_MAX;
		for (j = 0; j < bcase->nr_engines; j++)
			bcase->demand[j][i] = bcase->demand[j][known];
	}
}

static void case_shares(struct bench_case *bcase)
{
	struct due_claim *claims = bench_alloc(bcase->nr * sizeof(*claims));
	struct vgpu_share *shares = bench_alloc(bcase->nr * sizeof(*shares));
	unsigned int i;

	for (i = 0; i < bcase->nr; i++) {
		claims[i] = bench_claim(&bcase->share[i]);
		shares[i] = bcase->share[i];
	}
	bcase->nr_slots = bench_due_slots(claims, shares, bcase->nr);
	for (i = 0; i < bcase->nr; i++) {
		bcase->share[i].first_slot = shares[i].first_slot;
		bcase->share[i].nr_slots = shares[i].nr_slots;
		bcase->gvt_weight[i] = shares[i].weight;
	}
	free(claims);
	free(shares);
}

/**
 * bench_case_create() - make ready what runs of a scenario under all policies share
 * @scenario: the scenario
 * @seed:     seed of all that is random in the runs
 *
 * Return: the case, which the caller frees by bench_case_destroy().
 */
struct bench_case *bench_case_create(const struct bench_scenario *scenario, u64 seed)
{
	struct bench_case *bcase = bench_alloc(sizeof(*bcase));
	struct des_config config;
	unsigned int i, j, at = 0;

	bcase->scenario = scenario;
	bcase->seed = seed;
	bcase->nr_engines = scenario->nr_engines ?: 1;
	for (i = 0; i < BENCH_KINDS; i++)
		bcase->nr += scenario->kind[i].nr;
	bcase->group = bench_alloc(bcase->nr * sizeof(*bcase->group));
	bcase->share = bench_alloc(bcase->nr * sizeof(*bcase->share));
	bcase->gvt_weight = bench_alloc(bcase->nr * sizeof(*bcase->gvt_weight));
	for (i = 0; i < bcase->nr_engines; i++)
		bcase->demand[i] = bench_alloc(bcase->nr * sizeof(double));
	for (i = 0; i < BENCH_KINDS; i++)
		for (j = 0; j < scenario->kind[i].nr; j++)
			bcase->group[at++] = i;

	des_config_init(&config, &vgpu_policy_best_effort, bcase->nr);
	case_params(bcase, &vgpu_policy_best_effort, &config);
	case_clients(scenario, &config);
	for (i = 0; i < bcase->nr; i++)
		bcase->share[i] = config.client[i].share;
	case_shares(bcase);
	case_demand(bcase, &config);
	des_config_exit(&config);
	return bcase;
}

void bench_case_destroy(struct bench_case *bcase)
{
	unsigned int i;

	for (i = 0; i < bcase->nr_engines; i++)
		free(bcase->demand[i]);
	free(bcase->gvt_weight);
	free(bcase->share);
	free(bcase->group);
	free(bcase);
}

/*
 * Holds any policy against the promises of qos: the checkers look at what was recorded under qos
 * with the shares that were set, so the record is made to say that. Where the engine runs jobs to
 * their end, the bounds are those of the overruns under the other policies.
 */
static void case_check(const struct bench_case *bcase, struct des *des,
		       struct bench_result *result)
{
	struct des_report report;
	unsigned int i;

	des->params.at[0].params.policy = &vgpu_policy_qos;
	for (i = 0; i < bcase->nr; i++)
		des->client[i].shares.at[0].share = bcase->share[i];
	for (i = 0; i < bcase->nr_engines; i++)
		if (bcase->overrun_ns[i])
			des->engine[i].overrun_ns = min(bcase->overrun_ns[i],
							des->engine[i].overrun_ns);
	des_check(des, &report);
	for (i = 0; i < BENCH_PROMISES; i++) {
		result->violations[i] = report.violations[i];
		result->checked[i] = report.checked[i];
		result->bound_used[i] = report.use[i] / 1000.0;
	}
	if (report.violations[DES_WALL] || report.violations[DES_JOBS])
		bench_die("%s, %s: the simulator does not add up: %llu times wall, %llu times jobs",
			  result->scenario, result->policy,
			  (unsigned long long)report.violations[DES_WALL],
			  (unsigned long long)report.violations[DES_JOBS]);
}

/**
 * bench_case_run() - run a case under a policy
 * @bcase:  the case
 * @policy: the policy; gvt_like after all others, as it is held to their overruns
 * @result: set to what came of the run; the caller frees result->span
 */
void bench_case_run(struct bench_case *bcase, const struct vgpu_sched_policy *policy,
		    struct bench_result *result)
{
	struct des_config config;
	struct des *des;
	unsigned int i;

	bench_case_config(bcase, policy, &config);
	des = des_run(&config);
	if (policy != &bench_policy_gvt_like)
		for (i = 0; i < bcase->nr_engines; i++)
			bcase->overrun_ns[i] = max(bcase->overrun_ns[i],
						   des->engine[i].overrun_ns);
	bench_measure(bcase, policy, des, result);
	case_check(bcase, des, result);
	des_free(des);
	des_config_exit(&config);
}
