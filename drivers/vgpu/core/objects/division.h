/* SPDX-License-Identifier: GPL-2.0 */
/* The division of a GPU into partitions. */
#ifndef _VGPU_DIVISION_H
#define _VGPU_DIVISION_H

#include <linux/list.h>
#include <uapi/linux/vgpu.h>

#include "../../sched/sched.h"
#include "profile.h"

struct vgpu_gpu;

/**
 * struct vgpu_division - how a GPU is divided
 * @on:         the GPU is to be divided: partition 0 gets no instances. Else there are no other
 *              partitions
 * @partitions: partition 0, and those that are ready for instances
 * @map:        the places of partitions, also of those that are being created or removed
 * @last_id:    number of the newest partition; not used again as long as the GPU is registered
 * @gone:       sums of the statistics of partitions that were removed, by engine
 *
 * All are changed with the lock and the data_lock of the GPU held, and read with one of them.
 */
struct vgpu_division {
	bool on;
	struct list_head partitions;
	struct vgpu_profile_map map;
	u32 last_id;
	struct vgpu_timeline_stats gone[VGPU_MAX_ENGINES];
};

void vgpu_division_init(struct vgpu_gpu *gpu);
int vgpu_division_start(struct vgpu_gpu *gpu);
void vgpu_division_stop(struct vgpu_gpu *gpu);
int vgpu_division_set_mode(struct vgpu_gpu *gpu, bool on, char *why, size_t size);
int vgpu_division_create(struct vgpu_gpu *gpu, const struct vgpu_profile *profile,
			 u32 *start, u32 *id, char *why, size_t size);
int vgpu_division_remove(struct vgpu_gpu *gpu, u32 id, char *why, size_t size);
int vgpu_division_refuse(struct vgpu_gpu *gpu, char *why, size_t size);

#endif /* _VGPU_DIVISION_H */
