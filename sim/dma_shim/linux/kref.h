/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_KREF_H
#define _DMA_SHIM_LINUX_KREF_H

#include <linux/bug.h>

#include "tasks.h"

struct kref {
	int count;
};

static inline void kref_init(struct kref *ref)
{
	ref->count = 1;
}

static inline void kref_get(struct kref *ref)
{
	SHIM_DIE_IF("gone", ref->count < 1);
	ref->count++;
}

static inline void kref_put(struct kref *ref, void (*release)(struct kref *ref))
{
	sim_yield();
	SHIM_DIE_IF("gone", ref->count < 1);
	if (!--ref->count)
		release(ref);
}

#endif /* _DMA_SHIM_LINUX_KREF_H */
