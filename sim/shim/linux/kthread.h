/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_KTHREAD_H
#define _SHIM_LINUX_KTHREAD_H

#include <linux/err.h>
#include <linux/sched.h>

#define kthread_create(fn, data, ...)	sim_spawn(fn, data, false)
int kthread_stop(struct task_struct *task);

static inline bool kthread_should_stop(void)
{
	return current->should_stop;
}

#endif /* _SHIM_LINUX_KTHREAD_H */
