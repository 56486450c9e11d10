// SPDX-License-Identifier: GPL-2.0
/* See apart.h. */
#include <string.h>

#include "apart.h"
#include "policy_at.h"

#define US		1000ULL
#define MS		(1000 * US)

/* The engines: the victim's partition is 3g at 4, the neighbour's 4g at 0. */
#define VICTIM		0U
#define NEIGHBOUR	1U
#define VICTIM_SLOT	4U
#define VICTIM_SLOTS	3U
#define NEIGHBOUR_SLOTS	4U

#define VICTIMS		3U
#define CLIENTS		6U

/**
 * struct apart_client - a client on one of the engines
 * @host:     the entity
 * @job_ns:   length of its jobs; 0: it always has work
 * @pause_ns: from the end of a job to the begin of the next one
 * @left_ns:  of the job
 * @idle:     it never has work
 * @hangs:    it does not stop
 * @started:  the device is open
 */
struct apart_client {
	struct host_entity host;
	u64 job_ns;
	u64 pause_ns;
	u64 left_ns;
	bool idle;
	bool hangs;
	bool started;
};

/* A time in which an engine needs the CPU. */
struct apart_span {
	u64 from_ns;
	u64 to_ns;
};

/**
 * struct apart - a simulation
 * @host:   the host
 * @config: the configuration
 * @result: the result
 * @params: settings of the engines
 * @random: what the neighbour does next
 * @policy: number of the neighbour's policy
 * @client: the clients, the victim's first
 * @nr:     number of them
 * @spans:  when each engine needs the CPU, in order
 * @ending: no client begins anything any more
 */
struct apart {
	struct host host;
	const struct apart_config *config;
	struct apart_result *result;
	struct vgpu_sched_params params[2];
	u64 random;
	unsigned int policy;
	struct apart_client client[CLIENTS];
	unsigned int nr;
	struct {
		struct apart_span *at;
		size_t nr;
		size_t room;
	} spans[2];
	bool ending;
};

static struct apart *to_apart(struct host *host)
{
	return container_of(host, struct apart, host);
}

static struct apart_client *to_client(struct host_entity *entity)
{
	return container_of(entity, struct apart_client, host);
}

const char *apart_name(enum apart_neighbour neighbour)
{
	static const char * const names[APART_NEIGHBOURS] = {
		"none", "idle", "hogs", "rings", "opens", "policy", "shares", "hangs",
	};

	return names[neighbour];
}

/* The CPU. */

static void apart_push(struct apart *apart, unsigned int engine, u64 from_ns, u64 to_ns)
{
	if (apart->spans[engine].nr == apart->spans[engine].room) {
		apart->spans[engine].room = 2 * apart->spans[engine].room + 1024;
		apart->spans[engine].at = realloc(apart->spans[engine].at,
						  apart->spans[engine].room *
						  sizeof(*apart->spans[engine].at));
		BUG_ON(!apart->spans[engine].at);
	}
	apart->spans[engine].at[apart->spans[engine].nr++] = (struct apart_span){ from_ns, to_ns };
}

/*
 * The engine has had a run, until now. The neighbour notices the end of its slot as late as an
 * engine may, which its clock does not show.
 */
static void apart_needed(struct host_engine *engine)
{
	struct apart *apart = to_apart(engine->host);
	const struct vgpu_clock *clock = &engine->tl.clock;
	u64 from_ns = engine->start_ns, now_ns = host_engine_now_ns(engine), real_ns, to_ns;

	while (from_ns < now_ns) {
		real_ns = vgpu_clock_real(clock, from_ns);
		to_ns = min(vgpu_clock_stands_at(clock, real_ns), real_ns + now_ns - from_ns);
		from_ns += to_ns - real_ns;
		if (engine->index == NEIGHBOUR && from_ns < now_ns)
			to_ns += VGPU_SLOT_STOP_NS;
		apart_push(apart, engine->index, real_ns, to_ns);
	}
}

/* For how long both engines need the CPU. */
static u64 apart_both(const struct apart *apart)
{
	const struct apart_span *a = apart->spans[VICTIM].at, *b = apart->spans[NEIGHBOUR].at;
	const struct apart_span *a_end = a + apart->spans[VICTIM].nr;
	const struct apart_span *b_end = b + apart->spans[NEIGHBOUR].nr;
	u64 from_ns, to_ns, both_ns = 0;

	while (a < a_end && b < b_end) {
		from_ns = max(a->from_ns, b->from_ns);
		to_ns = min(a->to_ns, b->to_ns);
		if (from_ns < to_ns)
			both_ns += to_ns - from_ns;
		if (a->to_ns < b->to_ns)
			a++;
		else
			b++;
	}
	return both_ns;
}

/* The model: what clients do. */

static void apart_wake(struct apart_client *client)
{
	vgpu_entity_wake(&client->host.entity);
	host_engine_poke(client->host.engine);
}

static void apart_client_event(struct host *host, unsigned int index)
{
	struct apart *apart = to_apart(host);
	struct apart_client *client = &apart->client[index];

	host_client_due_at(host, index, HOST_NEVER);
	if (apart->ending)
		return;
	if (client->idle) {
		host_client_due_at(host, index, host->now_ns + client->pause_ns);
	} else {
		host_engine_account(client->host.engine);
		client->left_ns = client->job_ns;
	}
	apart_wake(client);
}

static enum host_has apart_has(struct host_entity *entity)
{
	struct apart_client *client = to_client(entity);

	if (client->idle)
		return HOST_NOTHING;
	return client->job_ns && !client->left_ns ? HOST_NOTHING : HOST_WORK;
}

static u64 apart_work(struct host_engine *engine, u64 due_ns)
{
	struct apart_client *client = to_client(engine->entity);

	return client->job_ns ? client->left_ns : HOST_NEVER / 4;
}

static void apart_worked(struct host_engine *engine, u64 ns)
{
	struct apart_client *client = to_client(engine->entity);
	struct apart *apart = to_apart(engine->host);
	u64 now_ns = engine->host->now_ns;

	if (!client->left_ns)
		return;
	client->left_ns -= min(ns, client->left_ns);
	if (client->left_ns)
		return;
	if (engine->index == VICTIM)
		apart->result->jobs++;
	host_client_due_at(engine->host, client - apart->client, now_ns + client->pause_ns);
}

static u64 apart_stop_at(struct host_engine *engine)
{
	if (to_client(engine->entity)->hangs)
		return HOST_NEVER - 1;
	return host_engine_now_ns(engine) +
	       (engine->index == NEIGHBOUR ? VGPU_SLOT_STOP_NS : 0);
}

static void apart_begins(struct host_engine *engine)
{
}

static void apart_served(struct host_engine *engine, u64 start_ns, u64 end_ns)
{
}

static u64 apart_hash(u64 hash, u64 value)
{
	hash ^= value;
	return random_next(&hash);
}

static void apart_ends(struct host_engine *engine, enum vgpu_run_end end, bool reset)
{
	struct apart *apart = to_apart(engine->host);
	struct apart_result *result = apart->result;

	if (apart->ending)
		return;
	apart_needed(engine);
	if (engine->index != VICTIM)
		return;
	result->runs++;
	result->order = apart_hash(result->order, to_client(engine->entity) - apart->client);
	result->order = apart_hash(result->order, engine->start_ns);
	result->order = apart_hash(result->order, host_engine_now_ns(engine));
}

static void apart_fault(struct host_entity *entity)
{
	to_apart(entity->engine->host)->result->acts++;
}

static void apart_open(struct apart_client *client)
{
	client->started = true;
	vgpu_entity_start(&client->host.entity);
	vgpu_entity_unhold(&client->host.entity, VGPU_HOLD_STOPPED);
	apart_wake(client);
}

static void apart_close(struct apart *apart, struct apart_client *client)
{
	u64 from_ns = apart->host.now_ns;

	vgpu_entity_stop(&client->host.entity);
	client->started = false;
	apart->result->stop_ns = max(apart->result->stop_ns, apart->host.now_ns - from_ns);
}

static void apart_switch_policy(struct apart *apart)
{
	struct vgpu_sched_params *params = &apart->params[NEIGHBOUR];
	struct vgpu_timeline *tl = &apart->host.engine[NEIGHBOUR].tl;
	struct vgpu_rq next;

	params->policy = sim_policy(++apart->policy);
	BUG_ON(vgpu_timeline_prepare(&next, params));
	vgpu_timeline_set_params(tl, params, &next);
	vgpu_timeline_release(&next);
}

static void apart_set_share(struct apart *apart, struct apart_client *client)
{
	struct vgpu_share share = client->host.entity.share;
	u64 from_ns = apart->host.now_ns;

	share.guarantee = random_range(&apart->random, 0, 300);
	share.cap = random_range(&apart->random, share.guarantee + 1, VGPU_PER_MILLE);
	vgpu_entity_set_share(&client->host.entity, &share);
	vgpu_entity_hold_sync(&client->host.entity, VGPU_HOLD_PAUSED);
	vgpu_entity_unhold(&client->host.entity, VGPU_HOLD_PAUSED);
	apart->result->stop_ns = max(apart->result->stop_ns, apart->host.now_ns - from_ns);
}

/* The host does something to the neighbour. */
static void apart_script_event(struct host *host)
{
	struct apart *apart = to_apart(host);
	struct apart_client *client;

	host_script_due_at(host, HOST_NEVER);
	if (apart->ending)
		return;
	client = &apart->client[random_range(&apart->random, VICTIMS, CLIENTS - 1)];
	apart->result->acts++;
	if (apart->config->neighbour == APART_POLICY)
		apart_switch_policy(apart);
	else if (apart->config->neighbour == APART_SHARES)
		apart_set_share(apart, client);
	else if (client->started)
		apart_close(apart, client);
	else
		apart_open(client);
	host_engine_poke(client->host.engine);
	host_script_due_at(host, host->now_ns + random_range(&apart->random, 1, 3 * MS));
}

static const struct host_model apart_model = {
	.client_event = apart_client_event,
	.script_event = apart_script_event,
	.has = apart_has,
	.work = apart_work,
	.worked = apart_worked,
	.stop_at = apart_stop_at,
	.begins = apart_begins,
	.served = apart_served,
	.ends = apart_ends,
	.fault = apart_fault,
};

/* Begin and end. */

static void apart_join(struct apart *apart, unsigned int index)
{
	static const struct apart_client victims[VICTIMS] = {
		{ .job_ns = 0 },
		{ .job_ns = 700 * US, .pause_ns = 1300 * US },
		{ .job_ns = 3 * MS, .pause_ns = 9 * MS },
	};
	struct apart_client *client = &apart->client[index];
	const struct vgpu_share share = {
		.guarantee = 300, .cap = VGPU_PER_MILLE, .weight = 100,
		.first_slot = index % VICTIMS, .nr_slots = 1,
	};
	u8 id[VGPU_ENTITY_ID_LEN] = { index };

	*client = (struct apart_client){};
	if (index < VICTIMS) {
		*client = victims[index];
		client->left_ns = client->job_ns;
	} else if (apart->config->neighbour == APART_RINGS) {
		client->pause_ns = 10 * US;
		client->idle = true;
		host_client_due_at(&apart->host, index, apart->host.now_ns + client->pause_ns);
	} else {
		client->idle = apart->config->neighbour == APART_IDLE;
		client->hangs = apart->config->neighbour == APART_HANGS;
	}
	client->host.engine = &apart->host.engine[index < VICTIMS ? VICTIM : NEIGHBOUR];
	vgpu_entity_init(&client->host.entity, &client->host.engine->tl, id, &share);
	apart_open(client);
}

static void apart_begin(struct apart *apart)
{
	const struct apart_config *config = apart->config;
	struct host_settings set = {
		.nr_engines = 2,
		.nr_clients = CLIENTS,
		.switch_ns = APART_SWITCH_NS,
		.poll_ns = 50 * US,
		.reset_ns = 100 * US,
		.in_order = true,
		.apart = true,
		.params = { &apart->params[VICTIM], &apart->params[NEIGHBOUR] },
	};
	unsigned int i;

	for (i = 0; i < 2; i++)
		apart->params[i] = (struct vgpu_sched_params){
			.policy = i == VICTIM ? config->policy : sim_policy(0),
			.slice_ns = 2 * MS,
			.window_ns = 100 * MS,
			.preempt_timeout_us = 10000,
			.linger_us = VGPU_LINGER_US,
			.nr_slots = VICTIMS,
		};
	if (config->slots) {
		vgpu_clock_slots(&set.clock[VICTIM], VICTIM_SLOT, VICTIM_SLOTS);
		vgpu_clock_slots(&set.clock[NEIGHBOUR], 0, NEIGHBOUR_SLOTS);
	}
	host_begin(&apart->host, &set, &apart_model, &apart->params[VICTIM]);
	apart->nr = config->neighbour == APART_NONE ? VICTIMS : CLIENTS;
	for (i = 0; i < apart->nr; i++)
		apart_join(apart, i);
	if (config->neighbour >= APART_OPENS && config->neighbour < APART_HANGS)
		host_script_due_at(&apart->host, apart->host.now_ns + 1);
}

static void apart_end(struct apart *apart)
{
	struct vgpu_entity_stats stats;
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (apart->host.engine[i].phase != HOST_OFF)
			apart_needed(&apart->host.engine[i]);
	for (i = 0; i < apart->nr; i++) {
		vgpu_entity_stats(&apart->client[i].host.entity, &stats);
		if (i < VICTIMS)
			apart->result->service_ns += stats.busy_ns;
		else
			apart->result->neighbour_ns += stats.busy_ns;
	}
	apart->result->work_ns = apart->result->service_ns - apart_both(apart) / 2;
	apart->ending = true;
	for (i = 0; i < apart->nr; i++)
		vgpu_entity_exit(&apart->client[i].host.entity);
	host_end(&apart->host);
	for (i = 0; i < 2; i++)
		free(apart->spans[i].at);
}

/**
 * apart_run() - do a simulation
 * @config: the configuration
 * @result: set to the result
 */
void apart_run(const struct apart_config *config, struct apart_result *result)
{
	struct apart *apart = host_alloc(1, sizeof(*apart));

	memset(result, 0, sizeof(*result));
	apart->config = config;
	apart->result = result;
	apart->random = config->seed;
	apart_begin(apart);
	host_run(&apart->host, config->length_ns, U64_MAX);
	apart_end(apart);
	free(apart);
}
