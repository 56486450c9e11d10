// SPDX-License-Identifier: GPL-2.0
/* See attack_sim.h: what clients do. */
#include "attack_model.h"

/* Which phase a channel is in, and until when. */
const struct attack_phase *channel_phase(const struct sim_client *client,
					 const struct sim_channel *ch,
					 u64 *end_ns)
{
	const struct attack_plan *plan = &client->config->plan;
	u64 cycle_ns = 0, at_ns, i;

	for (i = 0; i < ATTACK_PHASES; i++)
		cycle_ns += plan->phase[i].length_ns;
	*end_ns = ATTACK_NEVER;
	if (!cycle_ns)
		return &plan->phase[0];
	at_ns = (client->sim->now_ns - ch->origin_ns) % cycle_ns;
	for (i = 0; at_ns >= plan->phase[i].length_ns; i++)
		at_ns -= plan->phase[i].length_ns;
	*end_ns = client->sim->now_ns + plan->phase[i].length_ns - at_ns;
	return &plan->phase[i];
}

/* Submits the next piece of work. */
static void channel_submit(struct sim_client *client, struct sim_channel *ch)
{
	u64 end_ns;

	ch->wake_ns = ATTACK_NEVER;
	ch->cut_ns = ATTACK_NEVER;
	ch->stalled = false;
	ch->framed = false;
	ch->active = false;
	if (client->sim->ending)
		return;
	ch->phase = channel_phase(client, ch, &end_ns);
	if (ch->phase->move == ATTACK_SLEEP) {
		ch->wake_ns = end_ns;
		return;
	}
	ch->active = true;
	ch->left_ns = ch->phase->job_ns ?: SIM_ENDLESS_NS;
	if (!ch->phase->job_ns)
		ch->cut_ns = end_ns;
	if (ch->phase->move == ATTACK_ABORT) {
		ch->left_ns = SIM_ENDLESS_NS;
		client->abort_ns = client->sim->now_ns + ch->phase->job_ns;
		client->gap_ns = ch->phase->gap_ns;
	}
}

unsigned int client_channels(const struct sim_client *client)
{
	return clamp(client->config->plan.channels, 1ULL,
		     (u64)ATTACK_CHANNELS);
}

struct sim_channel *client_ready(struct sim_client *client)
{
	unsigned int i;

	for (i = 0; i < client_channels(client); i++)
		if (client->channel[i].active)
			return &client->channel[i];
	return NULL;
}

bool client_stalled(const struct sim_client *client)
{
	unsigned int i;

	for (i = 0; i < client_channels(client); i++)
		if (client->channel[i].stalled)
			return true;
	return false;
}

void client_due(struct sim_client *client)
{
	u64 due_ns = min3(client->up_ns, client->abort_ns, client->ring_ns);
	unsigned int i;

	if (client->sim->ending)
		return;
	/* What comes while the device is reset or closed is dropped after. */
	for (i = 0; client->state == SIM_UP && i < client_channels(client); i++)
		due_ns = min3(due_ns, client->channel[i].wake_ns,
			      client->channel[i].cut_ns);
	if (client->quarantine)
		due_ns = client->sim->now_ns;
	client->sim->due_ns[client->index] = due_ns;
}

/* A piece of work is done. */
void channel_done(struct sim_client *client, struct sim_channel *ch)
{
	struct sim *sim = client->sim;

	ch->active = false;
	ch->cut_ns = ATTACK_NEVER;
	switch (ch->phase->move) {
	case ATTACK_STALL:
	case ATTACK_FRAME:
		ch->stalled = ch->phase->gap_ns;
		ch->framed = ch->phase->move == ATTACK_FRAME;
		break;
	case ATTACK_RESET:
	case ATTACK_CLOSE:
		client->move = ch->phase->move;
		client->gap_ns = ch->phase->gap_ns;
		client->abort_ns = sim->now_ns;
		client_due(client);
		return;
	default:
		break;
	}
	if (!ch->phase->gap_ns)
		channel_submit(client, ch);
	else
		ch->wake_ns = sim->now_ns + ch->phase->gap_ns;
	client_due(client);
}

/* The device was reset or closed, and is off the engine. */
void client_off(struct sim_client *client)
{
	struct sim *sim = client->sim;
	unsigned int i;

	client->state = SIM_DOWN;
	for (i = 0; i < client_channels(client); i++) {
		struct sim_channel *ch = &client->channel[i];

		ch->active = false;
		ch->stalled = false;
		ch->framed = false;
		ch->cut_ns = ATTACK_NEVER;
		ch->wake_ns = ATTACK_NEVER;
	}
	if (client->move == ATTACK_CLOSE) {
		vgpu_entity_stop(&client->entity);
		client->up_ns = sim->now_ns + client->gap_ns;
	} else {
		client->up_ns = sim->now_ns;
	}
	client_due(client);
}

static void client_down(struct sim_client *client)
{
	client->abort_ns = ATTACK_NEVER;
	if (client->state == SIM_UP) {
		client->state = SIM_GOING;
		vgpu_entity_hold(&client->entity, VGPU_HOLD_STOPPED);
	}
	if (client->state == SIM_GOING && client->sim->client_on != client)
		client_off(client);
}

static void client_up(struct sim_client *client)
{
	struct sim *sim = client->sim;
	unsigned int i;

	client->up_ns = ATTACK_NEVER;
	client->state = SIM_UP;
	vgpu_entity_start(&client->entity);
	vgpu_entity_unhold(&client->entity, VGPU_HOLD_STOPPED);
	for (i = 0; i < client_channels(client); i++)
		client->channel[i].wake_ns =
			max(client->channel[i].origin_ns, sim->now_ns +
			    (client->move == ATTACK_RESET ? client->gap_ns : 0));
	client->move = ATTACK_RESET;
}

void client_event(struct sim_client *client)
{
	struct sim *sim = client->sim;
	bool ring = false, framed;
	unsigned int i;

	if (sim->client_on == client)
		sim_account(sim);
	if (client->quarantine) {
		client->quarantine = false;
		vgpu_entity_hold(&client->entity, VGPU_HOLD_QUARANTINE);
	}
	if (client->up_ns <= sim->now_ns)
		client_up(client);
	if (client->abort_ns <= sim->now_ns)
		client_down(client);
	for (i = 0; client->state == SIM_UP && i < client_channels(client); i++) {
		struct sim_channel *ch = &client->channel[i];

		if (min(ch->wake_ns, ch->cut_ns) > sim->now_ns)
			continue;
		framed = ch->framed;
		channel_submit(client, ch);
		/* Who waits for a time is woken by the kthread. */
		ring |= ch->active && !framed;
	}
	if (client->ring_ns <= sim->now_ns) {
		client->ring_ns = sim->now_ns + client->config->plan.ring_ns;
		if (client->state == SIM_UP)
			vgpu_entity_wake(&client->entity);
	}
	client_due(client);
	if (sim->client_on == client)
		sim_poke(sim);
	else if (ring && client->state == SIM_UP)
		vgpu_entity_wake(&client->entity);
}

