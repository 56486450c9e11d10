// SPDX-License-Identifier: GPL-2.0
/* See attack_sim.h: the engine. */
#include <stdlib.h>

#include "attack_model.h"

/* Accounts what the engine did up to now. */
void sim_account(struct sim *sim)
{
	u64 ns = sim->now_ns - sim->mark_ns;
	struct sim_channel *ch;

	sim->mark_ns = sim->now_ns;
	if (sim->phase == SIM_SWITCH) {
		sim->switch_ns -= min(sim->switch_ns, ns);
	} else if (sim->phase == SIM_WORK) {
		ch = client_ready(sim->client_on);
		if (ch && ch->left_ns < SIM_ENDLESS_NS)
			ch->left_ns -= min(ch->left_ns, ns);
	} else if (sim->phase == SIM_IDLE) {
		sim->idle_ns += ns;
	} else if (sim->phase == SIM_LINGER) {
		sim->linger_ns += ns;
	}
}

void sim_span(struct sim *sim)
{
	struct attack_record *record =
		&sim->result->record[sim->client_on->config->group];
	u64 start_ns = sim->span_ns - SIM_EPOCH_NS;
	u64 end_ns = sim->now_ns - SIM_EPOCH_NS;

	sim->span_ns = sim->now_ns;
	if (sim->ending || start_ns == end_ns)
		return;
	record->service_ns += end_ns - start_ns;
	if (record->nr && record->span[record->nr - 1].end_ns == start_ns) {
		record->span[record->nr - 1].end_ns = end_ns;
		return;
	}
	if (record->nr == record->room) {
		record->room = record->room ? 2 * record->room : 4096;
		record->span = realloc(record->span,
				       record->room * sizeof(*record->span));
		if (!record->span)
			bench_die("no memory for %zu spans", record->room);
	}
	record->span[record->nr++] = (struct attack_span){ start_ns, end_ns };
}

static void sim_enter(struct sim *sim, enum sim_phase phase)
{
	if (sim->phase == phase)
		return;
	if (phase == SIM_IDLE)
		sim_span(sim);
	else if (sim->phase == SIM_IDLE)
		sim->span_ns = sim->now_ns;
	sim->phase = phase;
}

static void sim_run(struct sim *sim, struct vgpu_entity *entity, u64 deadline_ns)
{
	struct sim_client *client = to_client(entity);

	BUG_ON(sim->phase != SIM_OFF);
	/* Who was lingered on when the slice was over has no time anew. */
	if (sim->ran != client || client_ready(client))
		sim->empty_ns = ATTACK_NEVER;
	sim->switch_ns = sim->ran == client ? 0 : sim->config->switch_ns;
	sim->client_on = client;
	sim->ran = client;
	sim->mark_ns = sim->now_ns;
	sim->span_ns = sim->now_ns;
	sim->start_ns = sim->now_ns;
	sim->deadline_ns = deadline_ns;
	sim->stop_ns = ATTACK_NEVER;
	sim->end_ns = ATTACK_NEVER;
	sim->wait_ns = ATTACK_NEVER;
	sim->idle_ns = 0;
	sim->linger_ns = 0;
	sim->phase = SIM_SWITCH;
	sim_poke(sim);
}

/* The run is over: who was to be reset or closed can be, what it overran counts. */
static void sim_off(struct sim *sim)
{
	struct sim_client *client = sim->client_on;
	u64 due_ns = min(sim->deadline_ns, sim->stop_ns);
	u64 over_ns = sim->now_ns > due_ns ? sim->now_ns - due_ns : 0;

	if (sim->phase != SIM_IDLE) {
		sim_span(sim);
		if (!sim->ending) {
			client->overran_ns += over_ns;
			client->overrun_ns = max(client->overrun_ns, over_ns);
		}
	}
	sim->phase = SIM_OFF;
	sim->client_on = NULL;
	sim->stop_ns = ATTACK_NEVER;
	*sim_engine_due(sim) = ATTACK_NEVER;
}

static void sim_done(struct sim *sim)
{
	struct sim_client *client = sim->client_on;
	enum vgpu_run_end end = VGPU_RUN_IDLE;
	u64 due_ns = min(sim->deadline_ns, sim->stop_ns), frame_ns, deadline_ns;
	struct vgpu_entity *next;
	unsigned int i;

	frame_ns = ATTACK_NEVER;
	for (i = 0; i < client_channels(client); i++)
		if (client->channel[i].framed)
			frame_ns = min(frame_ns, client->channel[i].wake_ns);
	/* When it is to stop it does not look whether there is more. */
	if (client_ready(client))
		end = VGPU_RUN_PREEMPTED;
	else if (client_stalled(client))
		end = VGPU_RUN_STALLED;
	else if (sim->now_ns >= due_ns && sim->phase != SIM_IDLE)
		end = VGPU_RUN_PREEMPTED;
	sim_off(sim);
	if (frame_ns != ATTACK_NEVER)
		vgpu_entity_wake_at(&client->entity, frame_ns);
	next = vgpu_timeline_done(&sim->tl, end, sim->idle_ns, sim->linger_ns,
				  &deadline_ns);
	if (next)
		sim_run(sim, next, deadline_ns);
	if (client->state == SIM_GOING && sim->client_on != client)
		client_off(client);
}

/* It is to stop, and notices now: when will it have? */
static u64 sim_stops_ns(struct sim *sim)
{
	struct sim_client *client = sim->client_on;
	struct sim_channel *ch = client_ready(client);
	const struct attack_phase *phase = ch->phase;
	u64 ns = sim->switch_ns + sim->config->late_ns, end_ns;

	/* Long work may be of an earlier phase. */
	if (!phase->job_ns)
		phase = channel_phase(client, ch, &end_ns);
	client->stops++;
	if (!sim->ending && phase->overrun_every &&
	    !(client->stops % phase->overrun_every))
		ns += phase->overrun_ns;
	return sim->now_ns + ns;
}

/* Nothing to do: go on looking? */
static bool sim_poll(struct sim *sim, u64 due_ns)
{
	u64 empty_ns, until_ns;

	if (sim->empty_ns == ATTACK_NEVER)
		sim->empty_ns = sim->now_ns;
	empty_ns = sim->now_ns - sim->empty_ns;
	switch (vgpu_timeline_poll(&sim->tl, empty_ns)) {
	case VGPU_POLL_IDLE:
		until_ns = sim->empty_ns + sim->config->poll_ns;
		if (sim->now_ns >= min(due_ns, until_ns))
			return false;
		sim_enter(sim, SIM_IDLE);
		break;
	case VGPU_POLL_WAIT:
		if (sim->now_ns >= due_ns)
			return false;
		until_ns = sim->now_ns + SIM_LOOK_NS;
		sim_enter(sim, SIM_IDLE);
		break;
	case VGPU_POLL_LINGER:
		sim_enter(sim, SIM_LINGER);
		if (sim->now_ns >= due_ns)
			return false;
		/* The answer is the same until then. */
		until_ns = max(sim->empty_ns + sim->tl.pick.linger_ns + 1,
			       sim->now_ns + US);
		break;
	default:
		return false;
	}
	*sim_engine_due(sim) = min(until_ns, due_ns);
	return true;
}

/* All packets wait for guest memory: go on waiting? It is charged. */
static bool sim_stall(struct sim *sim, u64 due_ns)
{
	u64 step_ns = max(sim->config->stall_ns, SIM_LOOK_NS);

	if (sim->now_ns >= due_ns)
		return false;
	sim_enter(sim, SIM_STALL);
	if (sim->wait_ns == ATTACK_NEVER)
		sim->wait_ns = sim->now_ns;
	if (sim->now_ns - sim->wait_ns >= sim->config->stall_ns &&
	    vgpu_timeline_poll(&sim->tl, sim->now_ns - sim->wait_ns) ==
	    VGPU_POLL_STOP)
		return false;
	*sim_engine_due(sim) = min(sim->now_ns + step_ns, due_ns);
	return true;
}

/* Works on a channel until something is due. Return: whether the run is over. */
static bool sim_work(struct sim *sim, struct sim_channel *ch, u64 due_ns)
{
	u64 tail_ns = sim->deadline_ns - ch->phase->tail_ns, until_ns;

	sim->empty_ns = ATTACK_NEVER;
	sim->wait_ns = ATTACK_NEVER;
	sim_enter(sim, SIM_WORK);
	if (!ch->left_ns ||
	    (ch->phase->tail_ns && sim->start_ns < tail_ns &&
	     sim->now_ns >= tail_ns && sim->now_ns < due_ns)) {
		channel_done(sim->client_on, ch);
		/* It looks whether it is to stop between pieces of work. */
		return sim->now_ns >= due_ns && client_ready(sim->client_on);
	}
	if (sim->end_ns == ATTACK_NEVER && sim->now_ns >= due_ns)
		sim->end_ns = sim_stops_ns(sim);
	if (sim->now_ns >= sim->end_ns)
		return true;
	until_ns = min(sim->now_ns + ch->left_ns, sim->end_ns);
	if (sim->end_ns == ATTACK_NEVER)
		until_ns = min(until_ns, due_ns);
	if (ch->phase->tail_ns && sim->start_ns < tail_ns &&
	    sim->now_ns < tail_ns)
		until_ns = min(until_ns, tail_ns);
	*sim_engine_due(sim) = until_ns;
	return false;
}

void sim_engine_event(struct sim *sim)
{
	struct sim_client *client = sim->client_on;
	u64 due_ns = min(sim->deadline_ns, sim->stop_ns);
	struct sim_channel *ch;
	unsigned int i;

	*sim_engine_due(sim) = ATTACK_NEVER;
	if (sim->phase == SIM_OFF || sim->phase == SIM_RESETTING)
		return;
	sim_account(sim);
	if (sim->switch_ns) {
		*sim_engine_due(sim) = sim->now_ns + sim->switch_ns;
		return;
	}
	for (i = 0; *sim_engine_due(sim) == ATTACK_NEVER; i++) {
		BUG_ON(i > 100);
		ch = client_ready(client);
		if (ch ? sim_work(sim, ch, due_ns) :
		    client_stalled(client) ? !sim_stall(sim, due_ns) :
		    !sim_poll(sim, due_ns)) {
			sim_done(sim);
			return;
		}
	}
}

static void sim_strike(struct sim_client *client)
{
	client->quarantine = ++client->strikes == SIM_STRIKES;
	client_due(client);
}

static void sim_op_run(struct vgpu_timeline *tl, struct vgpu_entity *entity,
		       u64 deadline_ns)
{
	sim_run(the_sim, entity, deadline_ns);
}

static void sim_op_preempt(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	the_sim->stop_ns = min(the_sim->stop_ns, the_sim->now_ns);
	sim_poke(the_sim);
}

static void sim_op_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct sim_client *client = to_client(entity);
	struct sim *sim = the_sim;
	u64 until_ns = sim->now_ns + SIM_RESET_NS;
	unsigned int i;

	/* It may have stopped by itself just before. */
	if (sim->phase == SIM_OFF)
		return;
	sim_account(sim);
	sim_enter(sim, SIM_RESETTING);
	while (sim_step(sim, until_ns))
		;
	sim->now_ns = max(sim->now_ns, until_ns);
	sim_off(sim);
	sim->ran = NULL;
	sim->result->resets++;
	for (i = 0; i < client_channels(client); i++) {
		client->channel[i].active = false;
		client->channel[i].cut_ns = ATTACK_NEVER;
		client->channel[i].wake_ns = sim->now_ns;
	}
	/* Who closes it goes on once the timeline has it off the engine. */
	if (client->state == SIM_GOING)
		client->abort_ns = sim->now_ns;
	sim_strike(client);
}

static void sim_op_overrun(struct vgpu_timeline *tl, struct vgpu_entity *entity,
			   u64 overrun_ns)
{
	sim_strike(to_client(entity));
}

const struct vgpu_timeline_ops sim_ops = {
	.run = sim_op_run,
	.preempt = sim_op_preempt,
	.reset = sim_op_reset,
	.overrun = sim_op_overrun,
};
