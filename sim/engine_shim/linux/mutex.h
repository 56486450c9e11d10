/* SPDX-License-Identifier: GPL-2.0 */
/* As in the kernel, much comes with this that files do not ask for by name. */
#ifndef _ENGINE_SHIM_LINUX_MUTEX_H
#define _ENGINE_SHIM_LINUX_MUTEX_H

#include <asm/byteorder.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>

struct mutex {
	bool held;
};

static inline void mutex_init(struct mutex *mutex)
{
	mutex->held = false;
}

static inline void mutex_lock(struct mutex *mutex)
{
	SHIM_DIE_IF("deadlock", mutex->held);
	mutex->held = true;
}

/* Nobody kills the thread that there is. */
static inline int mutex_lock_killable(struct mutex *mutex)
{
	mutex_lock(mutex);
	return 0;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	SHIM_DIE_IF("not held", !mutex->held);
	mutex->held = false;
}

#endif /* _ENGINE_SHIM_LINUX_MUTEX_H */
