// SPDX-License-Identifier: GPL-2.0
/* See host.h: what sched.c and the kernel do for timelines, and the loop. */
#include <linux/hrtimer.h>
#include <linux/workqueue.h>

#include "host.h"

/* A run with so many events does not end: the model or the scheduler turns in circles. */
#define HOST_MAX_EVENTS	(10 * 1000 * 1000ULL)

/* One simulation at a time, as the kernel's calls do not say of which host they are. */
static struct host *the_host;

/* For the shim of ktime.h. */
u64 host_now_ns(void)
{
	return the_host->now_ns;
}

/* The timers. */

static struct host_engine *timer_engine(struct hrtimer *timer)
{
	return container_of(timer, struct host_engine, tl.timer);
}

static u64 host_late(struct host *host, u64 due_ns, u64 most_ns)
{
	return max(due_ns, host->now_ns) + random_range(&host->random, 0, most_ns);
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires, int mode)
{
	struct host_engine *engine = timer_engine(timer);
	struct host *host = engine->host;

	host_due_at(host, host_timer_source(host, engine->index),
		    host_late(host, expires, host->set.timer_ns));
}

int hrtimer_cancel(struct hrtimer *timer)
{
	struct host_engine *engine = timer_engine(timer);

	host_due_at(engine->host, host_timer_source(engine->host, engine->index), HOST_NEVER);
	return 0;
}

static void timer_event(struct host_engine *engine)
{
	hrtimer_cancel(&engine->tl.timer);
	engine->tl.timer.function(&engine->tl.timer);
}

/* What sched.c and thread.c do. */

static void kthread_at(struct host *host, u64 due_ns)
{
	if (due_ns != HOST_NEVER)
		due_ns = host_late(host, due_ns, host->set.kick_ns);
	host_due_at(host, host_kthread_source(host), due_ns);
}

void vgpu_sched_kick(struct vgpu_sched_thread *thread)
{
	struct host *host = the_host;

	if (host->kicked)
		return;
	host->kicked = true;
	if (!host->serving)
		kthread_at(host, host->now_ns);
}

void vgpu_sched_queue(struct vgpu_sched_thread *thread, struct work_struct *work)
{
	struct host_engine *engine = container_of(work, struct host_engine, tl.reset_work);
	struct host *host = engine->host;

	host_due_at(host, host_worker_source(host, engine->index),
		    host_late(host, host->now_ns, host->set.kick_ns));
}

static void kthread_event(struct host *host)
{
	u64 due_ns = HOST_NEVER;
	unsigned int i;

	host_due_at(host, host_kthread_source(host), HOST_NEVER);
	host->serving = true;
	host->kicked = false;
	for (i = 0; i < host->set.nr_engines; i++)
		due_ns = min(due_ns, vgpu_timeline_service(&host->engine[i].tl));
	host->serving = false;
	kthread_at(host, host->kicked ? host->now_ns : due_ns);
}

/* The loop. */

static bool engine_looks(const struct host_engine *engine)
{
	return engine->phase == HOST_IDLE || engine->phase == HOST_LINGER;
}

/* Engines that look for work see what others did. */
static void poke_all(struct host *host)
{
	unsigned int i;

	if (host->set.look_ns || host->set.apart)
		return;
	for (i = 0; i < host->set.nr_engines; i++)
		if (engine_looks(&host->engine[i]))
			host_engine_poke(&host->engine[i]);
}

static void engine_event(struct host_engine *engine)
{
	struct host *host = engine->host;
	enum host_phase phase = engine->phase;
	bool looks = engine_looks(engine);

	host_engine_event(engine);
	/* Two engines that only look for work would poke each other for ever. */
	if (host->set.nr_engines > 1 && (!looks || engine->phase != phase))
		poke_all(host);
}

static void host_event(struct host *host, unsigned int source)
{
	unsigned int worker = host_worker_source(host, 0);

	/* A worker that goes on after its sleep is not one more thing that happens. */
	if (source < worker || !host->engine[source - worker].worker.busy)
		BUG_ON(++host->events > HOST_MAX_EVENTS);
	if (source < host->set.nr_engines) {
		engine_event(&host->engine[source]);
		return;
	}
	if (source < host_script_source(host))
		host->model->client_event(host, source - host_client_source(host, 0));
	else if (source == host_script_source(host))
		host->model->script_event(host);
	else if (source == host_kthread_source(host))
		kthread_event(host);
	else if (source < worker)
		timer_event(&host->engine[source - host_timer_source(host, 0)]);
	else
		host_worker_event(&host->engine[source - worker]);
	poke_all(host);
}

/**
 * host_step() - what comes next
 * @host:     the host
 * @limit_ns: unless that is later than this
 *
 * Return: whether there was something to do.
 */
bool host_step(struct host *host, u64 limit_ns)
{
	unsigned int source = host->heap[0];

	if (host->due_ns[source] == HOST_NEVER || host->due_ns[source] > limit_ns)
		return false;
	host->now_ns = max(host->now_ns, host->due_ns[source]);
	host_event(host, source);
	return true;
}

/* For rcuwait_wait_event() of the shims: the scheduler waits for what others do. */
void host_sleep(void)
{
	if (!host_step(the_host, HOST_NEVER - 1))
		SHIM_DIE_IF("waits for ever", true);
}

/**
 * host_run() - let time pass
 * @host:       the host
 * @length_ns:  until this time of the record
 * @max_events: or until more than so many things have happened
 */
void host_run(struct host *host, u64 length_ns, u64 max_events)
{
	while (host->events <= max_events && host_step(host, HOST_EPOCH_NS + length_ns))
		;
	host->now_ns = max(host->now_ns, HOST_EPOCH_NS + length_ns);
}

/**
 * host_begin() - begin a simulation, in which nothing is due yet
 * @host:   the host, zeroed; begun is only one at a time
 * @set:    its settings
 * @model:  what its clients do
 * @params: the scheduler's, for all timelines of which @set has no others
 */
void host_begin(struct host *host, const struct host_settings *set, const struct host_model *model,
		const struct vgpu_sched_params *params)
{
	unsigned int i;

	BUG_ON(the_host);
	the_host = host;
	host->set = *set;
	host->model = model;
	host_time_begin(host);
	for (i = 0; i < set->nr_engines; i++) {
		struct host_engine *engine = &host->engine[i];

		engine->host = host;
		engine->index = i;
		engine->empty_ns = HOST_NEVER;
		engine->wait_ns = HOST_NEVER;
		engine->stop_ns = HOST_NEVER;
		BUG_ON(vgpu_timeline_init(&engine->tl, NULL, "host", i, &host_engine_ops, engine,
					  &set->clock[i], set->params[i] ?: params));
	}
}

/**
 * host_end() - end a simulation
 * @host: the host; no timeline has an entity any more
 */
void host_end(struct host *host)
{
	unsigned int i;

	for (i = 0; i < host->set.nr_engines; i++) {
		vgpu_timeline_stop(&host->engine[i].tl);
		vgpu_timeline_fini(&host->engine[i].tl);
	}
	for (i = 0; i < host->set.nr_engines; i++)
		free(host->engine[i].worker.stack);
	host_time_end(host);
	the_host = NULL;
}
