/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _STATE_SHIM_LINUX_VMALLOC_H
#define _STATE_SHIM_LINUX_VMALLOC_H

#include <linux/slab.h>

/* Zeroed, as all callers ask for. */
static inline void *__vmalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}

static inline void vfree(const void *ptr)
{
	free((void *)ptr);
}

#endif /* _STATE_SHIM_LINUX_VMALLOC_H */
