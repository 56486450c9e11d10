// SPDX-License-Identifier: GPL-2.0
/* See des.h: records. */
#include "des_sim.h"

/**
 * des_entity_runnable() - record whether an entity is runnable, if that has changed
 * @entity: the entity
 */
void des_entity_runnable(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	struct des_track *track = entity->track;
	u64 at_ns = host_at(&client->sim->host);
	bool runnable;

	if (!client->started || client->hold)
		entity->held_ns = at_ns;
	runnable = client->started && !client->hold && entity->nr && !des_job(entity)->stalled;
	if (runnable == entity->runnable)
		return;
	entity->runnable = runnable;
	if (!client->sim->recording)
		return;
	/* A change that lasts no time is none, unless the device was closed or reset in between. */
	if (track->edges.nr && des_last(&track->edges)->at_ns == at_ns && entity->held_ns != at_ns)
		track->edges.nr--;
	else
		*des_push(&track->edges) = (struct des_edge){ at_ns, runnable };
	if (runnable && !des_on_engine(entity)) {
		*des_push(&track->waits) = (struct des_wait){ at_ns, DES_NEVER };
		entity->waits = true;
	} else if (!runnable && entity->waits) {
		track->waits.nr--;
		entity->waits = false;
	}
}

/**
 * des_client_runnable() - des_entity_runnable() for a client's entities on all engines
 * @client: the client
 */
void des_client_runnable(struct des_client *client)
{
	unsigned int i;

	for (i = 0; i < client->sim->config->nr_engines; i++)
		des_entity_runnable(&client->entity[i]);
}

/* A run begins, and with that a wait ends. */
void des_record_begin(struct host_engine *engine)
{
	struct des_entity *entity = to_des_entity(engine->entity);

	if (entity->waits && entity->client->sim->recording)
		des_last(&entity->track->waits)->run_ns = host_at(engine->host);
	entity->waits = false;
}

/* The engine was occupied by its entity in [@start_ns, @end_ns) of the clock. */
void des_record_served(struct host_engine *engine, u64 start_ns, u64 end_ns)
{
	struct des_track *track = to_des_entity(engine->entity)->track;

	if (!to_des_sim(engine->host)->recording)
		return;
	start_ns -= HOST_EPOCH_NS;
	end_ns -= HOST_EPOCH_NS;
	track->busy_ns += end_ns - start_ns;
	if (track->spans.nr && des_last(&track->spans)->end_ns == start_ns)
		des_last(&track->spans)->end_ns = end_ns;
	else
		*des_push(&track->spans) = (struct des_span){ start_ns, end_ns };
}

/**
 * des_record_run() - record a run
 * @engine: its engine
 * @end:    how it ended
 * @ended:  it has; false: the record ends while it is under way
 * @reset:  it ended by a reset of the engine
 */
void des_record_run(struct host_engine *engine, enum vgpu_run_end end, bool ended, bool reset)
{
	struct des_sim *sim = to_des_sim(engine->host);
	struct des_engine_record *record = &sim->des->engine[engine->index];
	u64 due_ns, end_ns = host_at(engine->host);

	if (!sim->recording)
		return;
	*des_push(&record->runs) = (struct des_run){
		.client = to_des_entity(engine->entity)->client->index,
		.start_ns = engine->start_ns - HOST_EPOCH_NS,
		.end_ns = end_ns,
		.deadline_ns = engine->deadline_ns - HOST_EPOCH_NS,
		.stop_ns = engine->stop_ns == HOST_NEVER ? DES_NEVER :
			   engine->stop_ns - HOST_EPOCH_NS,
		.idle_ns = engine->idle_ns,
		.linger_ns = engine->linger_ns,
		.switch_ns = engine->restore_ns,
		.end = end,
		.reset = reset,
		.ended = ended,
	};
	due_ns = min(des_last(&record->runs)->deadline_ns, des_last(&record->runs)->stop_ns);
	if (engine->phase != HOST_IDLE && end_ns > due_ns)
		record->overrun_ns = max(record->overrun_ns, end_ns - due_ns);
}

void des_record_end(struct host_engine *engine, enum vgpu_run_end end, bool reset)
{
	des_record_run(engine, end, true, reset);
}

/* Frees a record of des_run(); its configuration is still there. */
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
 * des_service_ns() - the service of an entity in an interval
 * @des:     record
 * @client:  index of the client
 * @engine:  index of the engine
 * @from_ns: begin of the interval
 * @to_ns:   end of the interval
 *
 * Return: ns of service.
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
 * des_runnable_ns() - for how much of an interval an entity had work and was not held
 * @des:     record
 * @client:  index of the client
 * @engine:  index of the engine
 * @from_ns: begin of the interval
 * @to_ns:   end of the interval
 *
 * Return: ns in which it was runnable.
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
