// SPDX-License-Identifier: GPL-2.0
/* See attack_sim.h. */
#include <stdlib.h>
#include <string.h>

#include <linux/bug.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/workqueue.h>

#include "attack_sim.h"

#define SIM_EPOCH_NS	(1000 * SEC)	/* the clock does not begin with 0 */
#define SIM_ENDLESS_NS	BIT_ULL(60)
#define SIM_RESET_NS	(200 * US)	/* an engine reset takes */
#define SIM_LOOK_NS	(10 * US)	/* how often an engine looks that may go on waiting */
#define SIM_STRIKES	3		/* then the host quarantines the client */

enum sim_phase {
	SIM_OFF,	/* no run */
	SIM_SWITCH,	/* restoring */
	SIM_WORK,
	SIM_IDLE,	/* polls, not charged */
	SIM_LINGER,	/* polls, charged */
	SIM_STALL,	/* waits for guest memory, charged */
	SIM_RESETTING,
};

/**
 * struct sim_channel - a channel of a client
 * @phase:    of the piece of work it has, or had
 * @active:   it is to be done
 * @left_ns:  of it
 * @cut_ns:   then it is over, done or not
 * @wake_ns:  the next one begins
 * @stalled:  until then its packets wait
 * @framed:   likewise, and for a time
 * @origin_ns: its phases began
 */
struct sim_channel {
	const struct attack_phase *phase;
	bool active;
	u64 left_ns;
	u64 cut_ns;
	u64 wake_ns;
	bool stalled;
	bool framed;
	u64 origin_ns;
};

enum sim_state {
	SIM_UP,
	SIM_GOING,	/* to be reset or closed, on the engine still */
	SIM_DOWN,
};

/**
 * struct sim_client - a vGPU
 * @state:    of its device
 * @move:     why it is not up: ATTACK_RESET or ATTACK_CLOSE
 * @gap_ns:   so long it thinks, or stays closed, after
 * @up_ns:    it is opened
 * @abort_ns: it is reset
 * @ring_ns:  its next doorbell without reason
 * @stops:    times it was to stop
 * @strikes:  hangs and gross overruns
 * @quarantine: wanted, as it has too many
 * @overran_ns: sum
 * @overrun_ns: largest
 */
struct sim_client {
	struct vgpu_entity entity;
	const struct attack_sim_client *config;
	struct sim *sim;
	unsigned int index;
	enum sim_state state;
	enum attack_move move;
	u64 gap_ns;
	u64 up_ns;
	u64 abort_ns;
	u64 ring_ns;
	unsigned int stops;
	unsigned int strikes;
	bool quarantine;
	u64 overran_ns;
	u64 overrun_ns;
	struct sim_channel channel[ATTACK_CHANNELS];
};

/**
 * struct sim - one engine, its kthread, its clients
 * @due_ns:   of each client, the engine, the kthread, the timer and the worker
 * @timer:    the timeline's, while it is armed
 * @work:     what the worker is to do
 * @phase:    the engine's
 * @client_on: whose run it is; NULL: none
 * @ran:      whose was the last
 * @mark_ns:  @phase is accounted until then
 * @span_ns:  service not recorded yet begins then
 * @start_ns: of the run
 * @deadline_ns: of the run
 * @stop_ns:  asked to stop then
 * @end_ns:   it stops then; ATTACK_NEVER: not known yet
 * @switch_ns: left to restore
 * @empty_ns: since when there is nothing to do
 * @wait_ns:  since when it waits for guest memory
 * @serving:  the kthread is at it
 * @kicked:   meanwhile it was kicked
 * @ending:   no more work comes
 */
struct sim {
	const struct attack_sim_config *config;
	struct attack_sim_result *result;
	struct vgpu_timeline tl;
	u64 now_ns;
	u64 random;
	unsigned int nr;
	u64 due_ns[ATTACK_CLIENTS + 4];
	struct hrtimer *timer;
	struct work_struct *work;
	struct sim_client client[ATTACK_CLIENTS];
	enum sim_phase phase;
	struct sim_client *client_on;
	struct sim_client *ran;
	u64 mark_ns;
	u64 span_ns;
	u64 start_ns;
	u64 deadline_ns;
	u64 stop_ns;
	u64 end_ns;
	u64 switch_ns;
	u64 empty_ns;
	u64 wait_ns;
	u64 idle_ns;
	u64 linger_ns;
	bool serving;
	bool kicked;
	bool ending;
};

/* One at a time: the kernel's calls do not say of which they are. */
static struct sim *the_sim;

u64 des_now_ns(void)
{
	return the_sim->now_ns;
}

static struct sim_client *to_client(struct vgpu_entity *entity)
{
	return container_of(entity, struct sim_client, entity);
}

static u64 *sim_engine_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr];
}

static u64 *sim_kthread_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr + 1];
}

static u64 *sim_timer_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr + 2];
}

static u64 *sim_worker_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr + 3];
}

static void sim_poke(struct sim *sim)
{
	*sim_engine_due(sim) = sim->now_ns;
}

/* Clients. */

/* Which phase a channel is in, and until when. */
static const struct attack_phase *channel_phase(const struct sim_client *client,
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

static unsigned int client_channels(const struct sim_client *client)
{
	return clamp(client->config->plan.channels, 1ULL,
		     (u64)ATTACK_CHANNELS);
}

static struct sim_channel *client_ready(struct sim_client *client)
{
	unsigned int i;

	for (i = 0; i < client_channels(client); i++)
		if (client->channel[i].active)
			return &client->channel[i];
	return NULL;
}

static bool client_stalled(const struct sim_client *client)
{
	unsigned int i;

	for (i = 0; i < client_channels(client); i++)
		if (client->channel[i].stalled)
			return true;
	return false;
}

static void client_due(struct sim_client *client)
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
static void channel_done(struct sim_client *client, struct sim_channel *ch)
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
static void client_off(struct sim_client *client)
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

/* Accounts what the engine did up to now. */
static void sim_account(struct sim *sim)
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

static void client_event(struct sim_client *client)
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

/* The engine. */

static void sim_span(struct sim *sim)
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
	enum vgpu_sched_end end = VGPU_SCHED_IDLE;
	u64 due_ns = min(sim->deadline_ns, sim->stop_ns), frame_ns, deadline_ns;
	struct vgpu_entity *next;
	unsigned int i;

	frame_ns = ATTACK_NEVER;
	for (i = 0; i < client_channels(client); i++)
		if (client->channel[i].framed)
			frame_ns = min(frame_ns, client->channel[i].wake_ns);
	/* When it is to stop it does not look whether there is more. */
	if (client_ready(client))
		end = VGPU_SCHED_PREEMPTED;
	else if (client_stalled(client))
		end = VGPU_SCHED_STALLED;
	else if (sim->now_ns >= due_ns && sim->phase != SIM_IDLE)
		end = VGPU_SCHED_PREEMPTED;
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
	case VGPU_SCHED_POLL_IDLE:
		until_ns = sim->empty_ns + sim->config->poll_ns;
		if (sim->now_ns >= min(due_ns, until_ns))
			return false;
		sim_enter(sim, SIM_IDLE);
		break;
	case VGPU_SCHED_POLL_WAIT:
		if (sim->now_ns >= due_ns)
			return false;
		until_ns = sim->now_ns + SIM_LOOK_NS;
		sim_enter(sim, SIM_IDLE);
		break;
	case VGPU_SCHED_POLL_LINGER:
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
	    VGPU_SCHED_POLL_STOP)
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

static void sim_engine_event(struct sim *sim)
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

static bool sim_step(struct sim *sim, u64 limit_ns);

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

static const struct vgpu_timeline_ops sim_ops = {
	.run = sim_op_run,
	.preempt = sim_op_preempt,
	.reset = sim_op_reset,
	.overrun = sim_op_overrun,
};

/* What a timeline asks of the kernel. */

void hrtimer_start(struct hrtimer *timer, ktime_t expires, int mode)
{
	struct sim *sim = the_sim;

	sim->timer = timer;
	*sim_timer_due(sim) = max_t(u64, expires, sim->now_ns) +
			      bench_random(&sim->random,
					   sim->config->timer_ns + 1);
}

int hrtimer_cancel(struct hrtimer *timer)
{
	*sim_timer_due(the_sim) = ATTACK_NEVER;
	return 0;
}

/* What sched.c does. */

static void sim_kthread_at(struct sim *sim, u64 due_ns)
{
	if (due_ns != U64_MAX)
		due_ns = max(due_ns, sim->now_ns) +
			 bench_random(&sim->random, sim->config->kick_ns + 1);
	*sim_kthread_due(sim) = due_ns;
}

const char *vgpu_sched_name(const struct vgpu_sched *sched)
{
	return "attack";
}

void vgpu_sched_kick(struct vgpu_sched *sched)
{
	struct sim *sim = the_sim;

	if (sim->kicked)
		return;
	sim->kicked = true;
	if (!sim->serving)
		sim_kthread_at(sim, sim->now_ns);
}

/* What sleeps, resets of the engine, is done by a worker. */
void vgpu_sched_queue(struct vgpu_sched *sched, struct work_struct *work)
{
	struct sim *sim = the_sim;

	sim->work = work;
	*sim_worker_due(sim) = sim->now_ns +
			       bench_random(&sim->random,
					    sim->config->kick_ns + 1);
}

static void sim_kthread_event(struct sim *sim)
{
	u64 due_ns;

	*sim_kthread_due(sim) = ATTACK_NEVER;
	sim->serving = true;
	sim->kicked = false;
	due_ns = vgpu_timeline_service(&sim->tl);
	sim->serving = false;
	sim_kthread_at(sim, sim->kicked ? sim->now_ns : due_ns);
}

static void sim_timer_event(struct sim *sim)
{
	hrtimer_cancel(sim->timer);
	sim->timer->function(sim->timer);
}

static void sim_worker_event(struct sim *sim)
{
	*sim_worker_due(sim) = ATTACK_NEVER;
	sim->work->func(sim->work);
}

/* The loop. */

/* What comes next, unless that is after @limit_ns. */
static bool sim_step(struct sim *sim, u64 limit_ns)
{
	unsigned int i, source = 0;

	for (i = 1; i < sim->nr + 4; i++)
		if (sim->due_ns[i] < sim->due_ns[source])
			source = i;
	if (sim->due_ns[source] == ATTACK_NEVER ||
	    sim->due_ns[source] > limit_ns)
		return false;
	sim->now_ns = max(sim->now_ns, sim->due_ns[source]);
	sim->result->events++;
	if (source < sim->nr)
		client_event(&sim->client[source]);
	else if (source == sim->nr)
		sim_engine_event(sim);
	else if (source == sim->nr + 1)
		sim_kthread_event(sim);
	else if (source == sim->nr + 2)
		sim_timer_event(sim);
	else
		sim_worker_event(sim);
	return true;
}

/* For wait_event(). */
void des_sleep(void)
{
	if (!sim_step(the_sim, ATTACK_NEVER - 1))
		bench_die("an entity never leaves the engine");
}

static void sim_join(struct sim *sim, unsigned int index)
{
	const struct attack_sim_client *config = &sim->config->client[index];
	struct sim_client *client = &sim->client[index];
	u8 id[VGPU_ENTITY_ID_LEN] = { index };
	unsigned int i;

	client->config = config;
	client->sim = sim;
	client->index = index;
	client->move = ATTACK_RESET;
	client->up_ns = ATTACK_NEVER;
	client->abort_ns = ATTACK_NEVER;
	client->ring_ns = config->plan.ring_ns ?
			  sim->now_ns + config->plan.ring_ns : ATTACK_NEVER;
	for (i = 0; i < ATTACK_CHANNELS; i++) {
		struct sim_channel *ch = &client->channel[i];

		ch->origin_ns = sim->now_ns + config->plan.start_ns +
				i * config->plan.stagger_ns;
		ch->wake_ns = ch->origin_ns;
		ch->cut_ns = ATTACK_NEVER;
		ch->phase = &config->plan.phase[0];
	}
	vgpu_entity_init(&client->entity, &sim->tl, id, &config->share);
}

static void sim_begin(struct sim *sim)
{
	const struct attack_sim_config *config = sim->config;
	unsigned int i;

	sim->now_ns = SIM_EPOCH_NS;
	sim->random = config->seed;
	sim->nr = config->nr;
	sim->stop_ns = ATTACK_NEVER;
	sim->empty_ns = ATTACK_NEVER;
	for (i = 0; i < sim->nr + 4; i++)
		sim->due_ns[i] = ATTACK_NEVER;
	if (vgpu_timeline_init(&sim->tl, NULL, 0, &sim_ops, sim,
			       &config->params))
		bench_die("no timeline");
	for (i = 0; i < sim->nr; i++)
		sim_join(sim, i);
	for (i = 0; i < sim->nr; i++) {
		vgpu_entity_start(&sim->client[i].entity);
		vgpu_entity_unhold(&sim->client[i].entity, VGPU_HOLD_STOPPED);
		client_due(&sim->client[i]);
	}
}

static void sim_finish(struct sim *sim)
{
	struct attack_sim_result *result = sim->result;
	unsigned int i;

	if (sim->client_on) {
		sim_account(sim);
		if (sim->phase != SIM_IDLE)
			sim_span(sim);
	}
	for (i = 0; i < sim->nr; i++) {
		struct sim_client *client = &sim->client[i];
		enum attack_group group = client->config->group;

		result->overrun_ns[group] = max(result->overrun_ns[group],
						client->overrun_ns);
		result->record[group].debts_ns +=
			min(client->overran_ns, sim->config->params.slice_ns +
						client->overrun_ns);
	}
}

static void sim_end(struct sim *sim)
{
	unsigned int i, j;

	sim->ending = true;
	for (i = 0; i < sim->nr; i++) {
		struct sim_client *client = &sim->client[i];

		for (j = 0; j < ATTACK_CHANNELS; j++) {
			client->channel[j].active = false;
			client->channel[j].stalled = false;
			client->channel[j].framed = false;
		}
		client->state = SIM_DOWN;
		sim->due_ns[i] = ATTACK_NEVER;
	}
	sim->end_ns = min(sim->end_ns, sim->now_ns);
	if (sim->client_on)
		sim_poke(sim);
	for (i = 0; i < sim->nr; i++)
		vgpu_entity_exit(&sim->client[i].entity);
	vgpu_timeline_fini(&sim->tl);
}

/**
 * attack_sim_run() - simulate
 * @config: all of it
 * @result: out; attack_sim_free()
 */
void attack_sim_run(const struct attack_sim_config *config,
		    struct attack_sim_result *result)
{
	struct sim *sim = bench_alloc(sizeof(*sim));

	memset(result, 0, sizeof(*result));
	sim->config = config;
	sim->result = result;
	the_sim = sim;
	sim_begin(sim);
	result->ended = true;
	while (sim_step(sim, SIM_EPOCH_NS + config->length_ns)) {
		if (config->max_events && result->events > config->max_events) {
			result->ended = false;
			break;
		}
	}
	sim->now_ns = max(sim->now_ns, SIM_EPOCH_NS + config->length_ns);
	sim_finish(sim);
	sim_end(sim);
	the_sim = NULL;
	free(sim);
}

void attack_sim_free(struct attack_sim_result *result)
{
	unsigned int i;

	for (i = 0; i < ATTACK_GROUPS; i++)
		free(result->record[i].span);
}
