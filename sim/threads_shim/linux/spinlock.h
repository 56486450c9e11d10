/* SPDX-License-Identifier: GPL-2.0 */
/* Spinlocks of real threads. Each directory of shims before sim/shim replaces files of it. */
#ifndef _SHIM_LINUX_SPINLOCK_H
#define _SHIM_LINUX_SPINLOCK_H

#include <stdbool.h>

typedef struct {
	bool taken;
} raw_spinlock_t;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->taken = false;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	while (__atomic_test_and_set(&lock->taken, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	__atomic_clear(&lock->taken, __ATOMIC_RELEASE);
}

#endif /* _SHIM_LINUX_SPINLOCK_H */
