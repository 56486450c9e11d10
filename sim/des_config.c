// SPDX-License-Identifier: GPL-2.0
/* See des.h: configurations. */
#include <stdio.h>
#include <string.h>

#include "des_sim.h"

/**
 * des_config_init() - make a configuration: one engine, 1 s, busy clients of weight 1
 * @config:     set to the configuration, which the caller frees by des_config_exit()
 * @policy:     policy of the timelines
 * @nr_clients: number of clients, at least 1
 */
void des_config_init(struct des_config *config, const struct vgpu_sched_policy *policy,
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
 * des_config_exit() - free what a configuration has allocated
 * @config: configuration by des_config_init(), des_config_copy() or des_config_random()
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
 * des_config_copy() - copy a configuration, with its clients and actions
 * @config: set to the copy, which the caller frees by des_config_exit()
 * @from:   the configuration
 */
void des_config_copy(struct des_config *config, const struct des_config *from)
{
	*config = *from;
	config->client = des_dup(from->client, from->nr_clients * sizeof(*from->client));
	config->action = des_dup(from->action, from->nr_actions * sizeof(*from->action));
}

/**
 * des_config_remove_action() - take an action out of a configuration
 * @config: the configuration
 * @index:  index of the action
 */
void des_config_remove_action(struct des_config *config, unsigned int index)
{
	config->nr_actions--;
	memmove(&config->action[index], &config->action[index + 1],
		(config->nr_actions - index) * sizeof(*config->action));
}

/**
 * des_config_remove_client() - take a client, and the actions on it, out of a configuration
 * @config: the configuration; the loads of the other clients stay what they are
 * @index:  index of the client
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
 * des_config_act() - add an action to a configuration
 * @config: the configuration
 * @at_ns:  when it happens, after the actions that happen at that time already
 * @kind:   what happens
 * @client: index of the client to which it happens
 *
 * Return: the action, valid until the next call. It has the parameters of @config and the share and
 * the load of the client, which the caller may change.
 */
struct des_action *des_config_act(struct des_config *config, u64 at_ns, enum des_action_kind kind,
				  unsigned int client)
{
	unsigned int i = config->nr_actions++;

	config->action = realloc(config->action, config->nr_actions * sizeof(*config->action));
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

/* The client always has work. */
struct des_load des_busy(void)
{
	return (struct des_load){
		.kind = DES_BUSY,
		.nr_stages = 1,
		.depth = 1,
	};
}

/* @depth jobs are in flight; @think_ns after the end of one the next is submitted. */
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

/* @burst jobs come at a time, on average every @period_ns. */
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

/* A frame comes every @period_ns, and is refused if the one before is not done. */
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
		printf(" overrun %s%llu", load->overrun_always ? "" : "0..", load->overrun_ns);
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
 * des_config_print() - print all of a configuration, as comments of TAP
 * @config: the configuration
 */
void des_config_print(const struct des_config *config)
{
	static const char * const kinds[] = {
		"start", "stop", "reset", "hold", "unhold", "share", "params",
		"load", "due", "jump",
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

		printf("\n# at %llu %s %u: ", action->at_ns, kinds[action->kind], action->client);
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
