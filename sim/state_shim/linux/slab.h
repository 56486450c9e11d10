/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _STATE_SHIM_LINUX_SLAB_H
#define _STATE_SHIM_LINUX_SLAB_H

#include_next <linux/slab.h>

#define __GFP_NORETRY	128U

static inline void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	return calloc(n, size);
}

#endif /* _STATE_SHIM_LINUX_SLAB_H */
