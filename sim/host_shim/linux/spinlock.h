/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SPINLOCK_H
#define _SHIM_LINUX_SPINLOCK_H

#include <linux/bug.h>
#include <linux/types.h>

typedef struct {
	bool held;
} raw_spinlock_t;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->held = false;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	SHIM_DIE_IF("deadlock", lock->held);
	lock->held = true;
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	SHIM_DIE_IF("not held", !lock->held);
	lock->held = false;
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
