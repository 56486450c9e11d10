/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where an instance's framebuffer and channels lie on the GPU. Pure logic, in
 * units of 1 GiB; the caller locks.
 */
#ifndef _VGPU_PLACEMENT_H
#define _VGPU_PLACEMENT_H

#include <linux/types.h>

#define VGPU_PLACEMENT_MAX	32	/* instances of one GPU */

/**
 * struct vgpu_placement - the framebuffer of a GPU
 * @region_gb:   its size
 * @homogeneous: all instances have one size; else sizes mix
 * @nr:          instances placed
 * @used:        where, in no order
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

/* Which pool is short. */
enum vgpu_short {
	VGPU_SHORT_NOTHING,
	VGPU_SHORT_INSTANCES,	/* VGPU_PLACEMENT_MAX are there */
	VGPU_SHORT_SIZE,	/* homogeneous, and another size runs */
	VGPU_SHORT_FRAMEBUFFER,	/* less is free than wanted */
	VGPU_SHORT_PLACEMENT,	/* enough is free, but no place for this size */
};

void vgpu_placement_init(struct vgpu_placement *p, u32 region_gb,
			 bool homogeneous);
unsigned int vgpu_placement_count(const struct vgpu_placement *p, u32 size_gb);
u32 vgpu_placement_id(const struct vgpu_placement *p, u32 size_gb,
		      unsigned int index);
enum vgpu_short vgpu_placement_take(struct vgpu_placement *p, u32 size_gb,
				    u32 *start_gb);
void vgpu_placement_put(struct vgpu_placement *p, u32 start_gb);
unsigned int vgpu_placement_available(const struct vgpu_placement *p,
				      u32 size_gb);
u32 vgpu_placement_free_gb(const struct vgpu_placement *p);
void vgpu_placement_channels(const struct vgpu_placement *p, u32 channels,
			     u32 start_gb, u32 size_gb, u32 *first, u32 *nr);

#endif /* _VGPU_PLACEMENT_H */
