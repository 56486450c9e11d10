/* SPDX-License-Identifier: GPL-2.0 */
/* There is one thread. */
#ifndef _HOST_SHIM_LINUX_MUTEX_H
#define _HOST_SHIM_LINUX_MUTEX_H

#include <linux/bug.h>
#include <linux/types.h>

struct mutex {
	bool held;
};

static inline void mutex_init(struct mutex *mutex)
{
	mutex->held = false;
}

static inline void mutex_destroy(struct mutex *mutex)
{
	BUG_ON(mutex->held);
}

static inline bool mutex_trylock(struct mutex *mutex)
{
	if (mutex->held)
		return false;
	mutex->held = true;
	return true;
}

static inline void mutex_lock(struct mutex *mutex)
{
	BUG_ON(!mutex_trylock(mutex));
}

static inline void mutex_unlock(struct mutex *mutex)
{
	BUG_ON(!mutex->held);
	mutex->held = false;
}

#endif /* _HOST_SHIM_LINUX_MUTEX_H */
