/* SPDX-License-Identifier: GPL-2.0 */
/* For threads of the host. */
#ifndef _SHIM_LINUX_ATOMIC_H
#define _SHIM_LINUX_ATOMIC_H

#include <linux/compiler.h>

/* As strong as the kernel's. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define xchg(ptr, value)	__atomic_exchange_n(ptr, value, __ATOMIC_SEQ_CST)

typedef struct {
	long counter;
} atomic_long_t;

#define atomic_long_add_return(n, v)	__atomic_add_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST)
#define atomic_long_sub(n, v)	\
	((void)__atomic_sub_fetch(&(v)->counter, n, __ATOMIC_SEQ_CST))
#define atomic_long_read(v)	__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)

#endif /* _SHIM_LINUX_ATOMIC_H */
