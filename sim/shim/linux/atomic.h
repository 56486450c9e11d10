/* SPDX-License-Identifier: GPL-2.0 */
/* For threads of the host. */
#ifndef _SHIM_LINUX_ATOMIC_H
#define _SHIM_LINUX_ATOMIC_H

#include <linux/compiler.h>

/* As strong as the kernel's. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define xchg(ptr, value)	__atomic_exchange_n(ptr, value, __ATOMIC_SEQ_CST)

#endif /* _SHIM_LINUX_ATOMIC_H */
