// SPDX-License-Identifier: GPL-2.0
/* See host.h: the engines. */
#include "host.h"

/* An engine that lingers asks this often whether it still may, or less often. */
#define POLL_NS		1000ULL

static struct host_engine *to_engine(struct vgpu_timeline *tl)
{
	return tl->ops_data;
}

/* What comes next, at a time by the engine's clock. */
static void engine_due_at(struct host_engine *engine, u64 due_ns)
{
	host_due_at(engine->host, engine->index, vgpu_clock_real(&engine->tl.clock, due_ns));
}

/**
 * host_engine_poke() - have an engine look at its client anew
 * @engine: the engine
 */
void host_engine_poke(struct host_engine *engine)
{
	host_due_at(engine->host, engine->index, engine->host->now_ns);
}

/* Reports service since engine->span_ns. */
static void engine_span(struct host_engine *engine)
{
	u64 now_ns = host_engine_now_ns(engine);

	if (engine->span_ns != now_ns)
		engine->host->model->served(engine, engine->span_ns, now_ns);
	engine->span_ns = now_ns;
}

/**
 * host_engine_account() - bring what an engine did since engine->mark_ns up to now
 * @engine: the engine
 *
 * To be called before a client changes what it has for an engine on which it is.
 */
void host_engine_account(struct host_engine *engine)
{
	u64 now_ns = host_engine_now_ns(engine), ns = now_ns - engine->mark_ns;

	engine->mark_ns = now_ns;
	switch (engine->phase) {
	case HOST_SWITCH:
		engine->switch_ns -= min(engine->switch_ns, ns);
		break;
	case HOST_BUSY:
		engine->host->model->worked(engine, ns);
		break;
	case HOST_IDLE:
		engine->idle_ns += ns;
		break;
	case HOST_LINGER:
		engine->linger_ns += ns;
		break;
	case HOST_OFF:
	case HOST_WAIT:
	case HOST_RESET:
		break;
	}
}

/* Only HOST_IDLE is not service. */
static void engine_phase(struct host_engine *engine, enum host_phase phase)
{
	if (engine->phase == phase)
		return;
	if (phase == HOST_IDLE)
		engine_span(engine);
	else if (engine->phase == HOST_IDLE)
		engine->span_ns = host_engine_now_ns(engine);
	engine->phase = phase;
}

static void engine_begin(struct host_engine *engine, struct vgpu_entity *next, u64 deadline_ns)
{
	struct host_entity *entity = to_host_entity(next);
	struct host *host = engine->host;

	BUG_ON(engine->phase != HOST_OFF);
	/*
	 * An entity on which the engine lingered to the end of its slice is not lingered on anew.
	 */
	if (engine->ran != entity || host->model->has(entity) != HOST_NOTHING)
		engine->empty_ns = HOST_NEVER;
	engine->wait_ns = HOST_NEVER;
	engine->restore_ns = engine->ran == entity ? 0 : host->set.switch_ns;
	engine->switch_ns = engine->restore_ns;
	engine->entity = entity;
	engine->ran = entity;
	engine->start_ns = host_engine_now_ns(engine);
	engine->mark_ns = engine->start_ns;
	engine->span_ns = engine->start_ns;
	engine->deadline_ns = deadline_ns;
	engine->end_ns = HOST_NEVER;
	engine->idle_ns = 0;
	engine->linger_ns = 0;
	host->model->begins(engine);
	engine->phase = HOST_SWITCH;
	host_engine_poke(engine);
}

static void engine_off(struct host_engine *engine, enum vgpu_run_end end, bool reset)
{
	if (engine->phase != HOST_IDLE)
		engine_span(engine);
	engine->host->model->ends(engine, end, reset);
	engine->phase = HOST_OFF;
	engine->entity = NULL;
	engine->stop_ns = HOST_NEVER;
	engine_due_at(engine, HOST_NEVER);
}

static void engine_done(struct host_engine *engine)
{
	const struct host_model *model = engine->host->model;
	struct host_entity *entity = engine->entity;
	enum vgpu_run_end end = VGPU_RUN_IDLE;
	struct vgpu_entity *next;
	u64 deadline_ns;

	switch (model->has(entity)) {
	case HOST_STALLED:
		end = VGPU_RUN_STALLED;
		break;
	case HOST_WORK:
		end = VGPU_RUN_PREEMPTED;
		break;
	case HOST_NOTHING:
		/* An engine that is to stop does not look whether there is more. */
		if (host_engine_now_ns(engine) >= host_engine_due_ns(engine) &&
		    engine->phase != HOST_IDLE)
			end = VGPU_RUN_PREEMPTED;
		break;
	}
	engine_off(engine, end, false);
	next = vgpu_timeline_done(&engine->tl, end, engine->idle_ns, engine->linger_ns,
				  &deadline_ns);
	if (next)
		engine_begin(engine, next, deadline_ns);
	if (model->left)
		model->left(entity);
}

/* The client has no work. Return: whether the engine goes on looking for some. */
static bool engine_poll(struct host_engine *engine, u64 due_ns)
{
	const struct host_settings *set = &engine->host->set;
	u64 now_ns = host_engine_now_ns(engine), until_ns;

	if (engine->empty_ns == HOST_NEVER)
		engine->empty_ns = now_ns;
	switch (vgpu_timeline_poll(&engine->tl, now_ns - engine->empty_ns)) {
	case VGPU_POLL_IDLE:
		until_ns = engine->empty_ns + set->poll_ns;
		if (now_ns >= min(due_ns, until_ns))
			return false;
		engine_phase(engine, HOST_IDLE);
		break;
	case VGPU_POLL_WAIT:
		if (now_ns >= due_ns)
			return false;
		/* The answer is the same until then, or until another entity waits. */
		until_ns = set->look_ns ? now_ns + set->look_ns :
			   engine->empty_ns + engine->tl.pick.linger_ns + 1;
		engine_phase(engine, HOST_IDLE);
		break;
	case VGPU_POLL_LINGER:
		engine_phase(engine, HOST_LINGER);
		if (now_ns >= due_ns)
			return false;
		/* The answer is the same until then. */
		until_ns = max(engine->empty_ns + engine->tl.pick.linger_ns + 1, now_ns + POLL_NS);
		break;
	default:
		return false;
	}
	engine_due_at(engine, min(until_ns, due_ns));
	return true;
}

/* All of the client's work waits for guest memory. Return: whether the engine waits, too. */
static bool engine_wait(struct host_engine *engine, u64 due_ns)
{
	const struct host_settings *set = &engine->host->set;
	u64 now_ns = host_engine_now_ns(engine);

	if (!set->look_ns || now_ns >= due_ns)
		return false;
	engine_phase(engine, HOST_WAIT);
	if (engine->wait_ns == HOST_NEVER)
		engine->wait_ns = now_ns;
	if (now_ns - engine->wait_ns >= set->stall_ns &&
	    vgpu_timeline_poll(&engine->tl, now_ns - engine->wait_ns) == VGPU_POLL_STOP)
		return false;
	engine_due_at(engine, min(now_ns + max(set->stall_ns, set->look_ns), due_ns));
	return true;
}

/* At the end of its slots an engine leaves its work; then it has stopped, too, if it is to stop. */
static bool engine_left(const struct host_engine *engine)
{
	return engine->end_ns < HOST_NEVER - 1 && host_engine_rests(engine);
}

static void engine_leaves(struct host_engine *engine)
{
	struct host *host = engine->host;
	u64 stands_ns = vgpu_clock_stands_at(&engine->tl.clock, host->now_ns);

	if (engine->end_ns != HOST_NEVER && stands_ns > host->now_ns)
		host_due_at(host, engine->index, min(host->due_ns[engine->index], stands_ns));
}

/*
 * The client has work. Return: false: the run is over; true: look again, at once or when it is due.
 */
static bool engine_work(struct host_engine *engine, u64 due_ns)
{
	const struct host_model *model = engine->host->model;
	u64 now_ns = host_engine_now_ns(engine), work_ns;

	engine->empty_ns = HOST_NEVER;
	engine->wait_ns = HOST_NEVER;
	engine_phase(engine, HOST_BUSY);
	work_ns = model->work(engine, due_ns);
	if (!work_ns) {
		/* Between two jobs the engine looks whether it is to stop. */
		engine_due_at(engine, HOST_NEVER);
		return now_ns < due_ns || model->has(engine->entity) != HOST_WORK;
	}
	if (engine->end_ns == HOST_NEVER && now_ns >= due_ns)
		engine->end_ns = model->stop_at(engine);
	if (now_ns >= engine->end_ns || engine_left(engine))
		return false;
	engine_due_at(engine, min(now_ns + work_ns,
				  engine->end_ns == HOST_NEVER ? due_ns : engine->end_ns));
	engine_leaves(engine);
	return true;
}

/**
 * host_engine_event() - something is due or has happened: go on until there is nothing to do at
 * once
 * @engine: the engine
 */
void host_engine_event(struct host_engine *engine)
{
	struct host *host = engine->host;
	u64 due_ns = host_engine_due_ns(engine), now_ns = host_engine_now_ns(engine);
	bool goes_on;

	engine_due_at(engine, HOST_NEVER);
	if (engine->phase == HOST_OFF || engine->phase == HOST_RESET)
		return;
	host_engine_account(engine);
	/* An engine that rests has begun nothing that it would have to end first. */
	if (engine->switch_ns && !(now_ns >= due_ns && host_engine_rests(engine))) {
		engine_due_at(engine, now_ns + engine->switch_ns);
		return;
	}
	do {
		switch (host->model->has(engine->entity)) {
		case HOST_WORK:
			goes_on = engine_work(engine, due_ns);
			break;
		case HOST_STALLED:
			goes_on = engine_wait(engine, due_ns);
			break;
		default:
			goes_on = engine_poll(engine, due_ns);
			break;
		}
	} while (goes_on && host->due_ns[engine->index] == HOST_NEVER);
	if (!goes_on)
		engine_done(engine);
}

/**
 * host_engine_flush() - the record ends: account for a run under way, and report its service
 * @engine: the engine
 */
void host_engine_flush(struct host_engine *engine)
{
	if (engine->phase == HOST_OFF)
		return;
	host_engine_account(engine);
	if (engine->phase != HOST_IDLE)
		engine_span(engine);
}

static void engine_op_run(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 deadline_ns)
{
	engine_begin(to_engine(tl), entity, deadline_ns);
}

static void engine_op_preempt(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct host_engine *engine = to_engine(tl);

	engine->stop_ns = min(engine->stop_ns, host_engine_now_ns(engine));
	host_engine_poke(engine);
}

static void engine_op_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct host_engine *engine = to_engine(tl);

	/* The engine may have stopped by itself just before. */
	if (engine->phase == HOST_OFF)
		return;
	host_engine_account(engine);
	engine_phase(engine, HOST_RESET);
	host_worker_sleep(engine->host, engine->host->set.reset_ns);
	engine_off(engine, VGPU_RUN_PREEMPTED, true);
	engine->ran = NULL;
	engine->host->model->fault(to_host_entity(entity));
	vgpu_entity_account_fault(entity);
}

static void engine_op_overrun(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 overrun_ns)
{
	const struct host_model *model = to_engine(tl)->host->model;

	if (model->overrun)
		model->overrun(to_host_entity(entity));
}

const struct vgpu_timeline_ops host_engine_ops = {
	.run = engine_op_run,
	.preempt = engine_op_preempt,
	.reset = engine_op_reset,
	.overrun = engine_op_overrun,
};
