// SPDX-License-Identifier: GPL-2.0
/* See attack_sim.h: what the host asks of clients, what is recorded, and the run. */
#include <string.h>

#include "attack_model.h"

#define RESET_NS	(200 * US)
#define LOOK_NS		(10 * US)

static enum host_has sim_has(struct host_entity *entity)
{
	struct attack_client *client = to_attack_client(entity);

	if (attack_client_ready(client))
		return HOST_WORK;
	return attack_client_stalled(client) ? HOST_STALLED : HOST_NOTHING;
}

static u64 sim_work(struct host_engine *engine, u64 due_ns)
{
	struct attack_client *client = to_attack_client(engine->entity);
	struct attack_channel *ch = attack_client_ready(client);
	u64 tail_ns = engine->deadline_ns - ch->phase->tail_ns, now_ns = engine->host->now_ns;
	bool tail = ch->phase->tail_ns && engine->start_ns < tail_ns;

	if (!ch->left_ns || (tail && now_ns >= tail_ns && now_ns < due_ns)) {
		attack_channel_done(client, ch);
		return 0;
	}
	return tail && now_ns < tail_ns ? min(ch->left_ns, tail_ns - now_ns) : ch->left_ns;
}

static void sim_worked(struct host_engine *engine, u64 ns)
{
	struct attack_channel *ch = attack_client_ready(to_attack_client(engine->entity));

	if (ch && ch->left_ns < ATTACK_ENDLESS_NS)
		ch->left_ns -= min(ch->left_ns, ns);
}

static u64 sim_stop_at(struct host_engine *engine)
{
	struct attack_client *client = to_attack_client(engine->entity);
	struct attack_channel *ch = attack_client_ready(client);
	const struct attack_phase *phase = ch->phase;
	u64 ns = client->sim->config->machine.late_ns, end_ns;

	/* Work without an end may have begun in an earlier phase. */
	if (!phase->job_ns)
		phase = attack_channel_phase(client, ch, &end_ns);
	client->stops++;
	if (!client->sim->ending && phase->overrun_every && !(client->stops % phase->overrun_every))
		ns += phase->overrun_ns;
	return engine->host->now_ns + ns;
}

static void sim_begins(struct host_engine *engine)
{
}

static void sim_served(struct host_engine *engine, u64 start_ns, u64 end_ns)
{
	struct attack_client *client = to_attack_client(engine->entity);
	struct attack_record *record = &client->sim->result->record[client->config->group];

	if (client->sim->ending)
		return;
	start_ns -= HOST_EPOCH_NS;
	end_ns -= HOST_EPOCH_NS;
	record->service_ns += end_ns - start_ns;
	if (record->nr && record->span[record->nr - 1].end_ns == start_ns) {
		record->span[record->nr - 1].end_ns = end_ns;
		return;
	}
	if (record->nr == record->room) {
		record->room = record->room ? 2 * record->room : 4096;
		record->span = realloc(record->span, record->room * sizeof(*record->span));
		if (!record->span)
			bench_die("no memory for %zu spans", record->room);
	}
	record->span[record->nr++] = (struct attack_span){ start_ns, end_ns };
}

static void sim_ends(struct host_engine *engine, enum vgpu_run_end end, bool reset)
{
	struct attack_client *client = to_attack_client(engine->entity);
	u64 due_ns = host_engine_due_ns(engine), frame_ns = ATTACK_NEVER;
	unsigned int i;

	if (engine->phase != HOST_IDLE && !client->sim->ending && engine->host->now_ns > due_ns) {
		client->overran_ns += engine->host->now_ns - due_ns;
		client->overrun_ns = max(client->overrun_ns, engine->host->now_ns - due_ns);
	}
	for (i = 0; !reset && i < attack_client_channels(client); i++)
		if (client->channel[i].framed)
			frame_ns = min(frame_ns, client->channel[i].wake_ns);
	if (frame_ns != ATTACK_NEVER)
		vgpu_entity_wake_at(&client->entity.entity, frame_ns);
}

static void sim_left(struct host_entity *entity)
{
	struct attack_client *client = to_attack_client(entity);

	if (client->state == ATTACK_GOING && !attack_runs(client))
		attack_client_off(client);
}

static void sim_strike(struct host_entity *entity)
{
	struct attack_client *client = to_attack_client(entity);

	client->quarantine = ++client->strikes == ATTACK_STRIKES;
	attack_client_due(client);
}

static void sim_fault(struct host_entity *entity)
{
	struct attack_client *client = to_attack_client(entity);
	unsigned int i;

	client->sim->result->resets++;
	for (i = 0; i < attack_client_channels(client); i++) {
		client->channel[i].active = false;
		client->channel[i].cut_ns = ATTACK_NEVER;
		client->channel[i].wake_ns = client->sim->host.now_ns;
	}
	/*
	 * A device that was to be closed is closed once the timeline has the client off the engine.
	 */
	if (client->state == ATTACK_GOING)
		client->abort_ns = client->sim->host.now_ns;
	sim_strike(entity);
}

static void sim_script_event(struct host *host)
{
}

static const struct host_model sim_model = {
	.client_event = attack_client_event,
	.script_event = sim_script_event,
	.has = sim_has,
	.work = sim_work,
	.worked = sim_worked,
	.stop_at = sim_stop_at,
	.begins = sim_begins,
	.served = sim_served,
	.ends = sim_ends,
	.left = sim_left,
	.fault = sim_fault,
	.overrun = sim_strike,
};

static void sim_join(struct attack_sim *sim, unsigned int index)
{
	struct attack_client *client = &sim->client[index];
	u8 id[VGPU_ENTITY_ID_LEN] = { index };

	client->config = &sim->config->client[index];
	client->sim = sim;
	client->index = index;
	client->entity.engine = &sim->host.engine[0];
	attack_client_begin(client, sim->host.now_ns);
	vgpu_entity_init(&client->entity.entity, &client->entity.engine->tl, id,
			 &client->config->share);
}

static void sim_begin(struct attack_sim *sim)
{
	const struct attack_sim_config *config = sim->config;
	const struct host_settings set = {
		.seed = config->seed,
		.nr_engines = 1,
		.nr_clients = config->nr,
		.switch_ns = config->machine.switch_ns,
		.poll_ns = config->machine.poll_ns,
		.look_ns = LOOK_NS,
		.stall_ns = config->machine.stall_ns,
		.kick_ns = config->machine.kick_ns,
		.timer_ns = config->machine.timer_ns,
		.reset_ns = RESET_NS,
		.in_order = true,
	};
	unsigned int i;

	host_begin(&sim->host, &set, &sim_model, &config->params);
	for (i = 0; i < config->nr; i++)
		sim_join(sim, i);
	for (i = 0; i < config->nr; i++) {
		vgpu_entity_start(&sim->client[i].entity.entity);
		vgpu_entity_unhold(&sim->client[i].entity.entity, VGPU_HOLD_STOPPED);
		attack_client_due(&sim->client[i]);
	}
}

static void sim_finish(struct attack_sim *sim)
{
	struct attack_sim_result *result = sim->result;
	unsigned int i;

	host_engine_flush(&sim->host.engine[0]);
	for (i = 0; i < sim->config->nr; i++) {
		struct attack_client *client = &sim->client[i];
		enum attack_group group = client->config->group;

		result->overrun_ns[group] = max(result->overrun_ns[group], client->overrun_ns);
		result->record[group].debts_ns += min(client->overran_ns,
						      sim->config->params.slice_ns +
						      client->overrun_ns);
	}
}

static void sim_end(struct attack_sim *sim)
{
	struct host_engine *engine = &sim->host.engine[0];
	unsigned int i;

	sim->ending = true;
	for (i = 0; i < sim->config->nr; i++) {
		attack_client_idle(&sim->client[i]);
		sim->client[i].state = ATTACK_DOWN;
		host_client_due_at(&sim->host, i, HOST_NEVER);
	}
	engine->end_ns = min(engine->end_ns, sim->host.now_ns);
	if (engine->entity)
		host_engine_poke(engine);
	for (i = 0; i < sim->config->nr; i++)
		vgpu_entity_exit(&sim->client[i].entity.entity);
	host_end(&sim->host);
}

/**
 * attack_sim_run() - simulate
 * @config: all that there is to the run
 * @result: set to what came of it; the caller frees it by attack_sim_free()
 */
void attack_sim_run(const struct attack_sim_config *config, struct attack_sim_result *result)
{
	struct attack_sim *sim = bench_alloc(sizeof(*sim));
	u64 max_events = config->max_events ?: U64_MAX;

	memset(result, 0, sizeof(*result));
	sim->config = config;
	sim->result = result;
	sim_begin(sim);
	host_run(&sim->host, config->length_ns, max_events);
	result->events = sim->host.events;
	result->ended = sim->host.events <= max_events;
	sim_finish(sim);
	sim_end(sim);
	free(sim);
}

void attack_sim_free(struct attack_sim_result *result)
{
	unsigned int i;

	for (i = 0; i < ATTACK_GROUPS; i++)
		free(result->record[i].span);
}
