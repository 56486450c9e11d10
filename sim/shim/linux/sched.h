/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#include <linux/compiler.h>

#include "tasks.h"

#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1
#define TASK_UNINTERRUPTIBLE	2
#define TASK_IDLE		3

#define current			sim_current()

#define __set_current_state(value)	(current->state = (value))
#define set_current_state(value) do {	\
	__set_current_state(value);	\
	sim_yield();			\
} while (0)

/* One task runs at a time, so memory is in order; but others may run before and after the store. */
#define smp_store_release(ptr, value) do {	\
	*(ptr) = (value);			\
	sim_yield();				\
} while (0)
#define xchg(ptr, value) ({			\
	__typeof__(*(ptr)) __old;		\
						\
	sim_yield();				\
	__old = *(ptr);				\
	*(ptr) = (value);			\
	sim_yield();				\
	__old;					\
})

void schedule(void);
int wake_up_process(struct task_struct *task);

static inline void sched_set_fifo_low(struct task_struct *task)
{
}

#endif /* _SHIM_LINUX_SCHED_H */
