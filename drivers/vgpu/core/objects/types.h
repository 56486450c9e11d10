/* SPDX-License-Identifier: GPL-2.0 */
/* The catalogue of vGPU types of a GPU. Pure logic. */
#ifndef _VGPU_TYPES_H
#define _VGPU_TYPES_H

#include <linux/types.h>

struct vgpu_placement;
struct vgpu_profile;

#define VGPU_TYPE_NAME_LEN	48
#define VGPU_TYPE_DESCRIPTION_LEN 160

/**
 * struct vgpu_type - a type of vGPUs
 * @name:       board, framebuffer in GB, series: "SG16-4Q"; of partitions with slices: "SG16-2-4C"
 * @edition:    licence edition that NVML clients expect of the series
 * @index:      index of the type in the GPU's catalogue
 * @profile:    profile of the partitions that it is for; NULL: it is for the whole GPU
 * @size_gb:    framebuffer of an instance in GiB
 * @max_instances: number of instances that fit on a GPU without other instances, in
 *              partitions of the profile
 * @channels:   minimum number of channels of an instance
 * @num_heads:  number of displays of an instance
 * @max_width:  maximum width of a display in pixels
 * @max_height: maximum height of a display in pixels
 * @frl_fps:    default frame-rate limit, in frames per s
 * @vga:        an instance is a VGA card by default; stock guests have drivers for that
 */
struct vgpu_type {
	char name[VGPU_TYPE_NAME_LEN];
	const char *edition;
	unsigned int index;
	const struct vgpu_profile *profile;
	u32 size_gb;
	u32 max_instances;
	u32 channels;
	u32 num_heads;
	u32 max_width;
	u32 max_height;
	u32 frl_fps;
	bool vga;
};

unsigned int vgpu_types_build(const char *board, const struct vgpu_placement *placement,
			      u32 channels, bool divisible, struct vgpu_type *types,
			      unsigned int room);
int vgpu_type_describe(const struct vgpu_type *type, bool moves, char *buf, size_t size);

#endif /* _VGPU_TYPES_H */
