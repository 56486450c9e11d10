// SPDX-License-Identifier: GPL-2.0
/* Units: their threads. */
#include <linux/err.h>
#include <linux/kthread.h>

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
