// SPDX-License-Identifier: GPL-2.0
/*
 * Random loads. Under qos, with all that may happen in a load and with stalls, holds and sudden
 * overruns, its promises must hold; under each policy, on the same arrivals, it is counted how
 * often they do not.
 */
#include <stdlib.h>

#include "rows.h"
#include "run.h"

/**
 * struct load - one of the random loads
 * @overrun_ns: by engine, the largest overrun so far under policies whose engine is preemptive
 */
struct load {
	u64 overrun_ns[DES_MAX_ENGINES];
};

/*
 * Adds slots and weights for policies that know no guarantee, and takes out changes of the policy.
 */
static void load_adapt(struct des_config *config, const struct vgpu_sched_policy *policy)
{
	struct due_claim *claims = bench_alloc(config->nr_clients * sizeof(*claims));
	struct vgpu_share *shares = bench_alloc(config->nr_clients * sizeof(*shares));
	unsigned int i;

	for (i = 0; i < config->nr_clients; i++) {
		claims[i] = bench_claim(&config->client[i].share);
		shares[i] = config->client[i].share;
	}
	config->params.nr_slots = bench_due_slots(claims, shares, config->nr_clients);
	for (i = 0; i < config->nr_clients; i++) {
		struct vgpu_share *share = &config->client[i].share;

		share->first_slot = shares[i].first_slot;
		share->nr_slots = shares[i].nr_slots;
		if (policy == &bench_policy_gvt_like)
			share->weight = shares[i].weight;
	}
	for (i = 0; i < config->nr_actions; i++) {
		struct des_action *action = &config->action[i];

		action->params.policy = policy;
		action->params.nr_slots = config->params.nr_slots;
		action->share.first_slot = shares[action->client].first_slot;
		action->share.nr_slots = shares[action->client].nr_slots;
	}
	free(claims);
	free(shares);
	if (policy == &bench_policy_gvt_like)
		bench_cooperative(config);
}

/* Makes the record say that it was made under qos, with the shares of @config. */
static void load_pretend(struct des *des, const struct des_config *config, struct load *load)
{
	unsigned int i, j;
	size_t at;

	for (at = 0; at < des->params.nr; at++)
		des->params.at[at].params.policy = &vgpu_policy_qos;
	for (i = 0; i < config->nr_clients; i++)
		des->client[i].shares.at[0].share = config->client[i].share;
	for (j = 0; j < config->nr_engines; j++) {
		u64 *overrun_ns = &des->engine[j].overrun_ns;

		if (des->config->params.policy == &bench_policy_gvt_like)
			*overrun_ns = min(*overrun_ns, load->overrun_ns[j]);
		else
			load->overrun_ns[j] = max(*overrun_ns, load->overrun_ns[j]);
	}
}

static void load_count(const struct des *des, struct des_report *check, struct bench_loads *sum)
{
	const struct des_engine_record *engine = &des->engine[0];
	unsigned int i;

	for (i = 0; i < DES_NR_PROMISES; i++) {
		sum->broken[i] += check->violations[i];
		sum->checked[i] += check->checked[i];
		sum->used[i] = max(sum->used[i], check->use[i] / 1000.0);
	}
	sum->length_ns += des->end_ns;
	sum->worked_ns += engine->worked_ns;
	sum->service_ns += engine->busy_ns;
	for (i = 0; i < des->config->nr_engines; i++)
		sum->runs += des->engine[i].runs.nr;
	for (i = 0; i < des->config->nr_clients; i++)
		sum->jobs += des->client[i].completed;
}

/**
 * bench_loads_qos() - count violations of the promises of qos under qos, whatever happens
 * @seed: seed of the first load; the others have the seeds that follow
 * @nr:   number of loads
 * @sum:  set to what came of all loads
 */
void bench_loads_qos(u64 seed, unsigned int nr, struct bench_loads *sum)
{
	unsigned int i;

	*sum = (struct bench_loads){ .policy = vgpu_policy_qos.name };
	for (i = 0; i < nr; i++) {
		struct des_report check;
		struct des_config config;
		struct des *des;

		bench_progress("qos_violations: %u of %u", i, nr);
		des_config_hostile(&config, &vgpu_policy_qos, seed + i);
		des = des_run(&config);
		des_check(des, &check);
		load_count(des, &check, sum);
		if (des_violations(&check) && !sum->nr_bad++)
			sum->first_bad = seed + i;
		des_free(des);
		des_config_exit(&config);
	}
}

/**
 * bench_loads_all() - run the same loads under each policy
 * @seed: seed of the first load; the others have the seeds that follow
 * @nr:   number of loads
 * @sums: by policy, set to what came of all loads
 */
void bench_loads_all(u64 seed, unsigned int nr, struct bench_loads *sums)
{
	struct load *loads = bench_alloc(nr * sizeof(*loads));
	unsigned int i, policy;

	for (policy = 0; policy < BENCH_POLICIES; policy++) {
		struct bench_loads *sum = &sums[policy];

		*sum = (struct bench_loads){
			.policy = bench_policy_at(policy)->name,
		};
		for (i = 0; i < nr; i++) {
			struct des_config config, asked;
			struct des_report check;
			struct des *des;

			bench_progress("random loads, %s: %u of %u", sum->policy, i, nr);
			des_config_random(&asked, bench_policy_at(policy), seed + i);
			des_config_copy(&config, &asked);
			load_adapt(&config, bench_policy_at(policy));
			des = des_run(&config);
			load_pretend(des, &asked, &loads[i]);
			des_check(des, &check);
			load_count(des, &check, sum);
			des_free(des);
			des_config_exit(&config);
			des_config_exit(&asked);
		}
	}
	free(loads);
}
