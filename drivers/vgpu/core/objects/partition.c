// SPDX-License-Identifier: GPL-2.0
/* Partitions of a GPU: references to them, and what they are called. */
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/timekeeping.h>

#include "../core.h"

/**
 * vgpu_partition_init() - set up a partition without instances
 * @part:     zeroed, but for what the caller sets of it
 * @gpu:      the GPU, which lives as long as the partition does
 * @start_gb: start of the partition's framebuffer in that of the GPU, in GiB
 * @size_gb:  size of the partition's framebuffer in GiB
 */
void vgpu_partition_init(struct vgpu_partition *part, struct vgpu_gpu *gpu, u32 start_gb,
			 u32 size_gb)
{
	part->gpu = gpu;
	part->start_gb = start_gb;
	part->created_ns = ktime_get_ns();
	kref_init(&part->ref);
	vgpu_placement_init(&part->placement, size_gb,
			    gpu->info.placement == VGPU_PLACEMENT_HOMOGENEOUS);
}

static void partition_free(struct kref *ref)
{
	struct vgpu_partition *part = container_of(ref, struct vgpu_partition, ref);

	if (part->sched)
		vgpu_sched_free(part->sched);
	kfree(part->last);
	kfree(part);
}

/**
 * vgpu_partition_get() - take a reference to a partition
 * @part: the caller has a reference, or holds the lock or data_lock of the GPU
 */
void vgpu_partition_get(struct vgpu_partition *part)
{
	kref_get(&part->ref);
}

/**
 * vgpu_partition_find() - find a partition by its number
 * @gpu: a reference to it is held
 * @id:  number of the partition
 *
 * Context: does not sleep.
 * Return: the partition, with a reference for vgpu_partition_put(); NULL: there is none.
 */
struct vgpu_partition *vgpu_partition_find(struct vgpu_gpu *gpu, u32 id)
{
	struct vgpu_partition *part, *found = NULL;

	raw_spin_lock(&gpu->data_lock);
	list_for_each_entry(part, &gpu->division.partitions, link) {
		if (part->id != id)
			continue;
		vgpu_partition_get(part);
		found = part;
		break;
	}
	raw_spin_unlock(&gpu->data_lock);
	return found;
}

/**
 * vgpu_partition_put() - drop a reference to a partition
 * @part: freed with the last reference
 *
 * Context: process context; sleeps only if it drops the last reference.
 */
void vgpu_partition_put(struct vgpu_partition *part)
{
	kref_put(&part->ref, partition_free);
}

/**
 * vgpu_partition_name() - name a partition for the user
 * @part: the partition
 * @text: set to the name
 * @size: bytes of @text
 *
 * Return: @text: the GPU's name, and of another partition than the whole GPU its number.
 */
const char *vgpu_partition_name(const struct vgpu_partition *part, char *text, size_t size)
{
	if (part->id)
		snprintf(text, size, "%s.%u", part->gpu->name, part->id);
	else
		snprintf(text, size, "%s", part->gpu->name);
	return text;
}

/**
 * vgpu_partitions_get_locked() - take a reference to each partition of a GPU
 * @gpu:   its data_lock is held
 * @parts: filled in, for vgpu_partitions_put()
 */
void vgpu_partitions_get_locked(struct vgpu_gpu *gpu, struct vgpu_partitions *parts)
{
	struct vgpu_partition *part;

	lockdep_assert_held(&gpu->data_lock);
	parts->nr = 0;
	list_for_each_entry(part, &gpu->division.partitions, link) {
		kref_get(&part->ref);
		parts->at[parts->nr++] = part;
	}
}

/**
 * vgpu_partitions_put() - drop the references of vgpu_partitions_get_locked()
 * @parts: the caller must not use it afterwards
 *
 * Context: process context; sleeps only if it drops the last reference to a partition.
 */
void vgpu_partitions_put(struct vgpu_partitions *parts)
{
	unsigned int i;

	for (i = 0; i < parts->nr; i++)
		vgpu_partition_put(parts->at[i]);
}

/**
 * vgpu_partition_gpu() - get the GPU of a partition
 * @part: the partition
 *
 * Context: any.
 * Return: the GPU that the partition is a part of.
 */
struct vgpu_gpu *vgpu_partition_gpu(const struct vgpu_partition *part)
{
	return part->gpu;
}
EXPORT_SYMBOL_GPL(vgpu_partition_gpu);

/**
 * vgpu_partition_backend() - get the back end's data of a partition
 * @part: the partition
 *
 * Context: any.
 * Return: what the op partition_create returned; NULL of partition 0, the whole GPU.
 */
void *vgpu_partition_backend(const struct vgpu_partition *part)
{
	return part->backend;
}
EXPORT_SYMBOL_GPL(vgpu_partition_backend);

/**
 * vgpu_partition_units() - compute a partition's part of a GPU's units
 * @part: the partition
 * @units: units of the GPU
 *
 * Context: any.
 * Return: number of units: all of partition 0, and of one that shares CPUs in time, as in its slots
 * it has all CPUs; else at least 1.
 */
u32 vgpu_partition_units(const struct vgpu_partition *part, u32 units)
{
	if (!part->profile || part->clock.length_ns)
		return units;
	return vgpu_profile_units(part->profile, units);
}
EXPORT_SYMBOL_GPL(vgpu_partition_units);

/**
 * vgpu_partition_place() - tell which of the GPU's slices a partition has
 * @part: the partition
 * @slices: set to their number
 *
 * Context: any.
 * Return: the first slice. Partitions whose framebuffers are apart have no slice in common.
 */
u32 vgpu_partition_place(const struct vgpu_partition *part, u32 *slices)
{
	*slices = part->profile ? part->profile->slices : VGPU_PROFILE_SLICES;
	return part->start_gb * VGPU_PROFILE_EIGHTHS / part->gpu->division.map.region_gb;
}
EXPORT_SYMBOL_GPL(vgpu_partition_place);

/**
 * vgpu_partition_clock() - get the clock of a partition
 * @part: the partition
 *
 * Context: any.
 * Return: the clock that deadlines of its engines are by. It lives as long as the partition.
 */
const struct vgpu_clock *vgpu_partition_clock(const struct vgpu_partition *part)
{
	return &part->clock;
}
EXPORT_SYMBOL_GPL(vgpu_partition_clock);
