/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Partitions: parts of a GPU in space, each with its own part of the framebuffer, its own
 * scheduler and settings. The whole GPU is partition 0, which lies in its struct vgpu_gpu.
 */
#ifndef _VGPU_PARTITION_H
#define _VGPU_PARTITION_H

#include <uapi/linux/vgpu.h>

#include "placement.h"

struct vgpu_gpu;
struct vgpu_sched;

/**
 * struct vgpu_partition - a partition of a GPU
 * @gpu:       the GPU; constant
 * @placement: the instances' places in the partition's framebuffer
 * @guarantee_sum: sum of the guarantees of all placed instances, per mille
 * @settings:  the partition's settings, as VGPU_IOC_SCHED reads them
 * @sched:     has one timeline per engine of the GPU; its parameters follow @settings with the
 *             GPU's lock held
 *
 * @placement, @guarantee_sum and @settings are changed with the lock and the data_lock of the GPU
 * held, and read with one of them.
 */
struct vgpu_partition {
	struct vgpu_gpu *gpu;
	struct vgpu_placement placement;
	u32 guarantee_sum;
	struct vgpu_ctl_sched settings;
	struct vgpu_sched *sched;
};

void vgpu_partition_init(struct vgpu_partition *part, struct vgpu_gpu *gpu, u32 size_gb);
int vgpu_partition_start(struct vgpu_partition *part);
void vgpu_partition_stop(struct vgpu_partition *part);

#endif /* _VGPU_PARTITION_H */
