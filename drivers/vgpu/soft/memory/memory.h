/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a vGPU.
 *
 * When memory may be touched. Pages leave a store in soft_store_drop() only. The core calls
 * drop_memory after instance_stop, so no engine is working for the vGPU, and struct
 * soft_queues.stopping keeps engines and channels out until the pages are gone. So an engine uses
 * pages without references during a run. The core's map_lock keeps page faults out, and the
 * store's drop_lock keeps trapped accesses and the worker out.
 */
#ifndef _VGPU_SOFT_MEMORY_H
#define _VGPU_SOFT_MEMORY_H

#include <linux/types.h>
#include <linux/vgpu.h>

#include "rss.h"
#include "store.h"

/**
 * struct soft_memory - the memory of a vGPU
 * @vgpu:     the vGPU as the core knows it; constant
 * @fb_bytes: length of the vGPU's framebuffer; constant
 * @fb:       BAR 0
 * @pages:    BAR 4
 * @rss:      counts @fb in the resident set of the owner
 */
struct soft_memory {
	struct vgpu_instance *vgpu;
	u64 fb_bytes;
	struct soft_store fb;
	struct soft_store pages;
	struct soft_rss rss;
};

#endif /* _VGPU_SOFT_MEMORY_H */
