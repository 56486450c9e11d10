/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of state_shim/ come before those of engine_shim/ where a whole vGPU of the software
 * GPU is compiled but for its threads and its stores: see tests/unit/vgpu_world.h.
 */
#ifndef _STATE_SHIM_LINUX_ATOMIC_H
#define _STATE_SHIM_LINUX_ATOMIC_H

#include_next <linux/atomic.h>

#define atomic_inc(v)		((void)(v)->counter++)
#define atomic64_set(v, value)	((void)((v)->counter = (value)))
#define atomic64_add(n, v)	((void)((v)->counter += (n)))
#define atomic64_sub(n, v)	((void)((v)->counter -= (n)))
#define atomic64_add_return(n, v) ((v)->counter += (n))
#define atomic64_read(v)	READ_ONCE((v)->counter)

#endif /* _STATE_SHIM_LINUX_ATOMIC_H */
