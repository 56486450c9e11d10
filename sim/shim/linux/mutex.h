/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MUTEX_H
#define _SHIM_LINUX_MUTEX_H

#include <linux/bug.h>
#include <linux/types.h>

#include "tasks.h"

struct mutex {
	struct task_struct *owner;
};

static inline void mutex_init(struct mutex *mutex)
{
	mutex->owner = NULL;
}

static inline void mutex_destroy(struct mutex *mutex)
{
	SHIM_DIE_IF("held", mutex->owner);
}

static inline void mutex_lock(struct mutex *mutex)
{
	SHIM_DIE_IF("deadlock", mutex->owner == sim_current());
	while (mutex->owner)
		sim_sleep(1000);
	mutex->owner = sim_current();
	sim_yield();
}

static inline bool mutex_trylock(struct mutex *mutex)
{
	if (mutex->owner)
		return false;
	mutex->owner = sim_current();
	sim_yield();
	return true;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	SHIM_DIE_IF("not held", mutex->owner != sim_current());
	mutex->owner = NULL;
	sim_yield();
}

#endif /* _SHIM_LINUX_MUTEX_H */
