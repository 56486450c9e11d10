// SPDX-License-Identifier: GPL-2.0
/* The place of an instance on its GPU: framebuffer, channels and share. */
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "../core.h"

static void place_free(struct vgpu_partition *part, u32 start_gb)
{
	struct vgpu_gpu *gpu = part->gpu;

	lockdep_assert_held(&gpu->lock);
	raw_spin_lock(&gpu->data_lock);
	vgpu_placement_put(&part->placement, start_gb);
	raw_spin_unlock(&gpu->data_lock);
}

/**
 * vgpu_place_take() - give a new instance its place in the framebuffer, and its share
 * @instance: its partition and type are set; gets its settings, framebuffer and channels
 *
 * Context: sleeps.
 * Return: 0, which vgpu_place_put() undoes; or -ENOSPC or -ENODEV, and vgpu_refuse() was called.
 */
int vgpu_place_take(struct vgpu_instance *instance)
{
	struct vgpu_partition *part = instance->part;
	struct vgpu_instance_info *info = &instance->info;
	const struct vgpu_type *type = instance->type;
	struct vgpu_placement *p = &part->placement;
	struct vgpu_gpu *gpu = part->gpu;
	u32 free_gb, other_gb, start_gb = 0;
	char why[VGPU_TEXT_LEN] = "";
	enum vgpu_short what;
	unsigned int nr;
	bool dying;
	int ret = 0;

	mutex_lock(&gpu->lock);
	dying = gpu->dying;
	free_gb = vgpu_placement_free_gb(p);
	other_gb = p->nr ? p->used[0].size_gb : 0;
	nr = p->nr;
	raw_spin_lock(&gpu->data_lock);
	what = dying ? VGPU_SHORT_NOTHING : vgpu_placement_take(p, type->size_gb, &start_gb);
	raw_spin_unlock(&gpu->data_lock);
	info->fb_start = (u64)start_gb << 30;
	if (!dying && what == VGPU_SHORT_NOTHING) {
		ret = vgpu_shares_join(instance, why, sizeof(why));
		if (ret)
			place_free(part, start_gb);
	}
	mutex_unlock(&gpu->lock);

	if (dying)
		return vgpu_refuse(instance, -ENODEV, "%s: the GPU is going away", type->name);
	if (ret)
		return vgpu_refuse(instance, ret, "%s: %s", type->name, why);
	switch (what) {
	case VGPU_SHORT_NOTHING:
		break;
	case VGPU_SHORT_INSTANCES:
		return vgpu_refuse(instance, -ENOSPC, "%s: instances: %u of %u exist on %s",
				   type->name, nr, VGPU_PLACEMENT_MAX, gpu->name);
	case VGPU_SHORT_SIZE:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: placement: %s is in homogeneous mode and holds vGPUs of %u MiB, only that size fits",
				   type->name, gpu->name, other_gb * 1024);
	case VGPU_SHORT_FRAMEBUFFER:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: framebuffer: %u MiB wanted, %u of %u MiB free on %s",
				   type->name, type->size_gb * 1024, free_gb * 1024,
				   p->region_gb * 1024, gpu->name);
	case VGPU_SHORT_PLACEMENT:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: placement: %u MiB are free on %s, but not at one of the %u places of this size",
				   type->name, free_gb * 1024, gpu->name,
				   vgpu_placement_count(p, type->size_gb));
	}

	vgpu_placement_channels(p, gpu->info.channels, start_gb, type->size_gb,
				&info->first_channel, &info->nr_channels);
	return 0;
}

/**
 * vgpu_place_put() - take back an instance's place and share
 * @instance: not on its GPU's list, nor on any engine
 *
 * Context: sleeps.
 */
void vgpu_place_put(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;

	mutex_lock(&gpu->lock);
	vgpu_shares_leave(instance);
	place_free(instance->part, instance->info.fb_start >> 30);
	mutex_unlock(&gpu->lock);
}
