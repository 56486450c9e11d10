/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of dma_shim/ come before those of shim/ where the worker of guest memory is compiled
 * (core/objects/dma.c). An atomic operation is one, but other tasks may run before and after it.
 */
#ifndef _DMA_SHIM_LINUX_ATOMIC_H
#define _DMA_SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

#include "tasks.h"

#define atomic_read(v)		((v)->counter)
#define atomic_read_acquire(v)	((v)->counter)
#define atomic_set(v, value)	((void)((v)->counter = (value)))
#define atomic64_add(n, v)	((void)((v)->counter += (n)))

static inline void atomic_set_release(atomic_t *v, int value)
{
	sim_yield();
	v->counter = value;
	sim_yield();
}

static inline int atomic_cmpxchg(atomic_t *v, int old, int new)
{
	int was;

	sim_yield();
	was = v->counter;
	if (was == old)
		v->counter = new;
	sim_yield();
	return was;
}

#endif /* _DMA_SHIM_LINUX_ATOMIC_H */
