/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SCHED_TASK_H
#define _SHIM_LINUX_SCHED_TASK_H

#include <linux/sched.h>

static inline struct task_struct *get_task_struct(struct task_struct *task)
{
	task->refs++;
	return task;
}

static inline void put_task_struct(struct task_struct *task)
{
	sim_put(task);
}

#endif /* _SHIM_LINUX_SCHED_TASK_H */
