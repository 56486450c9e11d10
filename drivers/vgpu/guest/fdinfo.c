// SPDX-License-Identifier: GPL-2.0
/*
 * What fdinfo of an open file tells, by the standard keys: the memory of its buffers, and the time
 * that engines have worked for it, by the host's measure.
 */
#include <linux/dma-resv.h>

#include "bo.h"
#include "device.h"
#include "queue.h"
#include "time.h"

static const char * const region[] = {
	[DRM_VGPU_PLACEMENT_FRAMEBUFFER] = "vram",
	[DRM_VGPU_PLACEMENT_SYSTEM] = "system",
};

static const char * const engine_class[] = {
	[VGPU_HW_ENGINE_GR] = "gr",
	[VGPU_HW_ENGINE_CE] = "ce",
	[VGPU_HW_ENGINE_ENC] = "enc",
	[VGPU_HW_ENGINE_DEC] = "dec",
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

static void show_memory(struct drm_printer *p, struct drm_file *file)
{
	struct drm_memory_stats stats[ARRAY_SIZE(region)] = {};
	struct drm_gem_object *obj;
	unsigned int i;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id)
		count_bo(&stats[to_guest_bo(obj)->placement], obj);
	spin_unlock(&file->table_lock);
	/* The driver takes nobody's memory away, so none is purgeable. */
	for (i = 0; i < ARRAY_SIZE(region); i++)
		drm_print_memory_stats(p, &stats[i],
				       DRM_GEM_OBJECT_RESIDENT | DRM_GEM_OBJECT_PURGEABLE |
				       DRM_GEM_OBJECT_ACTIVE, region[i]);
}

/* Queues that were destroyed have no channel any more, and their time was taken. */
static void take_time(struct guest_dev *gdev, struct guest_file *gfile)
{
	struct guest_queue *queue;
	unsigned long id;
	int idx;

	if (!drm_dev_enter(&gdev->drm, &idx))
		return;
	xa_lock(&gfile->queues);
	xa_for_each(&gfile->queues, id, queue) {
		spin_lock_irq(&gdev->channel_lock);
		guest_time_take(queue);
		spin_unlock_irq(&gdev->channel_lock);
	}
	xa_unlock(&gfile->queues);
	drm_dev_exit(idx);
}

static void show_time(struct drm_printer *p, struct guest_dev *gdev, struct guest_file *gfile)
{
	u32 capacity[ARRAY_SIZE(engine_class)] = {};
	u64 ns[ARRAY_SIZE(engine_class)] = {};
	unsigned int i;
	u32 class;

	for (i = 0; i < gdev->nr_engines; i++) {
		class = gdev->engine[i] >> 8;
		if (class >= ARRAY_SIZE(engine_class))
			continue;
		capacity[class]++;
		ns[class] += atomic64_read(&gfile->time->ns[i]);
	}
	for (i = 0; i < ARRAY_SIZE(engine_class); i++) {
		if (capacity[i])
			drm_printf(p, "drm-engine-%s:\t%llu ns\n", engine_class[i], ns[i]);
		if (capacity[i] > 1)
			drm_printf(p, "drm-engine-capacity-%s:\t%u\n", engine_class[i],
				   capacity[i]);
	}
}

void guest_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct guest_dev *gdev = to_guest_dev(file->minor->dev);

	if (guest_tells_usage(gdev)) {
		take_time(gdev, gfile);
		show_time(p, gdev, gfile);
	}
	show_memory(p, file);
}
