// SPDX-License-Identifier: GPL-2.0
/* Units: their threads. */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "engine.h"

/**
 * soft_unit_start() - start the thread of a unit
 * @unit: zeroed, but for its section
 * @engine: the unit's engine
 * @index: part of the thread's name; 0: of one that leads, no part
 * @thread: the thread's function, called with @unit
 * @gpu_name: part of the thread's name
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int soft_unit_start(struct soft_unit *unit, struct soft_engine *engine, unsigned int index,
		    int (*thread)(void *unit), const char *gpu_name)
{
	struct task_struct *task;
	char number[12] = "";

	unit->engine = engine;
	rcuwait_init(&unit->wake);
	if (index)
		snprintf(number, sizeof(number), ".%u", index);
	task = kthread_run(thread, unit, "vgpu-%s%s-%s", engine->desc->name, number, gpu_name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	unit->task = task;
	return 0;
}

/* Stops the thread of a unit whose engine is idle and stays so. Sleeps. */
void soft_unit_stop(struct soft_unit *unit)
{
	kthread_stop(unit->task);
}

/* Gives the calling thread, a unit's, the CPUs of its engine, whatever it has begun with. */
void soft_unit_place(const struct soft_unit *unit)
{
	if (!cpumask_empty(unit->engine->cpus))
		set_cpus_allowed_ptr(current, unit->engine->cpus);
}

/**
 * soft_unit_pin() - keep a unit's thread to the CPUs of its engine
 * @unit: the unit
 *
 * A thread whose CPUs are all offline is given all others. This is called before each piece of
 * work, so that it goes back when one of its own is there again. Who has bound it to some of the
 * engine's CPUs is not overruled.
 *
 * Context: the unit's thread; may sleep.
 */
void soft_unit_pin(const struct soft_unit *unit)
{
	const struct cpumask *cpus = unit->engine->cpus;

	if (!cpumask_empty(cpus) && !cpumask_subset(current->cpus_ptr, cpus) &&
	    cpumask_intersects(cpus, cpu_online_mask))
		set_cpus_allowed_ptr(current, cpus);
}

/**
 * soft_unit_cpus() - count the CPUs of an engine
 * @engine: the engine
 * Context: any; does not sleep.
 * Return: how many CPUs that are online its units may run on, at least 1.
 */
unsigned int soft_unit_cpus(const struct soft_engine *engine)
{
	if (cpumask_empty(engine->cpus))
		return num_online_cpus();
	return max(cpumask_weight_and(engine->cpus, cpu_online_mask), 1U);
}
