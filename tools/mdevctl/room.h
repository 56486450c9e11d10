/* SPDX-License-Identifier: GPL-2.0 */
/* Where the driver would put a new vGPU, by its own rules: on the whole GPU, or in a partition. */
#ifndef VGPU_MDEVCTL_ROOM_H
#define VGPU_MDEVCTL_ROOM_H

#include <stdbool.h>

#include <linux/vgpu.h>

#include "attrs.h"

/**
 * struct room_gpu - a GPU as it is now
 * @gpu:      the GPU
 * @type:     its types, gpu.types of them
 * @part:     its partitions, but for partition 0
 * @nr_parts: how many
 * @inst:     its vGPUs
 * @nr_insts: how many
 */
struct room_gpu {
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_type *type;
	struct vgpu_ctl_partition part[VGPU_PARTITION_EIGHTHS];
	uint32_t nr_parts;
	struct vgpu_ctl_instance *inst;
	uint32_t nr_insts;
};

/*
 * Finds the room of a new vGPU of the type of that id in sysfs. Returns false if the GPU has no
 * such type.
 */
bool room_find(const struct room_gpu *gpu, const char *type, struct attrs_room *room);

#endif /* VGPU_MDEVCTL_ROOM_H */
