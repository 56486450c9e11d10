/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Partitions: parts of a GPU in space, each with its own part of the framebuffer, its own
 * scheduler and settings. The whole GPU is partition 0, which lies in its struct vgpu_gpu.
 */
#ifndef _VGPU_PARTITION_H
#define _VGPU_PARTITION_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/vgpu_clock.h>
#include <uapi/linux/vgpu.h>

#include "placement.h"
#include "profile.h"

#define VGPU_PARTITIONS_MAX	(1 + VGPU_PROFILE_SLICES)

struct vgpu_gpu;
struct vgpu_sched;
struct vgpu_timeline_stats;

/**
 * struct vgpu_partition - a partition of a GPU
 * @gpu:       the GPU; constant. Who has a reference to the partition has one to the GPU
 * @id:        number of the partition; constant
 * @profile:   its profile, NULL of partition 0; constant
 * @clock:     its engines', see struct vgpu_gpu_info.share_time; constant
 * @start_gb:  where its framebuffer starts in that of the GPU, in GiB; constant
 * @created_ns: when it was made; constant
 * @ref:       the division holds a reference, and so does each instance until it is freed. A
 *             partition that was removed keeps its scheduler, stopped, for those who still read
 *             statistics. Partition 0 goes with the GPU, and its scheduler before that
 * @link:      on the division's list, protected like that; empty when it is on it no more
 * @placement: the instances' places in the partition's framebuffer
 * @guarantee_sum: sum of the guarantees of all placed instances, per mille
 * @settings:  the partition's settings, as VGPU_IOC_SCHED reads them
 * @sched:     has one timeline per engine of the GPU; its parameters follow @settings with the
 *             GPU's lock held
 * @last:      room for the statistics of its engines when it is removed; NULL of partition 0
 * @backend:   the back end's data, see vgpu_partition_backend()
 *
 * @placement, @guarantee_sum and @settings are changed with the lock and the data_lock of the GPU
 * held, and read with one of them.
 */
struct vgpu_partition {
	struct vgpu_gpu *gpu;
	u32 id;
	const struct vgpu_profile *profile;
	struct vgpu_clock clock;
	u32 start_gb;
	u64 created_ns;
	struct kref ref;
	struct list_head link;
	struct vgpu_placement placement;
	u32 guarantee_sum;
	struct vgpu_ctl_sched settings;
	struct vgpu_sched *sched;
	struct vgpu_timeline_stats *last;
	void *backend;
};

/**
 * struct vgpu_partitions - the partitions of a GPU at one time, each with a reference
 * @nr: number of partitions
 * @at: the partitions, partition 0 first
 */
struct vgpu_partitions {
	unsigned int nr;
	struct vgpu_partition *at[VGPU_PARTITIONS_MAX];
};

void vgpu_partition_init(struct vgpu_partition *part, struct vgpu_gpu *gpu, u32 start_gb,
			 u32 size_gb);
void vgpu_partition_get(struct vgpu_partition *part);
struct vgpu_partition *vgpu_partition_find(struct vgpu_gpu *gpu, u32 id);
void vgpu_partition_put(struct vgpu_partition *part);
const char *vgpu_partition_name(const struct vgpu_partition *part, char *text, size_t size);
void vgpu_partitions_get_locked(struct vgpu_gpu *gpu, struct vgpu_partitions *parts);
void vgpu_partitions_put(struct vgpu_partitions *parts);

#endif /* _VGPU_PARTITION_H */
