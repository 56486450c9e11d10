/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The place of an instance's framebuffer and channels on the GPU. Pure logic, in units of 1 GiB;
 * callers serialise their calls.
 */
#ifndef _VGPU_PLACEMENT_H
#define _VGPU_PLACEMENT_H

#include <linux/types.h>

#define VGPU_PLACEMENT_MAX	32	/* maximum number of instances of a GPU */

/**
 * struct vgpu_placement - the framebuffer of a GPU
 * @region_gb:   size of the framebuffer in GiB, 1 .. 1024
 * @homogeneous: all instances must have one size; else sizes can be mixed
 * @nr:          number of instances that are placed
 * @used:        their places, in no order
 */
struct vgpu_placement {
	u32 region_gb;
	bool homogeneous;
	unsigned int nr;
	struct {
		u32 start_gb;
		u32 size_gb;
	} used[VGPU_PLACEMENT_MAX];
};

/* The reason why an instance cannot be placed. */
enum vgpu_short {
	VGPU_SHORT_NOTHING,	/* it can be placed */
	VGPU_SHORT_INSTANCES,	/* the GPU has VGPU_PLACEMENT_MAX instances */
	VGPU_SHORT_SIZE,	/* homogeneous, and the GPU has instances of another size */
	VGPU_SHORT_FRAMEBUFFER,	/* less framebuffer is free than the instance needs */
	VGPU_SHORT_PLACEMENT,	/* enough is free, but no place for this size */
};

void vgpu_placement_init(struct vgpu_placement *p, u32 region_gb, bool homogeneous);
unsigned int vgpu_placement_count(const struct vgpu_placement *p, u32 size_gb);
u32 vgpu_placement_id(const struct vgpu_placement *p, u32 size_gb, unsigned int index);
enum vgpu_short vgpu_placement_take(struct vgpu_placement *p, u32 size_gb, u32 *start_gb);
void vgpu_placement_put(struct vgpu_placement *p, u32 start_gb);
unsigned int vgpu_placement_available(const struct vgpu_placement *p, u32 size_gb);
u32 vgpu_placement_free_gb(const struct vgpu_placement *p);
void vgpu_placement_channels(const struct vgpu_placement *p, u32 channels, u32 start_gb,
			     u32 size_gb, u32 *first, u32 *nr);

#endif /* _VGPU_PLACEMENT_H */
