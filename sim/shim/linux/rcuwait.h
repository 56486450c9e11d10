/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_RCUWAIT_H
#define _SHIM_LINUX_RCUWAIT_H

#include <linux/bug.h>
#include <linux/sched.h>

struct rcuwait {
	struct task_struct *task;
};

static inline void rcuwait_init(struct rcuwait *w)
{
	w->task = NULL;
}

static inline int rcuwait_active(struct rcuwait *w)
{
	sim_yield();
	return !!w->task;
}

static inline int rcuwait_wake_up(struct rcuwait *w)
{
	sim_yield();
	return w->task ? wake_up_process(w->task) : 0;
}

#define rcuwait_wait_event(w, cond, state) do {		\
	SHIM_DIE_IF("two wait", (w)->task);		\
	(w)->task = current;				\
	for (;;) {					\
		set_current_state(state);		\
		if (cond)				\
			break;				\
		schedule();				\
	}						\
	(w)->task = NULL;				\
	__set_current_state(TASK_RUNNING);		\
} while (0)

#endif /* _SHIM_LINUX_RCUWAIT_H */
