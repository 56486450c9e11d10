// SPDX-License-Identifier: GPL-2.0
/* See des.h: engines. */
#include <string.h>

#include "des_sim.h"

/* How often an engine that may go on looking asks whether it still may. */
#define DES_POLL_NS	(1 * DES_US)

static struct des_entity *to_entity(struct vgpu_entity *entity)
{
	return container_of(entity, struct des_entity, entity);
}

static struct des_engine *to_engine(struct vgpu_timeline *tl)
{
	return tl->ops_data;
}

/**
 * des_engine_poke() - there is something to see, soon
 * @engine: which
 */
void des_engine_poke(struct des_engine *engine)
{
	des_due_at(engine->sim, engine->index, engine->sim->now_ns);
}

static void engine_span(struct des_engine *engine)
{
	struct des_sim *sim = engine->sim;
	struct des_track *track = engine->entity->track;
	u64 start_ns = engine->span_ns - DES_EPOCH_NS, end_ns = des_at(sim);

	engine->span_ns = sim->now_ns;
	if (!sim->recording || start_ns == end_ns)
		return;
	track->busy_ns += end_ns - start_ns;
	if (track->spans.nr && des_last(&track->spans)->end_ns == start_ns)
		des_last(&track->spans)->end_ns = end_ns;
	else
		*des_push(&track->spans) = (struct des_span){ start_ns, end_ns };
}

/* Brings what has been done since engine->mark_ns up to now. */
static void engine_account(struct des_engine *engine)
{
	u64 ns = engine->sim->now_ns - engine->mark_ns, work_ns;
	struct des_job *job;

	engine->mark_ns = engine->sim->now_ns;
	switch (engine->phase) {
	case DES_SWITCH:
		engine->switch_ns -= min(engine->switch_ns, ns);
		break;
	case DES_WORK:
		job = des_job(engine->entity);
		if (!job)
			break;
		work_ns = min(ns, job->left_ns);
		if (!job->endless && !job->hung)
			job->left_ns -= work_ns;
		job->done_ns += work_ns;
		if (job->to_stall_ns != DES_NEVER)
			job->to_stall_ns -= min(work_ns, job->to_stall_ns);
		if (engine->sim->recording)
			engine->record->worked_ns += work_ns;
		break;
	case DES_IDLE:
		engine->run.idle_ns += ns;
		break;
	case DES_LINGER:
		engine->run.linger_ns += ns;
		break;
	case DES_OFF:
	case DES_IN_RESET:
		break;
	}
}

static void engine_phase(struct des_engine *engine, enum des_phase phase)
{
	if (engine->phase == phase)
		return;
	if (phase == DES_IDLE)
		engine_span(engine);
	else if (engine->phase == DES_IDLE)
		engine->span_ns = engine->sim->now_ns;
	engine->phase = phase;
}

static void engine_begin(struct des_engine *engine, struct vgpu_entity *next,
			 u64 deadline_ns)
{
	struct des_entity *entity = to_entity(next);
	struct des_sim *sim = engine->sim;

	BUG_ON(engine->phase != DES_OFF);
	engine->entity = entity;
	engine->mark_ns = sim->now_ns;
	engine->span_ns = sim->now_ns;
	/* Who was lingered on when the slice was over has no time anew. */
	if (engine->ran != entity || des_job(entity))
		engine->empty_ns = DES_NEVER;
	engine->end_ns = DES_NEVER;
	engine->switch_ns = engine->ran == entity ? 0 : sim->config->switch_ns;
	engine->ran = entity;
	engine->run = (struct des_run){
		.client = entity->client->index,
		.start_ns = des_at(sim),
		.deadline_ns = deadline_ns - DES_EPOCH_NS,
		.switch_ns = engine->switch_ns,
	};
	if (entity->waits && sim->recording)
		des_last(&entity->track->waits)->run_ns = des_at(sim);
	entity->waits = false;
	engine->phase = DES_SWITCH;
	des_engine_poke(engine);
}

static void engine_record(struct des_engine *engine, enum vgpu_run_end end,
			  bool ended, bool reset)
{
	struct des_run *run = &engine->run;
	struct des_sim *sim = engine->sim;
	u64 due_ns;

	if (!sim->recording)
		return;
	run->end_ns = des_at(sim);
	run->end = end;
	run->reset = reset;
	run->ended = ended;
	run->stop_ns = engine->stop_ns == DES_NEVER ? DES_NEVER :
						      engine->stop_ns - DES_EPOCH_NS;
	*des_push(&engine->record->runs) = *run;
	due_ns = min(run->deadline_ns, run->stop_ns);
	if (engine->phase != DES_IDLE && run->end_ns > due_ns)
		engine->record->overrun_ns = max(engine->record->overrun_ns,
						 run->end_ns - due_ns);
}

static bool engine_stalled(const struct des_engine *engine)
{
	const struct des_job *job = des_job(engine->entity);

	return job && job->stalled;
}

static void engine_done(struct des_engine *engine)
{
	enum vgpu_run_end end = VGPU_RUN_IDLE;
	struct vgpu_entity *next;
	u64 deadline_ns, due_ns;

	/* When it is to stop it does not look whether there is more. */
	due_ns = min(engine->run.deadline_ns + DES_EPOCH_NS, engine->stop_ns);
	if (engine_stalled(engine))
		end = VGPU_RUN_STALLED;
	else if (des_job(engine->entity) ||
		 (engine->sim->now_ns >= due_ns && engine->phase != DES_IDLE))
		end = VGPU_RUN_PREEMPTED;

	if (engine->phase != DES_IDLE)
		engine_span(engine);
	engine_record(engine, end, true, false);
	engine->phase = DES_OFF;
	engine->entity = NULL;
	engine->stop_ns = DES_NEVER;
	des_due_at(engine->sim, engine->index, DES_NEVER);
	next = vgpu_timeline_done(&engine->tl, end, engine->run.idle_ns,
				  engine->run.linger_ns, &deadline_ns);
	if (next)
		engine_begin(engine, next, deadline_ns);
}

/* It is to stop since @due_ns, and notices now: when will it have? */
static u64 engine_stops_ns(struct des_engine *engine)
{
	struct des_client *client = engine->entity->client;
	const struct des_load *load = &client->load;
	struct des_job *job = des_job(engine->entity);
	u64 ns = 0;

	if (!job)
		return engine->sim->now_ns;
	if (job->hung)
		return DES_NEVER - 1;
	if (load->overrun_ns && des_at(engine->sim) >= load->overrun_from_ns)
		ns = load->overrun_always ? load->overrun_ns :
		     des_random(&client->random, 0, load->overrun_ns);
	if (load->chunk_ns && job->done_ns % load->chunk_ns)
		ns += load->chunk_ns - job->done_ns % load->chunk_ns;
	return engine->sim->now_ns + engine->switch_ns + ns +
	       engine->sim->config->save_ns;
}

/* Nothing to do: go on looking? */
static bool engine_poll(struct des_engine *engine, u64 due_ns)
{
	struct des_sim *sim = engine->sim;
	u64 empty_ns, until_ns;

	if (engine->empty_ns == DES_NEVER)
		engine->empty_ns = sim->now_ns;
	empty_ns = sim->now_ns - engine->empty_ns;
	switch (vgpu_timeline_poll(&engine->tl, empty_ns)) {
	case VGPU_POLL_IDLE:
		if (sim->now_ns >= due_ns)
			return false;
		until_ns = engine->empty_ns + sim->config->poll_ns;
		if (sim->now_ns >= until_ns)
			return false;
		engine_phase(engine, DES_IDLE);
		break;
	case VGPU_POLL_WAIT:
		if (sim->now_ns >= due_ns)
			return false;
		/* The answer is the same until then, or somebody waits. */
		until_ns = engine->empty_ns + engine->tl.pick.linger_ns + 1;
		engine_phase(engine, DES_IDLE);
		break;
	case VGPU_POLL_LINGER:
		if (sim->now_ns >= due_ns) {
			engine_phase(engine, DES_LINGER);
			return false;
		}
		/* The answer is the same until then. */
		until_ns = max(engine->empty_ns + engine->tl.pick.linger_ns + 1,
			       sim->now_ns + DES_POLL_NS);
		engine_phase(engine, DES_LINGER);
		break;
	default:
		return false;
	}
	des_due_at(sim, engine->index, min(until_ns, due_ns));
	return true;
}

/**
 * des_engine_event() - go on until there is nothing to do at once
 * @engine: which; something is due or has happened
 */
void des_engine_event(struct des_engine *engine)
{
	struct des_sim *sim = engine->sim;
	struct des_job *job;
	u64 due_ns, until_ns;

	des_due_at(sim, engine->index, DES_NEVER);
	if (engine->phase == DES_OFF || engine->phase == DES_IN_RESET)
		return;
	engine_account(engine);
	due_ns = min(engine->run.deadline_ns + DES_EPOCH_NS, engine->stop_ns);
	if (engine->switch_ns) {
		des_due_at(sim, engine->index, sim->now_ns + engine->switch_ns);
		return;
	}
	for (;;) {
		job = des_job(engine->entity);
		if (!job) {
			if (!engine_poll(engine, due_ns))
				engine_done(engine);
			return;
		}
		engine->empty_ns = DES_NEVER;
		engine_phase(engine, DES_WORK);
		if (!job->to_stall_ns && job->left_ns && !job->hung)
			des_job_stall(engine->entity);
		if (job->stalled)
			break;
		if (job->left_ns) {
			if (job->first_ns == DES_NEVER)
				job->first_ns = des_at(sim);
			if (engine->end_ns == DES_NEVER && sim->now_ns >= due_ns)
				engine->end_ns = engine_stops_ns(engine);
			if (sim->now_ns >= engine->end_ns)
				break;
			until_ns = min(sim->now_ns + job->left_ns,
				       engine->end_ns);
			if (job->to_stall_ns != DES_NEVER && !job->hung)
				until_ns = min(until_ns,
					       sim->now_ns + job->to_stall_ns);
			if (engine->end_ns == DES_NEVER)
				until_ns = min(until_ns, due_ns);
			des_due_at(sim, engine->index, until_ns);
			return;
		}
		des_job_done(engine->entity);
		/* It looks whether it is to stop between jobs. */
		if (sim->now_ns >= due_ns && des_job(engine->entity))
			break;
	}
	engine_done(engine);
}

/**
 * des_engine_flush() - the record ends
 * @engine: which
 */
void des_engine_flush(struct des_engine *engine)
{
	if (engine->phase == DES_OFF)
		return;
	engine_account(engine);
	if (engine->phase != DES_IDLE)
		engine_span(engine);
	/* The run is not over, but what is past its deadline is. */
	engine_record(engine, VGPU_RUN_PREEMPTED, false, false);
}

static void des_op_run(struct vgpu_timeline *tl, struct vgpu_entity *entity,
		       u64 deadline_ns)
{
	engine_begin(to_engine(tl), entity, deadline_ns);
}

static void des_op_preempt(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct des_engine *engine = to_engine(tl);

	engine->stop_ns = min(engine->stop_ns, engine->sim->now_ns);
	des_engine_poke(engine);
}

static void des_op_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct des_engine *engine = to_engine(tl);
	struct des_entity *hung = to_entity(entity);

	/* It may have stopped by itself just before. */
	if (engine->phase == DES_OFF)
		return;
	engine_account(engine);
	engine_phase(engine, DES_IN_RESET);
	des_sleep_ns(engine->sim, engine->sim->config->reset_ns);
	engine_span(engine);
	engine_record(engine, VGPU_RUN_PREEMPTED, true, true);
	engine->phase = DES_OFF;
	engine->entity = NULL;
	engine->ran = NULL;
	engine->stop_ns = DES_NEVER;
	des_due_at(engine->sim, engine->index, DES_NEVER);
	des_job_fault(hung);
	vgpu_entity_account_fault(entity);
}

const struct vgpu_timeline_ops des_engine_ops = {
	.run = des_op_run,
	.preempt = des_op_preempt,
	.reset = des_op_reset,
};
