/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <stdlib.h>
#include <linux/overflow.h>
#include <linux/types.h>

#define GFP_KERNEL		0U
#define GFP_ATOMIC		1U
#define GFP_KERNEL_ACCOUNT	2U
#define __GFP_ZERO		4U
#define __GFP_NOWARN		16U
#define __GFP_RETRY_MAYFAIL	64U

static inline void *kmalloc(size_t size, gfp_t gfp)
{
	return malloc(size);
}

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return calloc(n, size);
}

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}

static inline void *kvmalloc(size_t size, gfp_t gfp)
{
	return malloc(size);
}

static inline void *kvmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	return malloc(size_mul(n, size));
}

static inline void kfree(const void *ptr)
{
	free((void *)ptr);
}

static inline void kvfree(const void *ptr)
{
	free((void *)ptr);
}

#endif /* _SHIM_LINUX_SLAB_H */
