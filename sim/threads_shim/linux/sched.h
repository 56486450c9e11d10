/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#include <sched.h>
#include <stdbool.h>

struct task_struct;

#define TASK_IDLE		0
#define need_resched()		false
#define cond_resched()		((void)0)
#define cpu_relax()		__builtin_ia32_pause()

#define smp_load_acquire(ptr)	__atomic_load_n(ptr, __ATOMIC_ACQUIRE)
#define smp_store_release(ptr, value) __atomic_store_n(ptr, value, __ATOMIC_RELEASE)

#endif /* _SHIM_LINUX_SCHED_H */
