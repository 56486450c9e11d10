// SPDX-License-Identifier: GPL-2.0
/* See des.h: making, printing and reading of configurations and records. */
#include <stdio.h>
#include <string.h>

#include "des_sim.h"

/**
 * des_config_init() - one engine, 1 s, @nr_clients busy ones of weight 1
 * @config:     set to that
 * @policy:     to schedule them
 * @nr_clients: at least 1
 */
void des_config_init(struct des_config *config,
		     const struct vgpu_sched_policy *policy,
		     unsigned int nr_clients)
{
	unsigned int i;

	*config = (struct des_config){
		.seed = 1,
		.length_ns = DES_SEC,
		.params = {
			.policy = policy,
			.slice_ns = 2 * DES_MS,
			.window_ns = VGPU_WINDOW_NS,
			.preempt_timeout_us = 10000,
			.linger_us = VGPU_LINGER_US,
			.nr_slots = 16,
		},
		.nr_engines = 1,
		.nr_clients = nr_clients,
		.switch_ns = 5 * DES_US,
		.poll_ns = 50 * DES_US,
		.reset_ns = DES_MS,
	};
	config->client = calloc(nr_clients, sizeof(*config->client));
	BUG_ON(!config->client);
	for (i = 0; i < nr_clients; i++) {
		config->client[i].id = i;
		config->client[i].load = des_busy();
		config->client[i].share = (struct vgpu_share){
			.cap = 1000,
			.weight = 1,
			.first_slot = i,
			.nr_slots = 1,
		};
	}
}

/**
 * des_config_exit() - free what it has
 * @config: by des_config_init(), des_config_copy() or des_config_random()
 */
void des_config_exit(struct des_config *config)
{
	free(config->client);
	free(config->action);
	config->client = NULL;
	config->action = NULL;
}

static void *des_dup(const void *from, size_t size)
{
	void *copy = malloc(size + 1);

	BUG_ON(!copy);
	if (size)
		memcpy(copy, from, size);
	return copy;
}

/**
 * des_config_copy() - one of its own
 * @config: set to
 * @from:   this
 */
void des_config_copy(struct des_config *config, const struct des_config *from)
{
	*config = *from;
	config->client = des_dup(from->client,
				 from->nr_clients * sizeof(*from->client));
	config->action = des_dup(from->action,
				 from->nr_actions * sizeof(*from->action));
}

/**
 * des_config_remove_action() - as if that did not happen
 * @config: changed
 * @index:  of its action
 */
void des_config_remove_action(struct des_config *config, unsigned int index)
{
	config->nr_actions--;
	memmove(&config->action[index], &config->action[index + 1],
		(config->nr_actions - index) * sizeof(*config->action));
}

/**
 * des_config_remove_client() - as if it were not there; the others' loads stay
 * @config: changed
 * @index:  of its client
 */
void des_config_remove_client(struct des_config *config, unsigned int index)
{
	unsigned int i;

	for (i = config->nr_actions; i--; ) {
		struct des_action *action = &config->action[i];

		if (action->kind == DES_PARAMS || action->kind == DES_JUMP)
			action->client = 0;
		else if (action->client == index)
			des_config_remove_action(config, i);
		else if (action->client > index)
			action->client--;
	}
	config->nr_clients--;
	memmove(&config->client[index], &config->client[index + 1],
		(config->nr_clients - index) * sizeof(*config->client));
}

/**
 * des_config_act() - something happens
 * @config: changed
 * @at_ns:  then; after what happens at that time already
 * @kind:   what
 * @client: to whom
 *
 * Return: the action, with the config's params, the client's share and load;
 * until the next call.
 */
struct des_action *des_config_act(struct des_config *config, u64 at_ns,
				  enum des_action_kind kind,
				  unsigned int client)
{
	unsigned int i = config->nr_actions++;

	config->action = realloc(config->action,
				 config->nr_actions * sizeof(*config->action));
	BUG_ON(!config->action);
	for (; i && config->action[i - 1].at_ns > at_ns; i--)
		config->action[i] = config->action[i - 1];
	config->action[i] = (struct des_action){
		.at_ns = at_ns,
		.kind = kind,
		.client = client,
		.share = config->client[client].share,
		.params = config->params,
		.load = config->client[client].load,
	};
	return &config->action[i];
}

/* Always has work. */
struct des_load des_busy(void)
{
	return (struct des_load){
		.kind = DES_BUSY,
		.nr_stages = 1,
		.depth = 1,
	};
}

/* @depth jobs in flight, each submitted @think_ns after one has ended. */
struct des_load des_closed(u64 job_ns, u64 think_ns, unsigned int depth)
{
	return (struct des_load){
		.kind = DES_CLOSED,
		.nr_stages = 1,
		.stage[0].job_ns = job_ns,
		.think_ns = think_ns,
		.depth = depth,
	};
}

/* @burst jobs at a time, on average every @period_ns. */
struct des_load des_poisson(u64 job_ns, u64 period_ns, unsigned int burst)
{
	return (struct des_load){
		.kind = DES_POISSON,
		.nr_stages = 1,
		.stage[0].job_ns = job_ns,
		.period_ns = period_ns,
		.burst = burst,
		.depth = 256,
	};
}

/* A frame every @period_ns, left out if the one before is not done. */
struct des_load des_frames(u64 job_ns, u64 period_ns)
{
	return (struct des_load){
		.kind = DES_PERIODIC,
		.nr_stages = 1,
		.stage[0].job_ns = job_ns,
		.period_ns = period_ns,
		.depth = 1,
	};
}

static void print_load(const struct des_load *load)
{
	static const char * const kinds[] = {
		"none", "busy", "closed", "poisson", "periodic",
	};
	unsigned int i;

	printf("%s", kinds[load->kind]);
	for (i = 0; i < load->nr_stages && load->kind > DES_BUSY; i++)
		printf(" job[%u] %llu..%llu", load->stage[i].engine,
		       load->stage[i].job_ns, load->stage[i].job_max_ns);
	if (load->kind == DES_CLOSED)
		printf(" think %llu..%llu", load->think_ns, load->think_max_ns);
	if (load->period_ns)
		printf(" period %llu+%llu burst %u", load->period_ns,
		       load->jitter_ns, load->burst);
	printf(" depth %u", load->depth);
	if (load->off_ns)
		printf(" on %llu off %llu", load->on_ns, load->off_ns);
	if (load->phase_ns)
		printf(" phase %llu", load->phase_ns);
	if (load->chunk_ns)
		printf(" chunk %llu", load->chunk_ns);
	if (load->overrun_ns)
		printf(" overrun %s%llu", load->overrun_always ? "" : "0..",
		       load->overrun_ns);
	if (load->overrun_from_ns)
		printf(" from %llu", load->overrun_from_ns);
	if (load->hang_one_in)
		printf(" hang 1/%u", load->hang_one_in);
	if (load->stall_every_ns)
		printf(" %s %llu..%llu after %llu", load->stall_holds ? "held" : "stalled",
		       load->stall_ns, load->stall_max_ns, load->stall_every_ns);
}

static void print_share(const struct vgpu_share *share)
{
	printf("g %u c %u w %u slots %u+%u", share->guarantee, share->cap,
	       share->weight, share->first_slot, share->nr_slots);
}

static void print_params(const struct vgpu_sched_params *params)
{
	printf("%s slice %llu linger_us %u timeout_us %u", params->policy->name,
	       params->slice_ns, params->linger_us, params->preempt_timeout_us);
}

/**
 * des_config_print() - all of it, as comments of TAP
 * @config: which
 */
void des_config_print(const struct des_config *config)
{
	static const char * const kinds[] = {
		"start", "stop", "reset", "hold", "unhold", "share", "params",
		"load", "jump",
	};
	unsigned int i;

	printf("# length %llu seed %#llx engines %u switch %llu save %llu poll %llu kick %llu timer %llu\n# ",
	       config->length_ns, config->seed, config->nr_engines,
	       config->switch_ns, config->save_ns, config->poll_ns,
	       config->kick_ns, config->timer_ns);
	print_params(&config->params);
	for (i = 0; i < config->nr_clients; i++) {
		printf("\n# client %u (id %u)%s: ", i, config->client[i].id,
		       config->client[i].stopped ? " stopped" : "");
		print_share(&config->client[i].share);
		printf(": ");
		print_load(&config->client[i].load);
	}
	for (i = 0; i < config->nr_actions; i++) {
		const struct des_action *action = &config->action[i];

		printf("\n# at %llu %s %u: ", action->at_ns,
		       kinds[action->kind], action->client);
		if (action->kind == DES_SHARE)
			print_share(&action->share);
		else if (action->kind == DES_PARAMS)
			print_params(&action->params);
		else if (action->kind == DES_LOAD)
			print_load(&action->load);
		else if (action->kind == DES_JUMP)
			printf("%llu", action->jump_ns);
	}
	printf("\n");
	fflush(stdout);
}

/**
 * des_free() - what des_run() gave
 * @des: which
 */
void des_free(struct des *des)
{
	unsigned int i, j;

	for (i = 0; i < des->config->nr_clients; i++) {
		for (j = 0; j < DES_MAX_ENGINES; j++) {
			free(des->client[i].track[j].spans.at);
			free(des->client[i].track[j].edges.at);
			free(des->client[i].track[j].waits.at);
		}
		free(des->client[i].shares.at);
		free(des->client[i].jobs.at);
	}
	for (j = 0; j < DES_MAX_ENGINES; j++)
		free(des->engine[j].runs.at);
	free(des->params.at);
	free(des->client);
	free(des);
}

/**
 * des_service_ns() - what an entity got
 * @des:     record
 * @client:  whose
 * @engine:  where
 * @from_ns: of an interval
 * @to_ns:   of an interval
 *
 * Return: ns of service in it.
 */
u64 des_service_ns(const struct des *des, unsigned int client,
		   unsigned int engine, u64 from_ns, u64 to_ns)
{
	const struct des_track *track = &des->client[client].track[engine];
	u64 sum_ns = 0;
	size_t i;

	for (i = 0; i < track->spans.nr; i++) {
		u64 start_ns = max(track->spans.at[i].start_ns, from_ns);
		u64 end_ns = min(track->spans.at[i].end_ns, to_ns);

		if (end_ns > start_ns)
			sum_ns += end_ns - start_ns;
	}
	return sum_ns;
}

/**
 * des_runnable_ns() - for how long an entity had work and was not held
 * @des:     record
 * @client:  whose
 * @engine:  where
 * @from_ns: of an interval
 * @to_ns:   of an interval
 *
 * Return: ns in it.
 */
u64 des_runnable_ns(const struct des *des, unsigned int client,
		    unsigned int engine, u64 from_ns, u64 to_ns)
{
	const struct des_track *track = &des->client[client].track[engine];
	u64 sum_ns = 0;
	size_t i;

	for (i = 0; i < track->edges.nr; i++) {
		u64 start_ns = max(track->edges.at[i].at_ns, from_ns);
		u64 end_ns = i + 1 < track->edges.nr ?
			     track->edges.at[i + 1].at_ns : des->end_ns;

		if (track->edges.at[i].runnable && min(end_ns, to_ns) > start_ns)
			sum_ns += min(end_ns, to_ns) - start_ns;
	}
	return sum_ns;
}
