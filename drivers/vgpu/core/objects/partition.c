// SPDX-License-Identifier: GPL-2.0
/* Partitions of a GPU. */
#include <linux/err.h>
#include <linux/export.h>

#include "../core.h"

/**
 * vgpu_partition_init() - set up a partition without instances
 * @part:    zeroed
 * @gpu:     the GPU, which lives as long as the partition does
 * @size_gb: size of the partition's framebuffer in GiB
 *
 * vgpu_partition_start() must follow before instances are created in it.
 */
void vgpu_partition_init(struct vgpu_partition *part, struct vgpu_gpu *gpu, u32 size_gb)
{
	part->gpu = gpu;
	vgpu_placement_init(&part->placement, size_gb,
			    gpu->info.placement == VGPU_PLACEMENT_HOMOGENEOUS);
}

/**
 * vgpu_partition_start() - give a partition its first settings, and start its scheduler
 * @part: private to the caller; the types of its GPU are set
 *
 * Context: sleeps.
 * Return: 0, which vgpu_partition_stop() undoes; -EINVAL for module parameters that contradict each
 * other (the log has the reason); or the error of vgpu_sched_create().
 */
int vgpu_partition_start(struct vgpu_partition *part)
{
	struct vgpu_sched_params params = {};
	struct vgpu_gpu *gpu = part->gpu;
	struct vgpu_sched *sched;
	int ret;

	ret = vgpu_settings_init(part, &params);
	if (ret)
		return ret;
	sched = vgpu_sched_create(gpu->name, gpu->info.nr_engines, &vgpu_engine_ops, part, &params);
	if (IS_ERR(sched))
		return PTR_ERR(sched);
	part->sched = sched;
	return 0;
}

/**
 * vgpu_partition_stop() - stop a partition's scheduler
 * @part: has no instances; nobody uses the scheduler any more
 *
 * Afterwards no op of the partition's engines is called.
 *
 * Context: sleeps.
 */
void vgpu_partition_stop(struct vgpu_partition *part)
{
	vgpu_sched_stop(part->sched);
	vgpu_sched_free(part->sched);
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
