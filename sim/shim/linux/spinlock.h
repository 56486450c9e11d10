/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SPINLOCK_H
#define _SHIM_LINUX_SPINLOCK_H

#include <linux/bug.h>
#include <linux/types.h>

#include "tasks.h"

/* A task that holds a raw spinlock is not switched away, so no other task finds the lock taken. */
typedef struct {
	struct task_struct *owner;
} raw_spinlock_t;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->owner = NULL;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	sim_yield();
	SHIM_DIE_IF("deadlock", lock->owner);
	lock->owner = sim_current();
	sim_current()->locks++;
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	SHIM_DIE_IF("not held", lock->owner != sim_current());
	lock->owner = NULL;
	sim_current()->locks--;
	sim_yield();
}

#define raw_spin_lock_irqsave(lock, flags) do {	\
	(flags) = 0;				\
	raw_spin_lock(lock);			\
} while (0)
#define raw_spin_unlock_irqrestore(lock, flags) do {	\
	(void)(flags);					\
	raw_spin_unlock(lock);				\
} while (0)

#endif /* _SHIM_LINUX_SPINLOCK_H */
