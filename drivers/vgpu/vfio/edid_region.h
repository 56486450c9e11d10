/* SPDX-License-Identifier: GPL-2.0 */
/* The EDID region of a vGPU's file. */
#ifndef _VGPU_EDID_REGION_H
#define _VGPU_EDID_REGION_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/vfio.h>

#include "../core/core.h"
#include "region.h"

/**
 * struct vgpu_edid_region - the EDID region
 * @lock: protects @head and @blob
 * @head: the structure at the region's start
 * @blob: the EDID, as far as the user has written it
 */
struct vgpu_edid_region {
	struct mutex lock;	/* head, blob */
	struct vfio_region_gfx_edid head;
	u8 blob[VGPU_EDID_SIZE_MAX];
};

void vgpu_edid_region_reset(struct vgpu_edid_region *region, struct vgpu_instance *instance);
int vgpu_edid_region_rw(struct vgpu_edid_region *region, struct vgpu_instance *instance,
			u32 offset, void *buf, u32 len, bool write);

#endif /* _VGPU_EDID_REGION_H */
