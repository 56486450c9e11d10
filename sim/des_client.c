// SPDX-License-Identifier: GPL-2.0
/* See des.h: what clients do by their loads. */
#include "des_sim.h"

#define DES_ENDLESS_NS	(1ULL << 60)

/* When the simulation ends no stage of a job takes longer than this. */
#define DES_DRAIN_NS	(100 * DES_US)

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

/* Queues @job for the engine of its present stage. */
static void client_put(struct des_client *client, struct des_job job)
{
	const struct des_stage *stage = &client->load.stage[job.stage];
	struct des_entity *entity = &client->entity[stage->engine];
	unsigned int sloppy = client->sim->config->sloppy_wakes;
	bool running = des_on_engine(entity);

	job.done_ns = 0;
	job.stalled = false;
	job.to_stall_ns = client->load.stall_every_ns ?: DES_NEVER;
	job.left_ns = job.endless ? DES_ENDLESS_NS :
		      random_upto(&client->random, stage->job_ns, stage->job_max_ns);
	if (entity->nr == entity->room)
		entity_grow(entity);
	entity->jobs[(entity->head + entity->nr++) % entity->room] = job;
	des_entity_runnable(entity);
	if (running)
		host_engine_poke(entity->host.engine);
	if (!running || (sloppy && random_range(&client->random, 1, sloppy) == 1))
		vgpu_entity_wake(&entity->host.entity);
}

static void client_submit(struct des_client *client, u64 due_ns)
{
	const struct des_load *load = &client->load;
	struct des_job job = {
		.submit_ns = host_at(&client->sim->host),
		.first_ns = DES_NEVER,
		.due_ns = due_ns,
		.endless = load->kind == DES_BUSY,
		.loads = client->loads,
	};

	if (load->hang_one_in)
		job.hung = random_range(&client->random, 1, load->hang_one_in) == 1;
	client->in_flight++;
	if (client->sim->recording)
		client->record->submitted++;
	client_put(client, job);
}

static void client_due(struct des_client *client)
{
	u64 due_ns = DES_NEVER;
	unsigned int i;

	for (i = 0; i < client->nr_due; i++)
		due_ns = min(due_ns, client->due_ns[i]);
	for (i = 0; i < client->sim->config->nr_engines; i++)
		due_ns = min(due_ns, client->entity[i].go_on_ns);
	due_ns = min(due_ns, min(client->hold_ns, client->unhold_ns));
	host_client_due_at(&client->sim->host, client->index, due_ns);
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

/* Exponentially distributed with a mean of period_ns, roughly. */
static u64 client_gap(struct des_client *client)
{
	u64 x = random_range(&client->random, 1, U64_MAX - 1), log, frac;

	/* -ln(x / 2^64) in 1/1024: the exponent, and the mantissa by a parabola. */
	log = __builtin_clzll(x);
	frac = (x << log << 1) >> 54;
	frac += (frac * (1024 - frac) * 352) >> 20;
	log = (log + 1) * 1024 - min(frac, 1024ULL);
	return (client->load.period_ns / 1024 * log * 710) >> 10;
}

/* DES_PERIODIC, DES_POISSON: submits a burst; jobs for which there is no room are refused. */
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
		client_add_due(client, client->sim->host.now_ns + client_gap(client));
		client_burst(client, DES_NEVER);
		break;
	case DES_PERIODIC:
		client->next_ns += load->period_ns;
		client_add_due(client, client->next_ns +
			       random_range(&client->random, 0, load->jitter_ns));
		client_burst(client, client->next_ns);
		break;
	case DES_NONE:
		break;
	}
}

/*
 * The first job of @entity, which is on its engine, has worked for as long as it does at a time:
 * either the job stalls now, or the client has its device held from now on.
 */
static void client_stall(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	const struct des_load *load = &client->load;
	struct des_job *job = des_job(entity);
	u64 ns = random_upto(&client->random, load->stall_ns, load->stall_max_ns);

	job->to_stall_ns = load->stall_every_ns ?: DES_NEVER;
	if (!load->stall_every_ns)
		return;
	if (load->stall_holds) {
		client->hold_ns = client->sim->host.now_ns;
		client->unhold_ns = client->sim->host.now_ns + ns;
	} else {
		job->stalled = true;
		entity->go_on_ns = client->sim->host.now_ns + ns;
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
	if (des_on_engine(entity))
		host_engine_poke(entity->host.engine);
	vgpu_entity_wake(&entity->host.entity);
}

/* A client has its own device held, or not any more. */
static void client_hold(struct des_client *client, bool hold)
{
	unsigned int i;

	if (hold)
		client->hold |= DES_HOLD_OWN;
	else
		client->hold &= ~DES_HOLD_OWN;
	des_client_runnable(client);
	for (i = 0; i < client->sim->config->nr_engines; i++) {
		struct vgpu_entity *entity = &client->entity[i].host.entity;

		if (hold)
			vgpu_entity_hold(entity, DES_HOLD_OWN);
		else
			vgpu_entity_unhold(entity, DES_HOLD_OWN);
	}
}

/* struct host_model.client_event: stalls, holds and jobs that are due */
void des_client_event(struct host *host, unsigned int index)
{
	struct des_client *client = &to_des_sim(host)->client[index];
	unsigned int i, nr = client->nr_due;
	u64 now_ns = host->now_ns;

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
 * des_client_begin() - begin a client's load
 * @client: the client; its device is open
 */
void des_client_begin(struct des_client *client)
{
	const struct des_load *load = &client->load;
	unsigned int i, nr = load->kind == DES_CLOSED ?
			     min(load->depth, (unsigned int)DES_MAX_DEPTH) : 1;

	client->loads++;
	client->nr_due = 0;
	client->began_ns = client->sim->host.now_ns + load->phase_ns;
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
		if (des_on_engine(entity))
			host_engine_poke(entity->host.engine);
	}
}

/**
 * des_client_load() - give a client another load
 * @client: the client; jobs that it has are still done, endless ones end soon
 * @load:   the load, on the same engines as the one before
 */
void des_client_load(struct des_client *client, const struct des_load *load)
{
	client_cut(client, false);
	client->load = *load;
	if (client->started)
		des_client_begin(client);
}

/**
 * des_client_drop() - drop all jobs of a client, as its device was closed or reset
 * @client: the client; not on an engine
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
 * des_client_drain() - have a client submit nothing more, and its jobs end soon
 * @client: the client
 */
void des_client_drain(struct des_client *client)
{
	client->loads++;
	client->nr_due = 0;
	client_due(client);
	client_cut(client, true);
}

/* @job was done or dropped: a client with a closed load submits the next one. */
static void client_next(struct des_client *client, const struct des_job *job)
{
	const struct des_load *load = &client->load;
	u64 ns;

	client->in_flight--;
	if (job->loads != client->loads || load->kind != DES_CLOSED)
		return;
	ns = random_upto(&client->random, load->think_ns, load->think_max_ns);
	if (!ns && !load->off_ns)
		client_submit(client, DES_NEVER);
	else
		client_add_due(client, client->sim->host.now_ns + ns);
}

static struct des_job entity_pop(struct des_entity *entity)
{
	struct des_job job = entity->jobs[entity->head];

	entity->head = (entity->head + 1) % entity->room;
	entity->nr--;
	return job;
}

/* The first job of @entity is done with its present stage. */
static void client_done(struct des_entity *entity)
{
	struct des_client *client = entity->client;
	struct des_record *record = client->record;
	struct des_job job = entity_pop(entity);
	u64 at_ns = host_at(&client->sim->host);

	if (job.loads == client->loads && job.stage + 1 < client->load.nr_stages) {
		job.stage++;
		client_put(client, job);
	} else {
		if (client->sim->recording) {
			record->completed++;
			record->missed += client->sim->host.now_ns > job.due_ns;
			*des_push(&record->jobs) = (struct des_done){
				job.submit_ns, job.first_ns, at_ns,
			};
		}
		client_next(client, &job);
	}
	des_entity_runnable(entity);
}

/* struct host_model.has */
enum host_has des_client_has(struct host_entity *entity)
{
	const struct des_job *job = des_job(to_des_entity(entity));

	if (!job)
		return HOST_NOTHING;
	return job->stalled ? HOST_STALLED : HOST_WORK;
}

/* struct host_model.work */
u64 des_client_work(struct host_engine *engine, u64 due_ns)
{
	struct des_entity *entity = to_des_entity(engine->entity);
	struct des_job *job = des_job(entity);

	if (!job->left_ns) {
		client_done(entity);
		return 0;
	}
	if (!job->to_stall_ns && !job->hung) {
		client_stall(entity);
		if (job->stalled)
			return 0;
	}
	if (job->first_ns == DES_NEVER)
		job->first_ns = host_at(engine->host);
	return job->hung ? job->left_ns : min(job->left_ns, job->to_stall_ns);
}

/* struct host_model.worked */
void des_client_worked(struct host_engine *engine, u64 ns)
{
	struct des_sim *sim = to_des_sim(engine->host);
	struct des_job *job = des_job(to_des_entity(engine->entity));

	if (!job)
		return;
	ns = min(ns, job->left_ns);
	if (!job->endless && !job->hung)
		job->left_ns -= ns;
	job->done_ns += ns;
	if (job->to_stall_ns != DES_NEVER)
		job->to_stall_ns -= min(ns, job->to_stall_ns);
	if (sim->recording)
		sim->des->engine[engine->index].worked_ns += ns;
}

/* struct host_model.stop_at */
u64 des_client_stop_at(struct host_engine *engine)
{
	struct des_entity *entity = to_des_entity(engine->entity);
	struct des_client *client = entity->client;
	const struct des_load *load = &client->load;
	struct des_job *job = des_job(entity);
	u64 ns = client->sim->config->save_ns;

	if (job->hung)
		return HOST_NEVER - 1;
	if (load->overrun_ns && host_at(engine->host) >= load->overrun_from_ns)
		ns += load->overrun_always ? load->overrun_ns :
		      random_range(&client->random, 0, load->overrun_ns);
	if (load->chunk_ns && job->done_ns % load->chunk_ns)
		ns += load->chunk_ns - job->done_ns % load->chunk_ns;
	return engine->host->now_ns + ns;
}

/* struct host_model.fault */
void des_client_fault(struct host_entity *host)
{
	struct des_entity *entity = to_des_entity(host);
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
