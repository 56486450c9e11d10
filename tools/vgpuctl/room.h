/* SPDX-License-Identifier: GPL-2.0 */
/* The partitions of a GPU as plan_rooms() fills them with vGPUs. */
#ifndef VGPUCTL_ROOM_H
#define VGPUCTL_ROOM_H

#include "core/objects/placement.h"

#include "plan.h"

/**
 * struct room - a partition with its vGPUs, or the whole GPU
 * @id:        its number; 0: the whole GPU, or one that is to be created
 * @slices:    of its profile; 0: the whole GPU
 * @start:     eighth at which it starts
 * @start_gb:  where it starts in the GPU's framebuffer
 * @placement: what its vGPUs have
 * @base:      guarantees of those that were there, while others are created
 * @now:       @base, and what those have that have been created so far
 * @after:     guarantees of all at the end
 */
struct room {
	uint32_t id;
	uint32_t slices;
	uint32_t start;
	uint32_t start_gb;
	struct vgpu_placement placement;
	u32 base;
	u32 now;
	u32 after;
};

/**
 * struct rooms - those of a GPU, in the order in which the driver goes over them
 * @gpu:   the GPU
 * @at:    the rooms
 * @nr:    how many
 * @of:    the room of each vGPU of the plan that is on this GPU; allocated
 * @has:   the guarantee of each vGPU of the plan that has been created so far; allocated
 * @insts: number of vGPUs in all rooms
 */
struct rooms {
	const struct world_gpu *gpu;
	struct room at[2 * VGPU_PARTITION_EIGHTHS];
	size_t nr;
	struct room **of;
	u32 *has;
	unsigned int insts;
};

/*
 * plan_steer.c: the driver chooses where a new vGPU goes, and by the guarantees of vGPUs that have
 * just been created it can be led. Can it be led to put the vGPU @i of the plan into @to? If so and
 * @plan_it, the steps are added to the plan, and the vGPU is in the room.
 */
bool room_steer(struct rooms *rooms, struct plan *plan, size_t i, struct room *to, bool plan_it);

/* The guarantee that a new vGPU of the type has in the room at first. */
u32 room_first_guarantee(const struct room *room, const struct vgpu_ctl_type *type);

#endif /* VGPUCTL_ROOM_H */
