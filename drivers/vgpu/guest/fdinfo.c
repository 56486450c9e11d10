// SPDX-License-Identifier: GPL-2.0
/* What fdinfo of an open file tells: the memory of its buffers, by the standard keys. */
#include <linux/dma-resv.h>

#include "bo.h"
#include "device.h"

static const char * const region[] = {
	[DRM_VGPU_PLACEMENT_FRAMEBUFFER] = "framebuffer",
	[DRM_VGPU_PLACEMENT_SYSTEM] = "system",
};

static void count_bo(struct drm_memory_stats *stats, struct drm_gem_object *obj)
{
	if (drm_gem_object_is_shared_for_memory_stats(obj))
		stats->shared += obj->size;
	else
		stats->private += obj->size;
	/* One of the framebuffer that is evicted is not there, and is not counted twice. */
	if (READ_ONCE(to_guest_bo(obj)->place))
		stats->resident += obj->size;
	if (!dma_resv_test_signaled(obj->resv, DMA_RESV_USAGE_BOOKKEEP))
		stats->active += obj->size;
}

void guest_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct drm_memory_stats stats[ARRAY_SIZE(region)] = {};
	struct drm_gem_object *obj;
	unsigned int i;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id)
		count_bo(&stats[to_guest_bo(obj)->placement], obj);
	spin_unlock(&file->table_lock);
	for (i = 0; i < ARRAY_SIZE(region); i++)
		drm_print_memory_stats(p, &stats[i], DRM_GEM_OBJECT_RESIDENT, region[i]);
}
