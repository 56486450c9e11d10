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

#define kmalloc(size, gfp)	malloc(size)
#define kzalloc(size, gfp)	calloc(1, size)
#define kcalloc(n, size, gfp)	calloc(n, size)
#define kvcalloc(n, size, gfp)	calloc(n, size)
#define kvzalloc(size, gfp)	calloc(1, size)
#define kfree(ptr)		free((void *)(ptr))
#define kvfree(ptr)		free((void *)(ptr))

#endif /* _SHIM_LINUX_SLAB_H */
