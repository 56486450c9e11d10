// SPDX-License-Identifier: GPL-2.0
/* See des.h: time, the kthread, timers, workers, what happens by the script. */
#include <stdio.h>
#include <string.h>

#include "des_sim.h"

/* So many events and no end: the simulator or the scheduler turns in circles. */
#define DES_MAX_EVENTS	(10 * 1000 * 1000ULL)

/* One simulation at a time: the kernel's calls do not say of which they are. */
static struct des_sim *des_sim;

u64 des_now_ns(void)
{
	return des_sim->now_ns;
}

/* Time of the record. */
u64 des_at(const struct des_sim *sim)
{
	return sim->now_ns - DES_EPOCH_NS;
}

u64 des_random(u64 *state, u64 lo, u64 hi)
{
	u64 x = (*state += 0x9e3779b97f4a7c15ULL);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	x ^= x >> 31;
	return lo + x % (hi - lo + 1);
}

/* lo .. hi, or lo if hi is left 0. */
u64 des_random_upto(u64 *state, u64 lo, u64 hi)
{
	return hi > lo ? des_random(state, lo, hi) : lo;
}

/* The heap of sources. */

static bool des_before(const struct des_sim *sim, unsigned int a, unsigned int b)
{
	if (sim->due_ns[a] != sim->due_ns[b])
		return sim->due_ns[a] < sim->due_ns[b];
	return sim->tie[a] < sim->tie[b];
}

static void des_put(struct des_sim *sim, unsigned int place, unsigned int source)
{
	sim->heap[place] = source;
	sim->place[source] = place;
}

/* @source has something to do at @due_ns, and not before any more. */
void des_due_at(struct des_sim *sim, unsigned int source, u64 due_ns)
{
	unsigned int place = sim->place[source], other;

	sim->due_ns[source] = due_ns;
	while (place) {
		other = sim->heap[(place - 1) / 2];
		if (!des_before(sim, source, other))
			break;
		des_put(sim, place, other);
		place = (place - 1) / 2;
	}
	for (;;) {
		unsigned int child = 2 * place + 1;

		if (child >= sim->nr_sources)
			break;
		if (child + 1 < sim->nr_sources &&
		    des_before(sim, sim->heap[child + 1], sim->heap[child]))
			child++;
		other = sim->heap[child];
		if (!des_before(sim, other, source))
			break;
		des_put(sim, place, other);
		place = child;
	}
	des_put(sim, place, source);
}

static unsigned int des_script(const struct des_sim *sim)
{
	return sim->config->nr_engines + sim->config->nr_clients;
}

static unsigned int des_kthread(const struct des_sim *sim)
{
	return des_script(sim) + 1;
}

static unsigned int des_timer(const struct des_sim *sim,
			      const struct des_engine *engine)
{
	return des_kthread(sim) + 1 + engine->index;
}

/* What the timelines ask of the kernel. */

static struct des_engine *des_timer_engine(struct hrtimer *timer)
{
	return container_of(timer, struct des_engine, tl.timer);
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires, int mode)
{
	struct des_engine *engine = des_timer_engine(timer);
	struct des_sim *sim = engine->sim;

	des_due_at(sim, des_timer(sim, engine),
		   max((u64)expires, sim->now_ns) +
		   des_random(&sim->random, 0, sim->config->timer_ns));
}

int hrtimer_cancel(struct hrtimer *timer)
{
	struct des_engine *engine = des_timer_engine(timer);

	des_due_at(engine->sim, des_timer(engine->sim, engine), U64_MAX);
	return 0;
}

/*
 * Workers sleep, so each goes on where it was on a stack of its own. They are
 * called from the loop, wherever that is.
 */
#define DES_STACK_SIZE	(256 * 1024)

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(...)	((void)0)
#define __sanitizer_finish_switch_fiber(...)	((void)0)
#endif

static unsigned int des_worker(const struct des_sim *sim,
			       const struct des_engine *engine)
{
	return des_timer(sim, engine) + sim->config->nr_engines;
}

static void des_worker_main(void)
{
	struct des_sim *sim = des_sim;
	struct des_engine *engine = sim->at_work;

	__sanitizer_finish_switch_fiber(NULL, &sim->loop_stack,
					&sim->loop_size);
	engine->tl.reset_work.func(&engine->tl.reset_work);
	engine->working = false;
	__sanitizer_start_switch_fiber(NULL, sim->loop_stack, sim->loop_size);
	swapcontext(&engine->worker, &sim->loop);
}

static void des_worker_event(struct des_engine *engine)
{
	struct des_sim *sim = engine->sim;

	des_due_at(sim, des_worker(sim, engine), U64_MAX);
	BUG_ON(sim->at_work);
	sim->at_work = engine;
	if (!engine->working) {
		engine->working = true;
		engine->fake = NULL;
		if (!engine->stack)
			engine->stack = malloc(DES_STACK_SIZE);
		BUG_ON(!engine->stack);
		getcontext(&engine->worker);
		engine->worker.uc_stack.ss_sp = engine->stack;
		engine->worker.uc_stack.ss_size = DES_STACK_SIZE;
		makecontext(&engine->worker, des_worker_main, 0);
	}
	__sanitizer_start_switch_fiber(&sim->loop_fake, engine->stack,
				       DES_STACK_SIZE);
	swapcontext(&sim->loop, &engine->worker);
	__sanitizer_finish_switch_fiber(sim->loop_fake, NULL, NULL);
	sim->at_work = NULL;
}

/* Of a worker. */
void des_sleep_ns(struct des_sim *sim, u64 ns)
{
	struct des_engine *engine = sim->at_work;

	des_due_at(sim, des_worker(sim, engine), sim->now_ns + ns);
	__sanitizer_start_switch_fiber(&engine->fake, sim->loop_stack,
				       sim->loop_size);
	swapcontext(&engine->worker, &sim->loop);
	__sanitizer_finish_switch_fiber(engine->fake, &sim->loop_stack,
					&sim->loop_size);
}

void vgpu_sched_queue(struct vgpu_sched *sched, struct work_struct *work)
{
	struct des_engine *engine = container_of(work, struct des_engine,
						 tl.reset_work);
	struct des_sim *sim = engine->sim;

	des_due_at(sim, des_worker(sim, engine), sim->now_ns +
		   des_random(&sim->random, 0, sim->config->kick_ns));
}

static void des_timer_event(struct des_engine *engine)
{
	hrtimer_cancel(&engine->tl.timer);
	engine->tl.timer.function(&engine->tl.timer);
}

/* What sched.c does. */

static void des_kthread_at(struct des_sim *sim, u64 due_ns)
{
	if (due_ns != U64_MAX)
		due_ns = max(due_ns, sim->now_ns) +
			 des_random(&sim->random, 0, sim->config->kick_ns);
	des_due_at(sim, des_kthread(sim), due_ns);
}

const char *vgpu_sched_name(const struct vgpu_sched *sched)
{
	return "des";
}

void vgpu_sched_kick(struct vgpu_sched *sched)
{
	struct des_sim *sim = des_sim;

	if (sim->kicked)
		return;
	sim->kicked = true;
	if (!sim->serving)
		des_kthread_at(sim, sim->now_ns);
}

static void des_kthread_event(struct des_sim *sim)
{
	u64 due_ns = U64_MAX;
	unsigned int i;

	des_due_at(sim, des_kthread(sim), U64_MAX);
	sim->serving = true;
	sim->kicked = false;
	for (i = 0; i < sim->config->nr_engines; i++)
		due_ns = min(due_ns, vgpu_timeline_service(&sim->engine[i].tl));
	sim->serving = false;
	des_kthread_at(sim, sim->kicked ? sim->now_ns : due_ns);
}

/* The script. */

static void des_start(struct des_client *client)
{
	struct des_sim *sim = client->sim;
	unsigned int i;

	if (client->started)
		return;
	client->started = true;
	for (i = 0; i < sim->config->nr_engines; i++) {
		vgpu_entity_start(&client->entity[i].entity);
		vgpu_entity_unhold(&client->entity[i].entity,
				   VGPU_HOLD_STOPPED);
	}
	des_client_begin(client);
}

static void des_stop(struct des_client *client)
{
	struct des_sim *sim = client->sim;
	unsigned int i;

	if (!client->started)
		return;
	client->started = false;
	des_client_runnable(client);
	for (i = 0; i < sim->config->nr_engines; i++)
		vgpu_entity_stop(&client->entity[i].entity);
	des_client_drop(client);
}

static void des_hold(struct des_client *client, unsigned int hold, bool sync)
{
	unsigned int i;

	client->hold |= hold;
	des_client_runnable(client);
	for (i = 0; i < client->sim->config->nr_engines; i++) {
		if (sync)
			vgpu_entity_hold_sync(&client->entity[i].entity, hold);
		else
			vgpu_entity_hold(&client->entity[i].entity, hold);
	}
}

static void des_unhold(struct des_client *client, unsigned int hold)
{
	unsigned int i;

	client->hold &= ~hold;
	for (i = 0; i < client->sim->config->nr_engines; i++)
		vgpu_entity_unhold(&client->entity[i].entity, hold);
	des_client_runnable(client);
}

static void des_share(struct des_client *client, const struct vgpu_share *share)
{
	struct des_share_at *at = des_push(&client->record->shares);
	unsigned int i;

	at->at_ns = des_at(client->sim);
	at->share = *share;
	for (i = 0; i < client->sim->config->nr_engines; i++)
		vgpu_entity_set_share(&client->entity[i].entity, share);
}

static void des_params(struct des_sim *sim, const struct vgpu_sched_params *params)
{
	bool other = params->policy != sim->engine[0].tl.rq.policy;
	struct des_params_at *at = des_push(&sim->des->params);
	struct vgpu_rq next;
	unsigned int i;

	at->at_ns = des_at(sim);
	at->params = *params;
	for (i = 0; i < sim->config->nr_engines; i++) {
		if (other)
			BUG_ON(vgpu_timeline_prepare(&next, params));
		vgpu_timeline_set_params(&sim->engine[i].tl, params,
					 other ? &next : NULL);
		if (other)
			vgpu_timeline_release(&next);
	}
}

static void des_act(struct des_sim *sim, const struct des_action *action)
{
	struct des_client *client = &sim->client[action->client];

	switch (action->kind) {
	case DES_START:
		des_start(client);
		break;
	case DES_STOP:
		des_stop(client);
		break;
	case DES_RESET:
		if (!client->started)
			break;
		des_hold(client, VGPU_HOLD_STOPPED, true);
		des_client_drop(client);
		des_unhold(client, VGPU_HOLD_STOPPED);
		des_client_begin(client);
		break;
	case DES_HOLD:
		des_hold(client, VGPU_HOLD_QUARANTINE, false);
		break;
	case DES_UNHOLD:
		des_unhold(client, VGPU_HOLD_QUARANTINE);
		break;
	case DES_SHARE:
		des_share(client, &action->share);
		break;
	case DES_PARAMS:
		des_params(sim, &action->params);
		break;
	case DES_LOAD:
		des_client_load(client, &action->load);
		break;
	case DES_JUMP:
		sim->now_ns += action->jump_ns;
		break;
	}
}

static void des_script_at(struct des_sim *sim)
{
	u64 due_ns = U64_MAX;

	if (sim->next_action < sim->config->nr_actions)
		due_ns = DES_EPOCH_NS +
			 sim->config->action[sim->next_action].at_ns;
	des_due_at(sim, des_script(sim), due_ns);
}

static void des_script_event(struct des_sim *sim)
{
	/* Some sleep: no other then, nor what they wait for behind them. */
	des_due_at(sim, des_script(sim), U64_MAX);
	des_act(sim, &sim->config->action[sim->next_action++]);
	des_script_at(sim);
}

/* The loop. */

/* An engine that polls notices what others did. */
void des_poke_pollers(struct des_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->config->nr_engines; i++)
		if (sim->engine[i].phase == DES_IDLE ||
		    sim->engine[i].phase == DES_LINGER)
			des_engine_poke(&sim->engine[i]);
}

static void des_event(struct des_sim *sim, unsigned int source)
{
	unsigned int nr_engines = sim->config->nr_engines;

	BUG_ON(++sim->des->events > DES_MAX_EVENTS);
	if (source < nr_engines) {
		struct des_engine *engine = &sim->engine[source];
		bool polls = engine->phase == DES_IDLE ||
			     engine->phase == DES_LINGER;
		enum des_phase phase = engine->phase;

		des_engine_event(engine);
		/* Two that only look on would poke each other for ever. */
		if (nr_engines == 1 || (polls && engine->phase == phase))
			return;
	} else if (source < des_script(sim)) {
		des_client_event(&sim->client[source - nr_engines]);
	} else if (source == des_script(sim)) {
		des_script_event(sim);
	} else if (source == des_kthread(sim)) {
		des_kthread_event(sim);
	} else if (source <= des_kthread(sim) + nr_engines) {
		des_timer_event(&sim->engine[source - des_kthread(sim) - 1]);
	} else {
		des_worker_event(&sim->engine[source - des_kthread(sim) - 1 -
					      nr_engines]);
	}
	des_poke_pollers(sim);
}

/* What comes next, unless that is after @limit_ns. */
static bool des_step(struct des_sim *sim, u64 limit_ns)
{
	unsigned int source = sim->heap[0];

	if (sim->due_ns[source] == U64_MAX || sim->due_ns[source] > limit_ns)
		return false;
	sim->now_ns = max(sim->now_ns, sim->due_ns[source]);
	des_event(sim, source);
	return true;
}

/* For wait_event(). */
void des_sleep(void)
{
	if (!des_step(des_sim, U64_MAX - 1))
		SHIM_DIE_IF("waits for ever", true);
}

static bool des_unfinished(struct des_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->config->nr_clients; i++)
		if (sim->client[i].in_flight)
			return true;
	return false;
}

static void des_drain(struct des_sim *sim)
{
	unsigned int i;

	des_due_at(sim, des_script(sim), U64_MAX);
	for (i = 0; i < sim->config->nr_clients; i++) {
		des_client_drain(&sim->client[i]);
		if (sim->client[i].started)
			des_unhold(&sim->client[i], VGPU_HOLD_QUARANTINE);
	}
	while (des_unfinished(sim)) {
		if (!des_step(sim, U64_MAX - 1)) {
			sim->des->stuck = true;
			break;
		}
	}
}

/* Begin and end. */

static void des_join(struct des_sim *sim, unsigned int index)
{
	const struct des_client_config *config = &sim->config->client[index];
	struct des_client *client = &sim->client[index];
	u8 id[VGPU_ENTITY_ID_LEN] = { index, index >> 8 };
	struct des_share_at *share;
	unsigned int i;

	client->sim = sim;
	client->index = index;
	client->load = config->load;
	client->record = &sim->des->client[index];
	client->hold_ns = DES_NEVER;
	client->unhold_ns = DES_NEVER;
	client->random = sim->config->seed ^
			 (config->id + 1) * 0xd1342543de82ef95ULL;
	share = des_push(&client->record->shares);
	share->at_ns = 0;
	share->share = config->share;
	for (i = 0; i < sim->config->nr_engines; i++) {
		struct des_entity *entity = &client->entity[i];

		entity->client = client;
		entity->engine = &sim->engine[i];
		entity->track = &client->record->track[i];
		entity->go_on_ns = DES_NEVER;
		vgpu_entity_init(&entity->entity, &sim->engine[i].tl, id,
				 &config->share);
	}
}

static void des_begin(struct des_sim *sim)
{
	const struct des_config *config = sim->config;
	unsigned int i;

	for (i = 0; i < config->nr_engines; i++) {
		struct des_engine *engine = &sim->engine[i];

		engine->sim = sim;
		engine->index = i;
		engine->record = &sim->des->engine[i];
		engine->empty_ns = DES_NEVER;
		engine->stop_ns = DES_NEVER;
		BUG_ON(vgpu_timeline_init(&engine->tl, NULL, i, &des_engine_ops,
					  engine, &config->params));
	}
	*des_push(&sim->des->params) = (struct des_params_at){
		.params = config->params,
	};
	for (i = 0; i < config->nr_clients; i++)
		des_join(sim, i);
	for (i = 0; i < config->nr_clients; i++)
		if (!config->client[i].stopped)
			des_start(&sim->client[i]);
	des_script_at(sim);
}

/* The record ends here: what is under way belongs to it as far as it is. */
static void des_finish(struct des_sim *sim)
{
	struct des *des = sim->des;
	unsigned int i, j;

	for (i = 0; i < sim->config->nr_engines; i++) {
		const struct vgpu_timeline *tl = &sim->engine[i].tl;

		des->engine[i].busy_ns = tl->busy_ns;
		des->engine[i].linger_ns = tl->linger_ns;
		des->engine[i].switches = tl->switches;
		des->engine[i].preempts = tl->preempts;
		des->engine[i].resets = tl->resets;
		des_engine_flush(&sim->engine[i]);
		for (j = 0; j < sim->config->nr_clients; j++)
			vgpu_entity_stats(&sim->client[j].entity[i].entity,
					  &des->client[j].track[i].stats);
	}
	for (i = 0; i < sim->config->nr_clients; i++)
		des->client[i].left = sim->client[i].in_flight;
	des->end_ns = des_at(sim);
	sim->recording = false;
}

static void des_end(struct des_sim *sim)
{
	unsigned int i, j;

	/* Time goes on while one stops, and with it the others. */
	for (i = 0; i < sim->config->nr_clients; i++)
		des_stop(&sim->client[i]);
	for (i = 0; i < sim->config->nr_clients; i++) {
		struct des_client *client = &sim->client[i];

		for (j = 0; j < sim->config->nr_engines; j++)
			vgpu_entity_exit(&client->entity[j].entity);
	}
	for (i = 0; i < sim->config->nr_clients; i++)
		for (j = 0; j < sim->config->nr_engines; j++)
			free(sim->client[i].entity[j].jobs);
	for (i = 0; i < sim->config->nr_engines; i++)
		vgpu_timeline_fini(&sim->engine[i].tl);
	for (i = 0; i < sim->config->nr_engines; i++)
		free(sim->engine[i].stack);
}

static void *des_alloc(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	BUG_ON(!memory);
	return memory;
}

/**
 * des_run() - simulate
 * @config: all of it; kept by the result, the caller's
 *
 * Return: what happened; des_free() it.
 */
struct des *des_run(const struct des_config *config)
{
	struct des *des = des_alloc(1, sizeof(*des));
	struct des_sim *sim = des_alloc(1, sizeof(*sim));
	unsigned int i;

	BUG_ON(des_sim);
	des_sim = sim;
	des->config = config;
	des->client = des_alloc(config->nr_clients, sizeof(*des->client));
	sim->des = des;
	sim->config = config;
	sim->now_ns = DES_EPOCH_NS;
	sim->random = config->seed;
	sim->recording = true;
	sim->client = des_alloc(config->nr_clients, sizeof(*sim->client));
	sim->nr_sources = 3 * config->nr_engines + config->nr_clients + 2;
	sim->due_ns = des_alloc(sim->nr_sources, sizeof(*sim->due_ns));
	sim->tie = des_alloc(sim->nr_sources, sizeof(*sim->tie));
	sim->heap = des_alloc(sim->nr_sources, sizeof(*sim->heap));
	sim->place = des_alloc(sim->nr_sources, sizeof(*sim->place));
	for (i = 0; i < sim->nr_sources; i++) {
		sim->due_ns[i] = U64_MAX;
		sim->tie[i] = des_random(&sim->random, 0, U32_MAX);
		des_put(sim, i, i);
	}

	des_begin(sim);
	while (des_step(sim, DES_EPOCH_NS + config->length_ns))
		;
	sim->now_ns = max(sim->now_ns, DES_EPOCH_NS + config->length_ns);
	des_finish(sim);
	if (config->drain)
		des_drain(sim);
	for (i = 0; i < config->nr_clients; i++)
		des_client_drain(&sim->client[i]);
	des_end(sim);

	free(sim->due_ns);
	free(sim->tie);
	free(sim->heap);
	free(sim->place);
	free(sim->client);
	free(sim);
	des_sim = NULL;
	return des;
}
