// SPDX-License-Identifier: GPL-2.0
/*
 * The place of an instance on its GPU: partition, framebuffer, channels and share. A type is for
 * the partitions of its profile; the other types are for partition 0, unless the GPU is divided.
 */
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "../core.h"
#include "place.h"
#include "place_rules.h"

static bool place_suits(const struct vgpu_partition *part, const struct vgpu_type *type)
{
	return part->profile == type->profile && (part->id || !part->gpu->division.on);
}

/* How many instances can be placed yet in all partitions together. */
static unsigned int place_left(const struct vgpu_gpu *gpu)
{
	const struct vgpu_partition *part;
	unsigned int nr = 0;

	list_for_each_entry(part, &gpu->division.partitions, link)
		nr += part->placement.nr;
	return VGPU_PLACEMENT_MAX - nr;
}

/**
 * vgpu_place_available() - count how many more instances of a type have a place
 * @gpu:  the GPU
 * @type: one of its types
 *
 * Context: does not sleep.
 * Return: the number of instances; 0 if the GPU is being unregistered.
 */
unsigned int vgpu_place_available(struct vgpu_gpu *gpu, const struct vgpu_type *type)
{
	const struct vgpu_partition *part;
	unsigned int nr = 0;

	raw_spin_lock(&gpu->data_lock);
	list_for_each_entry(part, &gpu->division.partitions, link)
		if (place_suits(part, type))
			nr += vgpu_place_room(&part->placement, part->guarantee_sum,
					      type->size_gb);
	nr = gpu->dying ? 0 : min(nr, place_left(gpu));
	raw_spin_unlock(&gpu->data_lock);
	return nr;
}

static void place_free(struct vgpu_partition *part, u32 start_gb)
{
	struct vgpu_gpu *gpu = part->gpu;

	lockdep_assert_held(&gpu->lock);
	raw_spin_lock(&gpu->data_lock);
	vgpu_placement_put(&part->placement, start_gb);
	raw_spin_unlock(&gpu->data_lock);
}

/* NULL: there is no partition for the type. */
static struct vgpu_partition *place_choose(struct vgpu_gpu *gpu, const struct vgpu_type *type)
{
	struct vgpu_partition *part, *best = NULL;
	struct vgpu_place_choice choice = {};

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(part, &gpu->division.partitions, link)
		if (place_suits(part, type) &&
		    vgpu_place_offer(&choice, &part->placement, part->guarantee_sum,
				     type->size_gb))
			best = part;
	return best;
}

static int place_refuse_partition(struct vgpu_instance *instance, bool dying)
{
	const struct vgpu_type *type = instance->type;
	const char *name = instance->gpu->name;

	if (dying)
		return vgpu_refuse(instance, -ENODEV, "%s: the GPU is going away", type->name);
	if (type->profile)
		return vgpu_refuse(instance, -ENOSPC, "%s: partition: there is no %s on %s",
				   type->name, type->profile->name, name);
	return vgpu_refuse(instance, -ENOSPC,
			   "%s: partition: %s is divided, only types of partitions fit",
			   type->name, name);
}

/* What is short in @p, which is the placement of the instance's partition as it was then. */
static int place_refuse(struct vgpu_instance *instance, enum vgpu_short what,
			const struct vgpu_placement *p)
{
	u32 free_mb = vgpu_placement_free_gb(p) * 1024, size_gb = instance->type->size_gb;
	const char *type = instance->type->name;
	char name[VGPU_ADDR_LEN];

	vgpu_partition_name(instance->part, name, sizeof(name));
	switch (what) {
	case VGPU_SHORT_NOTHING:
		break;
	case VGPU_SHORT_INSTANCES:
		return vgpu_refuse(instance, -ENOSPC, "%s: instances: %u of %u exist on %s", type,
				   VGPU_PLACEMENT_MAX, VGPU_PLACEMENT_MAX, instance->gpu->name);
	case VGPU_SHORT_SIZE:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: placement: %s is in homogeneous mode and holds vGPUs of %u MiB, only that size fits",
				   type, name, p->used[0].size_gb * 1024);
	case VGPU_SHORT_FRAMEBUFFER:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: framebuffer: %u MiB wanted, %u of %u MiB free on %s", type,
				   size_gb * 1024, free_mb, p->region_gb * 1024, name);
	case VGPU_SHORT_PLACEMENT:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: placement: %u MiB are free on %s, but not at one of the %u places of this size",
				   type, free_mb, name, vgpu_placement_count(p, size_gb));
	}
	return 0;
}

/**
 * vgpu_place_take() - give a new instance its place in the framebuffer, and its share
 * @instance: its type is set; gets its partition, settings, framebuffer and channels
 *
 * Context: sleeps.
 * Return: 0, which vgpu_place_put() undoes; or -ENOSPC or -ENODEV, and vgpu_refuse() was called.
 */
int vgpu_place_take(struct vgpu_instance *instance)
{
	struct vgpu_instance_info *info = &instance->info;
	enum vgpu_short what = VGPU_SHORT_INSTANCES;
	const struct vgpu_type *type = instance->type;
	struct vgpu_gpu *gpu = instance->gpu;
	char why[VGPU_TEXT_LEN] = "";
	struct vgpu_partition *part;
	struct vgpu_placement was;
	u32 start_gb = 0;
	bool dying;
	int ret = 0;

	mutex_lock(&gpu->lock);
	dying = gpu->dying;
	part = dying ? NULL : place_choose(gpu, type);
	if (!part) {
		mutex_unlock(&gpu->lock);
		return place_refuse_partition(instance, dying);
	}
	vgpu_partition_get(part);
	instance->part = part;
	info->part = part;
	was = part->placement;
	if (place_left(gpu)) {
		raw_spin_lock(&gpu->data_lock);
		what = vgpu_placement_take(&part->placement, type->size_gb, &start_gb);
		raw_spin_unlock(&gpu->data_lock);
	}
	info->fb_start = (u64)(part->start_gb + start_gb) << 30;
	if (what == VGPU_SHORT_NOTHING) {
		ret = vgpu_shares_join(instance, why, sizeof(why));
		if (ret)
			place_free(part, start_gb);
	}
	mutex_unlock(&gpu->lock);

	if (ret)
		return vgpu_refuse(instance, ret, "%s: %s", type->name, why);
	if (what != VGPU_SHORT_NOTHING)
		return place_refuse(instance, what, &was);
	vgpu_placement_channels(&gpu->part0.placement, gpu->info.channels,
				part->start_gb + start_gb, type->size_gb, &info->first_channel,
				&info->nr_channels);
	return 0;
}

/**
 * vgpu_place_put() - take back an instance's place and share
 * @instance: not on its GPU's list, nor on any engine; keeps its partition
 *
 * Context: sleeps.
 */
void vgpu_place_put(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;

	mutex_lock(&gpu->lock);
	vgpu_shares_leave(instance);
	place_free(instance->part, vgpu_instance_start_gb(instance));
	mutex_unlock(&gpu->lock);
}
