/* SPDX-License-Identifier: GPL-2.0 */
/* A spinlock that is not raw is as under PREEMPT_RT: a task that holds it may be switched away. */
#ifndef _DMA_SHIM_LINUX_SPINLOCK_H
#define _DMA_SHIM_LINUX_SPINLOCK_H

#include <linux/mutex.h>
#include_next <linux/spinlock.h>

typedef struct mutex spinlock_t;

#define spin_lock_init(lock)	mutex_init(lock)
#define spin_lock(lock)		mutex_lock(lock)
#define spin_unlock(lock)	mutex_unlock(lock)

#endif /* _DMA_SHIM_LINUX_SPINLOCK_H */
