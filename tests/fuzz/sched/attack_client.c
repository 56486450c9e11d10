// SPDX-License-Identifier: GPL-2.0
/* See attack_model.h: clients that follow a plan. */
#include "attack_model.h"

/**
 * attack_channel_phase() - the phase in which a channel is
 * @client: the channel's client
 * @ch:     the channel
 * @end_ns: set to the end of the phase; ATTACK_NEVER: it has none
 *
 * Return: the phase.
 */
const struct attack_phase *attack_channel_phase(const struct attack_client *client,
						const struct attack_channel *ch, u64 *end_ns)
{
	const struct attack_plan *plan = &client->config->plan;
	u64 now_ns = client->sim->host.now_ns, cycle_ns = 0, at_ns, i;

	for (i = 0; i < ATTACK_PHASES; i++)
		cycle_ns += plan->phase[i].length_ns;
	*end_ns = ATTACK_NEVER;
	if (!cycle_ns)
		return &plan->phase[0];
	at_ns = (now_ns - ch->origin_ns) % cycle_ns;
	for (i = 0; at_ns >= plan->phase[i].length_ns; i++)
		at_ns -= plan->phase[i].length_ns;
	*end_ns = now_ns + plan->phase[i].length_ns - at_ns;
	return &plan->phase[i];
}

/* A channel without work, and none planned. */
static void channel_clear(struct attack_channel *ch)
{
	ch->active = false;
	ch->stalled = false;
	ch->framed = false;
	ch->cut_ns = ATTACK_NEVER;
	ch->wake_ns = ATTACK_NEVER;
}

/* Submits the next piece of work. */
static void channel_submit(struct attack_client *client, struct attack_channel *ch)
{
	u64 end_ns;

	channel_clear(ch);
	if (client->sim->ending)
		return;
	ch->phase = attack_channel_phase(client, ch, &end_ns);
	if (ch->phase->move == ATTACK_SLEEP) {
		ch->wake_ns = end_ns;
		return;
	}
	ch->active = true;
	ch->left_ns = ch->phase->job_ns ?: ATTACK_ENDLESS_NS;
	if (!ch->phase->job_ns)
		ch->cut_ns = end_ns;
	if (ch->phase->move == ATTACK_ABORT) {
		ch->left_ns = ATTACK_ENDLESS_NS;
		client->abort_ns = client->sim->host.now_ns + ch->phase->job_ns;
		client->gap_ns = ch->phase->gap_ns;
	}
}

/* How many channels the client's plan uses. */
unsigned int attack_client_channels(const struct attack_client *client)
{
	return clamp(client->config->plan.channels, 1ULL, (u64)ATTACK_CHANNELS);
}

/* The channel on which the engine is to work for the client; NULL: there is none. */
struct attack_channel *attack_client_ready(struct attack_client *client)
{
	unsigned int i;

	for (i = 0; i < attack_client_channels(client); i++)
		if (client->channel[i].active)
			return &client->channel[i];
	return NULL;
}

/* Whether a channel of the client waits for guest memory or for a frame's time. */
bool attack_client_stalled(const struct attack_client *client)
{
	unsigned int i;

	for (i = 0; i < attack_client_channels(client); i++)
		if (client->channel[i].stalled)
			return true;
	return false;
}

/* Tells the host when the client does something next. */
void attack_client_due(struct attack_client *client)
{
	struct host *host = &client->sim->host;
	u64 due_ns = min3(client->up_ns, client->abort_ns, client->ring_ns);
	unsigned int i;

	if (client->sim->ending)
		return;
	/* What channels would do while the device is reset or closed is dropped afterwards. */
	for (i = 0; client->state == ATTACK_UP && i < attack_client_channels(client); i++)
		due_ns = min3(due_ns, client->channel[i].wake_ns, client->channel[i].cut_ns);
	host_client_due_at(host, client->index, client->quarantine ? host->now_ns : due_ns);
}

/* A piece of work is done: what comes next is up to the phase. */
void attack_channel_done(struct attack_client *client, struct attack_channel *ch)
{
	u64 now_ns = client->sim->host.now_ns;

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
		client->abort_ns = now_ns;
		attack_client_due(client);
		return;
	default:
		break;
	}
	if (!ch->phase->gap_ns)
		channel_submit(client, ch);
	else
		ch->wake_ns = now_ns + ch->phase->gap_ns;
	attack_client_due(client);
}

/* The client has no work any more. */
void attack_client_idle(struct attack_client *client)
{
	unsigned int i;

	for (i = 0; i < ATTACK_CHANNELS; i++)
		channel_clear(&client->channel[i]);
}

/* The client's device was reset or closed, and the client is off the engine. */
void attack_client_off(struct attack_client *client)
{
	client->state = ATTACK_DOWN;
	attack_client_idle(client);
	client->up_ns = client->sim->host.now_ns;
	if (client->move == ATTACK_CLOSE) {
		vgpu_entity_stop(&client->entity.entity);
		client->up_ns = client->sim->host.now_ns + client->gap_ns;
	}
	attack_client_due(client);
}

static void client_down(struct attack_client *client)
{
	client->abort_ns = ATTACK_NEVER;
	if (client->state == ATTACK_UP) {
		client->state = ATTACK_GOING;
		vgpu_entity_hold(&client->entity.entity, VGPU_HOLD_STOPPED);
	}
	if (client->state == ATTACK_GOING && !attack_runs(client))
		attack_client_off(client);
}

static void client_up(struct attack_client *client)
{
	u64 wake_ns = client->sim->host.now_ns;
	unsigned int i;

	if (client->move == ATTACK_RESET)
		wake_ns += client->gap_ns;
	client->up_ns = ATTACK_NEVER;
	client->state = ATTACK_UP;
	vgpu_entity_start(&client->entity.entity);
	vgpu_entity_unhold(&client->entity.entity, VGPU_HOLD_STOPPED);
	for (i = 0; i < attack_client_channels(client); i++)
		client->channel[i].wake_ns = max(client->channel[i].origin_ns, wake_ns);
	client->move = ATTACK_RESET;
}

/* struct host_model.client_event */
void attack_client_event(struct host *host, unsigned int index)
{
	struct attack_client *client = &to_attack_sim(host)->client[index];
	bool ring = false, framed;
	unsigned int i;

	if (attack_runs(client))
		host_engine_account(client->entity.engine);
	if (client->quarantine) {
		client->quarantine = false;
		vgpu_entity_hold(&client->entity.entity, VGPU_HOLD_QUARANTINE);
	}
	if (client->up_ns <= host->now_ns)
		client_up(client);
	if (client->abort_ns <= host->now_ns)
		client_down(client);
	for (i = 0; client->state == ATTACK_UP && i < attack_client_channels(client); i++) {
		struct attack_channel *ch = &client->channel[i];

		if (min(ch->wake_ns, ch->cut_ns) > host->now_ns)
			continue;
		framed = ch->framed;
		channel_submit(client, ch);
		/* A channel that waited for a frame's time is woken by the kthread. */
		ring |= ch->active && !framed;
	}
	if (client->ring_ns <= host->now_ns) {
		client->ring_ns = host->now_ns + client->config->plan.ring_ns;
		if (client->state == ATTACK_UP)
			vgpu_entity_wake(&client->entity.entity);
	}
	attack_client_due(client);
	if (attack_runs(client))
		host_engine_poke(client->entity.engine);
	else if (ring && client->state == ATTACK_UP)
		vgpu_entity_wake(&client->entity.entity);
}

/**
 * attack_client_begin() - a client's plan begins
 * @client: the client; its config, sim and index are set
 * @now_ns: time at which the simulation begins
 */
void attack_client_begin(struct attack_client *client, u64 now_ns)
{
	const struct attack_plan *plan = &client->config->plan;
	unsigned int i;

	client->move = ATTACK_RESET;
	client->up_ns = ATTACK_NEVER;
	client->abort_ns = ATTACK_NEVER;
	client->ring_ns = plan->ring_ns ? now_ns + plan->ring_ns : ATTACK_NEVER;
	for (i = 0; i < ATTACK_CHANNELS; i++) {
		struct attack_channel *ch = &client->channel[i];

		ch->origin_ns = now_ns + plan->start_ns + i * plan->stagger_ns;
		ch->wake_ns = ch->origin_ns;
		ch->cut_ns = ATTACK_NEVER;
		ch->phase = &plan->phase[0];
	}
}
