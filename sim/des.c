// SPDX-License-Identifier: GPL-2.0
/* See des.h: the script, and the begin and the end of a simulation. */
#include <string.h>

#include "des_sim.h"

static void des_start(struct des_client *client)
{
	struct des_sim *sim = client->sim;
	unsigned int i;

	if (client->started)
		return;
	client->started = true;
	for (i = 0; i < sim->config->nr_engines; i++) {
		vgpu_entity_start(&client->entity[i].host.entity);
		vgpu_entity_unhold(&client->entity[i].host.entity, VGPU_HOLD_STOPPED);
	}
	des_client_begin(client);
}

static void des_stop(struct des_client *client)
{
	struct des_sim *sim = client->sim;
	unsigned int i;

	if (!client->started)
		return;
	client->started = false;
	des_client_runnable(client);
	for (i = 0; i < sim->config->nr_engines; i++)
		vgpu_entity_stop(&client->entity[i].host.entity);
	des_client_drop(client);
}

static void des_hold(struct des_client *client, unsigned int hold, bool sync)
{
	unsigned int i;

	client->hold |= hold;
	des_client_runnable(client);
	for (i = 0; i < client->sim->config->nr_engines; i++) {
		if (sync)
			vgpu_entity_hold_sync(&client->entity[i].host.entity, hold);
		else
			vgpu_entity_hold(&client->entity[i].host.entity, hold);
	}
}

static void des_unhold(struct des_client *client, unsigned int hold)
{
	unsigned int i;

	client->hold &= ~hold;
	for (i = 0; i < client->sim->config->nr_engines; i++)
		vgpu_entity_unhold(&client->entity[i].host.entity, hold);
	des_client_runnable(client);
}

static void des_share(struct des_client *client, const struct vgpu_share *share)
{
	struct des_share_at *at = des_push(&client->record->shares);
	unsigned int i;

	at->at_ns = host_at(&client->sim->host);
	at->share = *share;
	for (i = 0; i < client->sim->config->nr_engines; i++)
		vgpu_entity_set_share(&client->entity[i].host.entity, share);
}

static void des_params(struct des_sim *sim, const struct vgpu_sched_params *params)
{
	bool other = params->policy != sim->host.engine[0].tl.rq.policy;
	struct des_params_at *at = des_push(&sim->des->params);
	struct vgpu_rq next;
	unsigned int i;

	at->at_ns = host_at(&sim->host);
	at->params = *params;
	for (i = 0; i < sim->config->nr_engines; i++) {
		if (other)
			BUG_ON(vgpu_timeline_prepare(&next, params));
		vgpu_timeline_set_params(&sim->host.engine[i].tl, params, other ? &next : NULL);
		if (other)
			vgpu_timeline_release(&next);
	}
}

static void des_act(struct des_sim *sim, const struct des_action *action)
{
	struct des_client *client = &sim->client[action->client];

	switch (action->kind) {
	case DES_START:
		des_start(client);
		break;
	case DES_STOP:
		des_stop(client);
		break;
	case DES_RESET:
		if (!client->started)
			break;
		des_hold(client, VGPU_HOLD_STOPPED, true);
		des_client_drop(client);
		des_unhold(client, VGPU_HOLD_STOPPED);
		des_client_begin(client);
		break;
	case DES_HOLD:
		des_hold(client, VGPU_HOLD_QUARANTINE, false);
		break;
	case DES_UNHOLD:
		des_unhold(client, VGPU_HOLD_QUARANTINE);
		break;
	case DES_SHARE:
		des_share(client, &action->share);
		break;
	case DES_PARAMS:
		des_params(sim, &action->params);
		break;
	case DES_LOAD:
		des_client_load(client, &action->load);
		break;
	case DES_DUE:
		*action->due = vgpu_entity_due(&client->entity[0].host.entity);
		break;
	case DES_JUMP:
		sim->host.now_ns += action->jump_ns;
		break;
	}
}

static void des_script_at(struct des_sim *sim)
{
	u64 due_ns = HOST_NEVER;

	if (sim->next_action < sim->config->nr_actions)
		due_ns = HOST_EPOCH_NS + sim->config->action[sim->next_action].at_ns;
	host_script_due_at(&sim->host, due_ns);
}

static void des_script_event(struct host *host)
{
	struct des_sim *sim = to_des_sim(host);

	/* An action may wait for the engines. No other action comes meanwhile. */
	host_script_due_at(host, HOST_NEVER);
	des_act(sim, &sim->config->action[sim->next_action++]);
	des_script_at(sim);
}

static bool des_unfinished(struct des_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->config->nr_clients; i++)
		if (sim->client[i].in_flight)
			return true;
	return false;
}

static void des_drain(struct des_sim *sim)
{
	unsigned int i;

	host_script_due_at(&sim->host, HOST_NEVER);
	for (i = 0; i < sim->config->nr_clients; i++) {
		des_client_drain(&sim->client[i]);
		if (sim->client[i].started)
			des_unhold(&sim->client[i], VGPU_HOLD_QUARANTINE);
	}
	while (des_unfinished(sim)) {
		if (!host_step(&sim->host, HOST_NEVER - 1)) {
			sim->des->stuck = true;
			break;
		}
	}
}

static void des_join(struct des_sim *sim, unsigned int index)
{
	const struct des_client_config *config = &sim->config->client[index];
	struct des_client *client = &sim->client[index];
	u8 id[VGPU_ENTITY_ID_LEN] = { index, index >> 8 };
	struct des_share_at *share;
	unsigned int i;

	client->sim = sim;
	client->index = index;
	client->load = config->load;
	client->record = &sim->des->client[index];
	client->hold_ns = DES_NEVER;
	client->unhold_ns = DES_NEVER;
	client->random = sim->config->seed ^
			 (config->id + 1) * 0xd1342543de82ef95ULL;
	share = des_push(&client->record->shares);
	share->at_ns = 0;
	share->share = config->share;
	for (i = 0; i < sim->config->nr_engines; i++) {
		struct des_entity *entity = &client->entity[i];

		entity->client = client;
		entity->host.engine = &sim->host.engine[i];
		entity->track = &client->record->track[i];
		entity->go_on_ns = DES_NEVER;
		vgpu_entity_init(&entity->host.entity, &sim->host.engine[i].tl, id, &config->share);
	}
}

static const struct host_model des_model = {
	.client_event = des_client_event,
	.script_event = des_script_event,
	.has = des_client_has,
	.work = des_client_work,
	.worked = des_client_worked,
	.stop_at = des_client_stop_at,
	.begins = des_record_begin,
	.served = des_record_served,
	.ends = des_record_end,
	.fault = des_client_fault,
};

static void des_begin(struct des_sim *sim)
{
	const struct des_config *config = sim->config;
	const struct host_settings set = {
		.seed = config->seed,
		.nr_engines = config->nr_engines,
		.nr_clients = config->nr_clients,
		.switch_ns = config->switch_ns,
		.poll_ns = config->poll_ns,
		.kick_ns = config->kick_ns,
		.timer_ns = config->timer_ns,
		.reset_ns = config->reset_ns,
	};
	unsigned int i;

	host_begin(&sim->host, &set, &des_model, &config->params);
	*des_push(&sim->des->params) = (struct des_params_at){
		.params = config->params,
	};
	for (i = 0; i < config->nr_clients; i++)
		des_join(sim, i);
	for (i = 0; i < config->nr_clients; i++)
		if (!config->client[i].stopped)
			des_start(&sim->client[i]);
	des_script_at(sim);
}

/* The record ends here: of a run that is under way it has what was done so far. */
static void des_finish(struct des_sim *sim)
{
	struct des *des = sim->des;
	unsigned int i, j;

	for (i = 0; i < sim->config->nr_engines; i++) {
		struct host_engine *engine = &sim->host.engine[i];
		struct des_engine_record *record = &des->engine[i];

		record->busy_ns = engine->tl.busy_ns;
		record->linger_ns = engine->tl.linger_ns;
		record->switches = engine->tl.switches;
		record->preempts = engine->tl.preempts;
		record->resets = engine->tl.resets;
		host_engine_flush(engine);
		if (engine->phase != HOST_OFF)
			des_record_run(engine, VGPU_RUN_PREEMPTED, false, false);
		for (j = 0; j < sim->config->nr_clients; j++)
			vgpu_entity_stats(&sim->client[j].entity[i].host.entity,
					  &des->client[j].track[i].stats);
	}
	for (i = 0; i < sim->config->nr_clients; i++)
		des->client[i].left = sim->client[i].in_flight;
	des->end_ns = host_at(&sim->host);
	des->events = sim->host.events;
	sim->recording = false;
}

static void des_end(struct des_sim *sim)
{
	unsigned int i, j;

	/* Stopping a client can take time, in which the others go on. */
	for (i = 0; i < sim->config->nr_clients; i++)
		des_stop(&sim->client[i]);
	for (i = 0; i < sim->config->nr_clients; i++)
		for (j = 0; j < sim->config->nr_engines; j++)
			vgpu_entity_exit(&sim->client[i].entity[j].host.entity);
	for (i = 0; i < sim->config->nr_clients; i++)
		for (j = 0; j < sim->config->nr_engines; j++)
			free(sim->client[i].entity[j].jobs);
	host_end(&sim->host);
}

/**
 * des_run() - simulate
 * @config: everything that happens; the result points to it, the caller frees it after the result
 *
 * Return: what happened; des_free() it.
 */
struct des *des_run(const struct des_config *config)
{
	struct des *des = host_alloc(1, sizeof(*des));
	struct des_sim *sim = host_alloc(1, sizeof(*sim));
	unsigned int i;

	des->config = config;
	des->client = host_alloc(config->nr_clients, sizeof(*des->client));
	sim->des = des;
	sim->config = config;
	sim->recording = true;
	sim->client = host_alloc(config->nr_clients, sizeof(*sim->client));
	des_begin(sim);
	host_run(&sim->host, config->length_ns, U64_MAX);
	des_finish(sim);
	if (config->drain)
		des_drain(sim);
	for (i = 0; i < config->nr_clients; i++)
		des_client_drain(&sim->client[i]);
	des_end(sim);
	free(sim->client);
	free(sim);
	return des;
}
