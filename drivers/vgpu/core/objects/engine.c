// SPDX-License-Identifier: GPL-2.0
/*
 * The link between the scheduler and a back end's engines. The scheduler's requests go down through
 * vgpu_engine_ops; the back end's reports about its engines come up through the functions below.
 */
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "../core.h"
#include "../stats/trace.h"

static void vgpu_engine_run(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 deadline_ns)
{
	struct vgpu_partition *part = vgpu_timeline_data(tl);
	unsigned int engine = vgpu_timeline_index(tl);
	struct vgpu_gpu *gpu = part->gpu;
	struct vgpu_run run = {
		.instance = vgpu_entity_instance(entity, engine),
		.deadline_ns = deadline_ns,
	};

	trace_vgpu_switch(vgpu_timeline_name(tl), engine, &run.instance->uuid, deadline_ns);
	gpu->ops->engine_run(part, engine, &run);
}

static void vgpu_engine_preempt(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct vgpu_partition *part = vgpu_timeline_data(tl);
	unsigned int engine = vgpu_timeline_index(tl);
	struct vgpu_gpu *gpu = part->gpu;

	trace_vgpu_preempt(vgpu_timeline_name(tl), engine,
			   &vgpu_entity_instance(entity, engine)->uuid);
	gpu->ops->engine_preempt(part, engine);
}

static void vgpu_engine_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct vgpu_partition *part = vgpu_timeline_data(tl);
	unsigned int engine = vgpu_timeline_index(tl);
	struct vgpu_gpu *gpu = part->gpu;
	struct vgpu_instance *instance = vgpu_entity_instance(entity, engine);
	u32 timeout_us;

	/* Not from the scheduler, whose mutex a thread may hold that is changing the settings. */
	raw_spin_lock(&gpu->data_lock);
	timeout_us = part->settings.preempt_timeout_us;
	raw_spin_unlock(&gpu->data_lock);
	/* Rate limited: a guest can make its engine be reset again and again. */
	vgpu_inst_notice_limited(instance, "did not leave engine %s within %u us: engine reset\n",
				 gpu->info.engines[engine].name, timeout_us);
	gpu->ops->engine_reset(part, engine);
	vgpu_instance_event(instance, VGPU_EVENT_ENGINE_RESET, engine, 0, 0);
}

/*
 * Called when the instance ran past its deadline by more than the preemption timeout. A work item
 * counts that like a fault: this is called under a timeline's lock, which interrupts also take, so
 * it must take no lock that is ever held with interrupts on.
 */
static void vgpu_engine_overrun(struct vgpu_timeline *tl, struct vgpu_entity *entity,
				u64 overrun_ns)
{
	struct vgpu_instance *instance = vgpu_entity_instance(entity, vgpu_timeline_index(tl));

	atomic_inc(&instance->overruns);
	queue_work(system_wq, &instance->overrun_work);
}

static u64 vgpu_engine_ran_ns(struct vgpu_timeline *tl)
{
	struct vgpu_partition *part = vgpu_timeline_data(tl);
	const struct vgpu_gpu_ops *ops = part->gpu->ops;

	/* The time of an engine that cannot be reset stands still, so it is never too late. */
	if (!ops->engine_reset)
		return 0;
	if (!ops->engine_ran_ns)
		return ktime_get_ns();
	return ops->engine_ran_ns(part, vgpu_timeline_index(tl));
}

const struct vgpu_timeline_ops vgpu_engine_ops = {
	.run = vgpu_engine_run,
	.preempt = vgpu_engine_preempt,
	.reset = vgpu_engine_reset,
	.overrun = vgpu_engine_overrun,
	.ran_ns = vgpu_engine_ran_ns,
};

/**
 * vgpu_work_ready() - report that an instance has work for an engine
 * @instance: the instance
 * @engine: index of the engine, below nr_engines of struct vgpu_gpu_info
 *
 * A second report, or one about the instance that is running, is harmless. Work that is not
 * reported is not done.
 *
 * Context: any that may take a spinlock, but without a timeline's lock. Does not sleep.
 */
void vgpu_work_ready(struct vgpu_instance *instance, unsigned int engine)
{
	vgpu_entity_wake(&instance->entity[engine]);
}
EXPORT_SYMBOL_GPL(vgpu_work_ready);

/**
 * vgpu_work_ready_at() - report that an instance will have work for an engine
 * @instance: the instance
 * @engine: index of the engine
 * @ready_ns: when, CLOCK_MONOTONIC; the earliest of several such times counts
 *
 * Context: any that may take a spinlock, but without a timeline's lock. Does not sleep.
 */
void vgpu_work_ready_at(struct vgpu_instance *instance, unsigned int engine, u64 ready_ns)
{
	vgpu_entity_wake_at(&instance->entity[engine], ready_ns);
}
EXPORT_SYMBOL_GPL(vgpu_work_ready_at);

/**
 * vgpu_engine_done() - report that a run has ended and the engine is free
 * @part: the partition
 * @engine: index of the engine
 * @end: why the run ended
 * @idle_ns: time of the run in which the engine polled without work; charged to nobody
 * @linger_ns: time in which the engine polled without work because vgpu_engine_poll() returned
 *             VGPU_POLL_LINGER; not part of @idle_ns, and charged to the instance
 * @next: set to the run that the engine must begin at once, if there is one
 *
 * Called once for each run, whether the op engine_run began it or an earlier @next. When this has
 * returned false, the core may call engine_run, or has already called it.
 *
 * Context: any that may take a spinlock, but without a timeline's lock. Does not sleep.
 * Return: true if @next is set.
 */
bool vgpu_engine_done(struct vgpu_partition *part, unsigned int engine, enum vgpu_run_end end,
		      u64 idle_ns, u64 linger_ns, struct vgpu_run *next)
{
	struct vgpu_timeline *tl = vgpu_sched_timeline(part->sched, engine);
	struct vgpu_entity *entity;
	u64 deadline_ns;

	trace_vgpu_run_end(vgpu_timeline_name(tl), engine, end, idle_ns);
	entity = vgpu_timeline_done(tl, end, idle_ns, linger_ns, &deadline_ns);
	if (!entity)
		return false;
	next->instance = vgpu_entity_instance(entity, engine);
	next->deadline_ns = deadline_ns;
	trace_vgpu_switch(vgpu_timeline_name(tl), engine, &next->instance->uuid, deadline_ns);
	return true;
}
EXPORT_SYMBOL_GPL(vgpu_engine_done);

/**
 * vgpu_engine_charged_ns() - get the service that an instance was charged
 * @instance: the instance
 * @engine: index of the engine
 *
 * The sum over the runs that have ended since the instance was created. A run is added as a whole,
 * after the engine has reported its end or was reset, and before the engine begins another one. So
 * a back end that measures what each channel has had can tell what is left of the charge.
 *
 * Context: any. Takes no lock.
 * Return: service in ns.
 */
u64 vgpu_engine_charged_ns(const struct vgpu_instance *instance, unsigned int engine)
{
	return vgpu_entity_charged_ns(&instance->entity[engine]);
}
EXPORT_SYMBOL_GPL(vgpu_engine_charged_ns);

/**
 * vgpu_engine_busy_ns() - get the service that an instance has had
 * @instance: the instance
 * @engine: index of the engine
 *
 * Unlike vgpu_engine_charged_ns(), with the run under way. It never goes back.
 *
 * Context: any that may take a spinlock, but without a timeline's lock. Does not sleep.
 * Return: service since the instance was created, in ns.
 */
u64 vgpu_engine_busy_ns(struct vgpu_instance *instance, unsigned int engine)
{
	return vgpu_entity_busy_ns(&instance->entity[engine]);
}
EXPORT_SYMBOL_GPL(vgpu_engine_busy_ns);

/**
 * vgpu_engine_due() - tell what an instance would get of an engine if it always had work
 * @instance: the instance
 * @engine: index of the engine
 *
 * By the host's policy, and by what the other instances have used in the last window of statistics.
 *
 * Context: process context; may sleep.
 * Return: per mille of the engine.
 */
unsigned int vgpu_engine_due(struct vgpu_instance *instance, unsigned int engine)
{
	return vgpu_entity_due(&instance->entity[engine]);
}
EXPORT_SYMBOL_GPL(vgpu_engine_due);

/**
 * vgpu_engine_poll() - tell what an engine must do that finds no work
 * @part: the partition
 * @engine: index of the engine; it has a run
 * @empty_ns: for how long the engine has found no work of the run's instance
 *
 * The answer may change at any time, so an engine that keeps polling calls this again. The answer
 * does not take the run's deadline into account.
 *
 * Context: any. Takes no lock.
 * Return: enum vgpu_poll.
 */
enum vgpu_poll vgpu_engine_poll(struct vgpu_partition *part, unsigned int engine, u64 empty_ns)
{
	return vgpu_timeline_poll(vgpu_sched_timeline(part->sched, engine), empty_ns);
}
EXPORT_SYMBOL_GPL(vgpu_engine_poll);

/**
 * vgpu_instance_hold() - keep an instance off all engines
 * @instance: the instance
 * @hold: the reason, VGPU_HOLD_*; holding twice for one reason is the same as once
 *
 * Asks runs of the instance to stop, and does not wait for their end.
 *
 * Context: any that may take a spinlock, but without a timeline's lock. Does not sleep.
 */
void vgpu_instance_hold(struct vgpu_instance *instance, unsigned int hold)
{
	unsigned int i;

	for (i = 0; i < instance->gpu->info.nr_engines; i++)
		vgpu_entity_hold(&instance->entity[i], hold);
}

/**
 * vgpu_instance_unhold() - remove a reason to keep an instance off all engines
 * @instance: the instance
 * @hold: the reason, VGPU_HOLD_*
 *
 * Context: any that may take a spinlock, but without a timeline's lock. Does not sleep.
 */
void vgpu_instance_unhold(struct vgpu_instance *instance, unsigned int hold)
{
	unsigned int i;

	for (i = 0; i < instance->gpu->info.nr_engines; i++)
		vgpu_entity_unhold(&instance->entity[i], hold);
}
