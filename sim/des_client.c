// SPDX-License-Identifier: GPL-2.0
/* See des.h: loads. */
#include <string.h>

#include "des_sim.h"

#define DES_ENDLESS_NS	(1ULL << 60)

/* At the end no job is left longer than this. */
#define DES_DRAIN_NS	(100 * DES_US)

/**
 * des_job() - what an engine is to do for an entity
 * @entity: which
 *
 * Return: its first job, or NULL.
 */
struct des_job *des_job(struct des_entity *entity)
{
	return entity->nr ? &entity->jobs[entity->head] : NULL;
}

/**
 * des_entity_runnable() - record whether it is, if that has changed
 * @entity: which
 */
void des_entity_runnable(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	struct des_track *track = entity->track;
	u64 at_ns = des_at(client->sim);
	bool runnable;

	if (!client->started || client->hold)
		entity->held_ns = at_ns;
	runnable = client->started && !client->hold && entity->nr &&
		   !des_job(entity)->stalled;
	if (runnable == entity->runnable)
		return;
	entity->runnable = runnable;
	if (!client->sim->recording)
		return;
	/* What lasts no time was not, but for a device that was closed or reset. */
	if (track->edges.nr && des_last(&track->edges)->at_ns == at_ns &&
	    entity->held_ns != at_ns)
		track->edges.nr--;
	else
		*des_push(&track->edges) = (struct des_edge){ at_ns, runnable };
	if (runnable && entity->engine->entity != entity) {
		*des_push(&track->waits) = (struct des_wait){ at_ns, DES_NEVER };
		entity->waits = true;
	} else if (!runnable && entity->waits) {
		track->waits.nr--;
		entity->waits = false;
	}
}

/**
 * des_client_runnable() - the same for all of a client's entities
 * @client: which
 */
void des_client_runnable(struct des_client *client)
{
	unsigned int i;

	for (i = 0; i < client->sim->config->nr_engines; i++)
		des_entity_runnable(&client->entity[i]);
}

static void entity_grow(struct des_entity *entity)
{
	unsigned int room = entity->room ? 2 * entity->room : 4, i;
	struct des_job *jobs = malloc(room * sizeof(*jobs));

	BUG_ON(!jobs);
	for (i = 0; i < entity->nr; i++)
		jobs[i] = entity->jobs[(entity->head + i) % entity->room];
	free(entity->jobs);
	entity->jobs = jobs;
	entity->head = 0;
	entity->room = room;
}

/* Puts @job, at the stage it is at, on the engine's ring. */
static void client_put(struct des_client *client, struct des_job job)
{
	const struct des_stage *stage = &client->load.stage[job.stage];
	struct des_entity *entity = &client->entity[stage->engine];
	struct des_sim *sim = client->sim;
	bool running = entity->engine->entity == entity;

	job.done_ns = 0;
	job.stalled = false;
	job.to_stall_ns = client->load.stall_every_ns ?: DES_NEVER;
	job.left_ns = job.endless ? DES_ENDLESS_NS :
		      des_random_upto(&client->random, stage->job_ns,
				      stage->job_max_ns);
	if (entity->nr == entity->room)
		entity_grow(entity);
	entity->jobs[(entity->head + entity->nr++) % entity->room] = job;
	des_entity_runnable(entity);
	if (running)
		des_engine_poke(entity->engine);
	if (!running || (sim->config->sloppy_wakes &&
			 des_random(&client->random, 1,
				    sim->config->sloppy_wakes) == 1))
		vgpu_entity_wake(&entity->entity);
}

static void client_submit(struct des_client *client, u64 due_ns)
{
	const struct des_load *load = &client->load;
	struct des_job job = {
		.submit_ns = des_at(client->sim),
		.first_ns = DES_NEVER,
		.due_ns = due_ns,
		.endless = load->kind == DES_BUSY,
		.loads = client->loads,
	};

	if (load->hang_one_in)
		job.hung = des_random(&client->random, 1,
				      load->hang_one_in) == 1;
	client->in_flight++;
	if (client->sim->recording)
		client->record->submitted++;
	client_put(client, job);
}

static void client_due(struct des_client *client)
{
	unsigned int source = client->sim->config->nr_engines + client->index;
	u64 due_ns = DES_NEVER;
	unsigned int i;

	for (i = 0; i < client->nr_due; i++)
		due_ns = min(due_ns, client->due_ns[i]);
	for (i = 0; i < client->sim->config->nr_engines; i++)
		due_ns = min(due_ns, client->entity[i].go_on_ns);
	due_ns = min(due_ns, min(client->hold_ns, client->unhold_ns));
	des_due_at(client->sim, source, due_ns);
}

static void client_add_due(struct des_client *client, u64 due_ns)
{
	const struct des_load *load = &client->load;
	u64 cycle_ns = load->on_ns + load->off_ns, phase_ns;

	if (load->off_ns && due_ns >= client->began_ns) {
		phase_ns = (due_ns - client->began_ns) % cycle_ns;
		if (phase_ns >= load->on_ns)
			due_ns += cycle_ns - phase_ns;
	}
	BUG_ON(client->nr_due == DES_MAX_DEPTH);
	client->due_ns[client->nr_due++] = due_ns;
	client_due(client);
}

/* As long as the mean of an exponential distribution says, roughly. */
static u64 client_gap(struct des_client *client)
{
	u64 x = des_random(&client->random, 1, U64_MAX - 1), log, frac;

	/* -ln(x / 2^64) in 1/1024: the exponent, and the mantissa by a parabola. */
	log = __builtin_clzll(x);
	frac = (x << log << 1) >> 54;
	frac += (frac * (1024 - frac) * 352) >> 20;
	log = (log + 1) * 1024 - min(frac, 1024ULL);
	return (client->load.period_ns / 1024 * log * 710) >> 10;
}

/* PERIODIC, POISSON: a burst, as far as there is room. */
static void client_burst(struct des_client *client, u64 due_ns)
{
	const struct des_load *load = &client->load;
	unsigned int i;

	for (i = 0; i < max(load->burst, 1U); i++) {
		if (client->in_flight < load->depth) {
			client_submit(client, due_ns);
		} else if (client->sim->recording) {
			client->record->refused++;
			client->record->missed += load->kind == DES_PERIODIC;
		}
	}
}

static void client_fire(struct des_client *client)
{
	const struct des_load *load = &client->load;

	switch (load->kind) {
	case DES_BUSY:
	case DES_CLOSED:
		client_submit(client, DES_NEVER);
		break;
	case DES_POISSON:
		client_add_due(client, client->sim->now_ns + client_gap(client));
		client_burst(client, DES_NEVER);
		break;
	case DES_PERIODIC:
		client->next_ns += load->period_ns;
		client_add_due(client, client->next_ns +
			       des_random(&client->random, 0, load->jitter_ns));
		client_burst(client, client->next_ns);
		break;
	case DES_NONE:
		break;
	}
}

/**
 * des_job_stall() - the first job of an entity has worked as long as it can
 * @entity: which; on an engine
 *
 * Either the job is stalled then, or its client's device is about to be held.
 */
void des_job_stall(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	const struct des_load *load = &client->load;
	struct des_job *job = des_job(entity);
	u64 ns = des_random_upto(&client->random, load->stall_ns,
				 load->stall_max_ns);

	job->to_stall_ns = load->stall_every_ns ?: DES_NEVER;
	if (!load->stall_every_ns)
		return;
	if (load->stall_holds) {
		client->hold_ns = client->sim->now_ns;
		client->unhold_ns = client->sim->now_ns + ns;
	} else {
		job->stalled = true;
		entity->go_on_ns = client->sim->now_ns + ns;
		des_entity_runnable(entity);
	}
	client_due(client);
}

static void client_go_on(struct des_entity *entity)
{
	struct des_job *job = des_job(entity);

	entity->go_on_ns = DES_NEVER;
	if (!job || !job->stalled)
		return;
	job->stalled = false;
	des_entity_runnable(entity);
	if (entity->engine->entity == entity)
		des_engine_poke(entity->engine);
	vgpu_entity_wake(&entity->entity);
}

/* What a client does with its own device. */
static void client_hold(struct des_client *client, bool hold)
{
	unsigned int i;

	if (hold)
		client->hold |= DES_HOLD_OWN;
	else
		client->hold &= ~DES_HOLD_OWN;
	des_client_runnable(client);
	for (i = 0; i < client->sim->config->nr_engines; i++) {
		struct vgpu_entity *entity = &client->entity[i].entity;

		if (hold)
			vgpu_entity_hold(entity, DES_HOLD_OWN);
		else
			vgpu_entity_unhold(entity, DES_HOLD_OWN);
	}
}

/**
 * des_client_event() - submit what is due
 * @client: which
 */
void des_client_event(struct des_client *client)
{
	unsigned int i, nr = client->nr_due;
	u64 now_ns = client->sim->now_ns;

	if (client->hold_ns <= now_ns) {
		client->hold_ns = DES_NEVER;
		client_hold(client, true);
	}
	if (client->unhold_ns <= now_ns) {
		client->unhold_ns = DES_NEVER;
		client_hold(client, false);
	}
	for (i = 0; i < client->sim->config->nr_engines; i++)
		if (client->entity[i].go_on_ns <= now_ns)
			client_go_on(&client->entity[i]);

	for (i = 0; i < nr; ) {
		if (client->due_ns[i] > now_ns) {
			i++;
			continue;
		}
		client->due_ns[i] = client->due_ns[--client->nr_due];
		client_fire(client);
		nr = min(nr, client->nr_due);
	}
	client_due(client);
}

/**
 * des_client_begin() - its load begins now, from the beginning
 * @client: which
 */
void des_client_begin(struct des_client *client)
{
	const struct des_load *load = &client->load;
	unsigned int i, nr = load->kind == DES_CLOSED ?
			     min(load->depth, (unsigned int)DES_MAX_DEPTH) : 1;

	client->loads++;
	client->nr_due = 0;
	client->began_ns = client->sim->now_ns + load->phase_ns;
	client->next_ns = client->began_ns;
	if (load->kind == DES_NONE)
		nr = 0;
	for (i = 0; i < nr; i++)
		client_add_due(client, client->began_ns);
	client_due(client);
}

static void client_cut(struct des_client *client, bool all)
{
	struct des_sim *sim = client->sim;
	unsigned int i, j;

	for (i = 0; i < sim->config->nr_engines; i++) {
		struct des_entity *entity = &client->entity[i];

		for (j = 0; j < entity->nr; j++) {
			struct des_job *job;

			job = &entity->jobs[(entity->head + j) % entity->room];
			if (!all && !job->endless)
				continue;
			job->endless = false;
			job->left_ns = min(job->left_ns, DES_DRAIN_NS);
		}
		if (entity->engine->entity == entity)
			des_engine_poke(entity->engine);
	}
}

/**
 * des_client_load() - give it another load
 * @client: which; what jobs it has are still done
 * @load:   that; on the same engines
 */
void des_client_load(struct des_client *client, const struct des_load *load)
{
	client_cut(client, false);
	client->load = *load;
	if (client->started)
		des_client_begin(client);
}

/**
 * des_client_drop() - its device is closed or reset: it has no jobs any more
 * @client: which; not on an engine
 */
void des_client_drop(struct des_client *client)
{
	unsigned int i;

	if (client->sim->recording)
		client->record->dropped += client->in_flight;
	client->in_flight = 0;
	client->loads++;
	client->nr_due = 0;
	client_due(client);
	for (i = 0; i < client->sim->config->nr_engines; i++) {
		client->entity[i].nr = 0;
		client->entity[i].go_on_ns = DES_NEVER;
	}
	des_client_runnable(client);
}

/**
 * des_client_drain() - it submits nothing any more, and has little left
 * @client: which
 */
void des_client_drain(struct des_client *client)
{
	client->loads++;
	client->nr_due = 0;
	client_due(client);
	client_cut(client, true);
}

/* A job has ended, one way or the other. */
static void client_next(struct des_client *client, const struct des_job *job)
{
	const struct des_load *load = &client->load;
	u64 ns;

	client->in_flight--;
	if (job->loads != client->loads || load->kind != DES_CLOSED)
		return;
	ns = des_random_upto(&client->random, load->think_ns,
			     load->think_max_ns);
	if (!ns && !load->off_ns)
		client_submit(client, DES_NEVER);
	else
		client_add_due(client, client->sim->now_ns + ns);
}

static struct des_job entity_pop(struct des_entity *entity)
{
	struct des_job job = entity->jobs[entity->head];

	entity->head = (entity->head + 1) % entity->room;
	entity->nr--;
	return job;
}

/**
 * des_job_done() - the first job of an entity is done, at this stage
 * @entity: which
 */
void des_job_done(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	struct des_record *record = client->record;
	struct des_job job = entity_pop(entity);
	u64 at_ns = des_at(client->sim);

	if (job.loads == client->loads &&
	    job.stage + 1 < client->load.nr_stages) {
		job.stage++;
		client_put(client, job);
	} else {
		if (client->sim->recording) {
			record->completed++;
			record->missed += at_ns + DES_EPOCH_NS > job.due_ns;
			*des_push(&record->jobs) = (struct des_done){
				job.submit_ns, job.first_ns, at_ns,
			};
		}
		client_next(client, &job);
	}
	des_entity_runnable(entity);
}

/**
 * des_job_fault() - the engine was reset as an entity's first job did not stop
 * @entity: which
 */
void des_job_fault(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	struct des_job job;

	if (!entity->nr)
		return;
	job = entity_pop(entity);
	if (client->sim->recording)
		client->record->faulted++;
	client_next(client, &job);
	des_entity_runnable(entity);
}
