// SPDX-License-Identifier: GPL-2.0
/* What came of a run: shares, waits, frames, where the engine's time went. */
#include <stdlib.h>

#include "run.h"
#include "stats.h"

/* An array of numbers that grows. */
struct samples {
	double *at;
	size_t nr;
	size_t room;
};

static void samples_add(struct samples *samples, double value)
{
	if (samples->nr == samples->room) {
		samples->room = samples->room ? 2 * samples->room : 1024;
		samples->at = realloc(samples->at, samples->room * sizeof(*samples->at));
		if (!samples->at)
			bench_die("no memory for %zu samples", samples->room);
	}
	samples->at[samples->nr++] = value;
}

static double samples_quantile(struct samples *samples, double q)
{
	return stats_quantile(samples->at, samples->nr, q);
}

static void samples_free(struct samples *samples)
{
	free(samples->at);
	*samples = (struct samples){};
}

/* Adds each time from runnable, or from the end of the run before, to the next run. */
static void waits_of(const struct des_track *track, u64 end_ns,
		     struct samples *one, struct samples *all)
{
	u64 before_ns = 0, ready_ns = 0;
	bool runnable = false;
	size_t i, edge = 0;

	for (i = 0; i <= track->spans.nr; i++) {
		u64 start_ns = i < track->spans.nr ? track->spans.at[i].start_ns :
						     end_ns;

		while (edge < track->edges.nr &&
		       track->edges.at[edge].at_ns <= start_ns) {
			if (track->edges.at[edge].runnable && !runnable)
				ready_ns = track->edges.at[edge].at_ns;
			runnable = track->edges.at[edge++].runnable;
		}
		if (i < track->spans.nr || runnable) {
			u64 from_ns = max(before_ns, ready_ns);
			double wait_ns = start_ns - min(start_ns, from_ns);

			samples_add(one, wait_ns);
			samples_add(all, wait_ns);
		}
		if (i < track->spans.nr)
			before_ns = track->spans.at[i].end_ns;
	}
}

static bool has_stage(const struct des_load *load, unsigned int engine)
{
	unsigned int i;

	for (i = 0; i < load->nr_stages; i++)
		if (load->stage[i].engine == engine)
			return true;
	return false;
}

static double shortfall(double due, double got)
{
	return due > 0 && got < due ? (due - got) / due : 0;
}

/* Counts a client in its group. */
static void group_add(struct bench_group *group, double due, double promised, double got)
{
	group->due += due;
	group->promised += promised;
	group->got += got;
	group->got_min = group->nr ? min(group->got_min, got) : got;
	group->got_max = max(group->got_max, got);
	group->short_due = max(group->short_due, shortfall(due, got));
	group->short_own = max(group->short_own, shortfall(promised, got));
	group->over_due = max(group->over_due, got - due);
	group->nr++;
}

static void measure_group(const struct bench_case *bcase, const struct des *des,
			  unsigned int kind, unsigned int engine, const struct due_claim *due,
			  const struct due_claim *promised,
			  struct bench_group *group, struct samples *all_waits)
{
	const struct bench_kind *what = &bcase->scenario->kind[kind];
	struct samples waits = {}, jobs = {};
	double seconds = (double)des->end_ns / SEC;
	unsigned int i;
	size_t j;

	snprintf(group->name, sizeof(group->name), "%s%s", what->name,
		 what->load.nr_stages < 2 ? "" : engine ? ", ce0" : ", gr");
	group->engine = engine;
	for (i = 0; i < engine; i++)
		group->again |= has_stage(&what->load, i);
	for (i = 0; i < bcase->nr; i++) {
		const struct des_record *client = &des->client[i];

		if (bcase->group[i] != kind)
			continue;
		group_add(group, due[i].due, promised[i].due,
			  (double)client->track[engine].busy_ns / des->end_ns);
		waits_of(&client->track[engine], des->end_ns, &waits, all_waits);
		for (j = 0; j < client->jobs.nr; j++)
			samples_add(&jobs, client->jobs.at[j].end_ns -
					   client->jobs.at[j].submit_ns);
		group->jobs += client->completed / seconds;
		if (what->load.kind == DES_PERIODIC &&
		    what->load.period_ns == BENCH_FRAME_NS) {
			group->frames += client->submitted + client->refused;
			group->missed += client->missed;
		}
	}
	group->due /= group->nr;
	group->promised /= group->nr;
	group->got /= group->nr;
	group->wait_p50_ns = samples_quantile(&waits, 0.5);
	group->wait_p99_ns = samples_quantile(&waits, 0.99);
	group->job_p50_ns = samples_quantile(&jobs, 0.5);
	group->job_p99_ns = samples_quantile(&jobs, 0.99);
	samples_free(&waits);
	samples_free(&jobs);
}

static void measure_use(const struct des *des, struct bench_result *result)
{
	const struct des_engine_record *engine = &des->engine[0];
	struct bench_use *use = &result->use;
	double wall_ns = des->end_ns, services_ns = 0, done_ns = 0;
	unsigned int client, stage;
	size_t i;

	for (client = 0; client < des->config->nr_clients; client++) {
		const struct des_load *load = &des->config->client[client].load;

		services_ns += des->client[client].track[0].busy_ns;
		for (stage = 0; stage < load->nr_stages; stage++)
			if (!load->stage[stage].engine)
				done_ns += (double)load->stage[stage].job_ns *
					   des->client[client].completed;
	}
	/* What clients saw completed can be no more than what the engine did. */
	if (done_ns > engine->worked_ns)
		bench_die("%s, %s: clients saw %.0f ns of work completed, the engine worked for %llu ns",
			  result->scenario, result->policy, done_ns,
			  (unsigned long long)engine->worked_ns);
	for (i = 0; i < engine->runs.nr; i++) {
		const struct des_run *run = &engine->runs.at[i];
		u64 due_ns = min(run->deadline_ns, run->stop_ns);

		use->switching += run->switch_ns / wall_ns;
		if (run->end_ns > due_ns)
			use->late += (run->end_ns - due_ns) / wall_ns;
	}
	use->useful = engine->worked_ns / wall_ns;
	use->linger = engine->linger_ns / wall_ns;
	use->drain = services_ns / wall_ns - use->useful - use->linger -
		     use->switching;
	use->drain = max(use->drain, 0.0);
	use->idle = 1 - services_ns / wall_ns;
	result->switches_per_s = engine->switches / (wall_ns / SEC);
}

static void measure_spans(const struct bench_case *bcase, const struct des *des,
			  const unsigned int *group_of, struct bench_result *result)
{
	const struct des_engine_record *engine = &des->engine[0];
	size_t i;

	result->span = bench_alloc(BENCH_SPANS * sizeof(*result->span));
	for (i = 0; i < engine->runs.nr && result->nr_spans < BENCH_SPANS; i++) {
		const struct des_run *run = &engine->runs.at[i];
		struct bench_span *span = &result->span[result->nr_spans];

		if (run->end_ns <= BENCH_PICTURE_NS)
			continue;
		span->start_ns = max(run->start_ns, BENCH_PICTURE_NS) -
				 BENCH_PICTURE_NS;
		span->end_ns = run->end_ns - BENCH_PICTURE_NS;
		span->group = group_of[bcase->group[run->client]];
		result->nr_spans++;
	}
}

/* The claims of all clients to an engine. */
static struct due_claim *claims_of(const struct bench_case *bcase,
				   const struct des_config *config, unsigned int engine)
{
	struct due_claim *claims = bench_alloc(bcase->nr * sizeof(*claims));
	unsigned int i;

	for (i = 0; i < bcase->nr; i++) {
		struct due_claim *claim = &claims[i];

		*claim = bench_claim(&bcase->share[i]);
		claim->demand = bcase->demand[engine][i];
		claim->part = (double)config->client[i].share.nr_slots / bcase->nr_slots;
	}
	return claims;
}

/*
 * A client whose jobs go through several engines asks of each only what the slowest engine leaves
 * to do.
 */
static void claims_couple(const struct des_load *load, unsigned int client,
			  struct due_claim **claims)
{
	double rate = 0, stage_rate;
	unsigned int i;

	for (i = 0; i < load->nr_stages; i++) {
		const struct des_stage *stage = &load->stage[i];

		stage_rate = claims[stage->engine][client].due / stage->job_ns;
		rate = i ? min(rate, stage_rate) : stage_rate;
	}
	for (i = 0; i < load->nr_stages; i++) {
		const struct des_stage *stage = &load->stage[i];
		struct due_claim *claim = &claims[stage->engine][client];

		claim->demand = min(claim->demand, rate * stage->job_ns);
	}
}

/*
 * What is due on each engine, by a policy's rule or, without a policy, by guarantee, cap and
 * weight.
 */
static void claims_create(const struct bench_case *bcase, const struct des_config *config,
			  const struct vgpu_sched_policy *policy, struct due_claim **claims)
{
	unsigned int engine, i;

	for (engine = 0; engine < bcase->nr_engines; engine++) {
		claims[engine] = claims_of(bcase, config, engine);
		bench_due_over(config, policy, claims[engine]);
	}
	if (bcase->nr_engines < 2)
		return;
	for (i = 0; i < bcase->nr; i++)
		if (config->client[i].load.nr_stages > 1)
			claims_couple(&config->client[i].load, i, claims);
	for (engine = 0; engine < bcase->nr_engines; engine++)
		bench_due_over(config, policy, claims[engine]);
}

/**
 * bench_measure() - what came of a run
 * @bcase:  the case that was run
 * @policy: the policy that it was run under
 * @des:    the record of the run
 * @result: set to what came of it; the caller frees result->span
 */
void bench_measure(const struct bench_case *bcase, const struct vgpu_sched_policy *policy,
		   const struct des *des, struct bench_result *result)
{
	struct due_claim *due[DES_MAX_ENGINES], *promised[DES_MAX_ENGINES];
	unsigned int group_of[BENCH_KINDS] = {}, kind, engine;
	struct samples waits = {};

	*result = (struct bench_result){
		.scenario = bcase->scenario->name,
		.policy = policy->name,
	};
	claims_create(bcase, des->config, NULL, due);
	claims_create(bcase, des->config, policy, promised);
	for (engine = 0; engine < bcase->nr_engines; engine++) {
		for (kind = 0; kind < BENCH_KINDS; kind++) {
			const struct bench_kind *what = &bcase->scenario->kind[kind];
			struct bench_group *group = &result->group[result->nr_groups];

			if (!what->nr || !has_stage(&what->load, engine))
				continue;
			if (result->nr_groups == BENCH_GROUPS)
				bench_die("%s: more than %d groups",
					  result->scenario, BENCH_GROUPS);
			if (!engine)
				group_of[kind] = result->nr_groups;
			result->nr_groups++;
			measure_group(bcase, des, kind, engine, due[engine],
				      promised[engine], group, &waits);
			result->short_due = max(result->short_due, group->short_due);
			result->short_own = max(result->short_own, group->short_own);
			result->over_due = max(result->over_due, group->over_due);
			if (!group->again) {
				result->frames += group->frames;
				result->missed += group->missed;
			}
		}
		free(due[engine]);
		free(promised[engine]);
	}
	result->wait_p50_ns = samples_quantile(&waits, 0.5);
	result->wait_p99_ns = samples_quantile(&waits, 0.99);
	samples_free(&waits);
	measure_use(des, result);
	measure_spans(bcase, des, group_of, result);
}
