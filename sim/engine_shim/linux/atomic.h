/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_ATOMIC_H
#define _ENGINE_SHIM_LINUX_ATOMIC_H

#include <linux/compiler.h>
#include <linux/types.h>

typedef struct {
	long counter;
} atomic_long_t;

#define atomic_read(v)		READ_ONCE((v)->counter)
#define atomic_long_read(v)	READ_ONCE((v)->counter)
#define smp_load_acquire(ptr)	READ_ONCE(*(ptr))
#define smp_store_release(ptr, value) WRITE_ONCE(*(ptr), value)
#define smp_rmb()		barrier()
#define smp_wmb()		barrier()
#define smp_mb()		barrier()
#define cmpxchg(ptr, old, new) ({			\
	__typeof__(*(ptr)) __was = *(ptr);		\
							\
	if (__was == (old))				\
		*(ptr) = (new);				\
	__was;						\
})

#endif /* _ENGINE_SHIM_LINUX_ATOMIC_H */
