// SPDX-License-Identifier: GPL-2.0
/* See attack_sim.h: time, and what the kernel does. */
#include <stdlib.h>
#include <string.h>

#include "attack_model.h"

struct sim *the_sim;

u64 des_now_ns(void)
{
	return the_sim->now_ns;
}

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
bool sim_step(struct sim *sim, u64 limit_ns)
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
