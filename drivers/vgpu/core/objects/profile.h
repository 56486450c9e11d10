/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Profiles of partitions, and the places that partitions have on a GPU. Pure logic; callers
 * serialise their calls.
 */
#ifndef _VGPU_PROFILE_H
#define _VGPU_PROFILE_H

#include <linux/types.h>

#define VGPU_PROFILES		5
#define VGPU_PROFILE_SLICES	7	/* of a GPU's units */
#define VGPU_PROFILE_EIGHTHS	8	/* of its framebuffer */

#define VGPU_PROFILE_ANYWHERE	~0U	/* no place is asked for */

/**
 * struct vgpu_profile - a profile
 * @name:    the field's name, by slices: "3g"
 * @slices:  number of slices, each a seventh of the GPU's units
 * @eighths: number of eighths of the framebuffer
 * @starts:  the eighths at which a partition may start, a mask; all are multiples of @eighths
 */
struct vgpu_profile {
	const char *name;
	u8 slices;
	u8 eighths;
	u8 starts;
};

extern const struct vgpu_profile vgpu_profiles[VGPU_PROFILES];

/**
 * struct vgpu_profile_map - which parts of a GPU's framebuffer are in partitions
 * @region_gb: size of the framebuffer in GiB
 * @owner:     the partition that each eighth is in; 0: none
 */
struct vgpu_profile_map {
	u32 region_gb;
	u32 owner[VGPU_PROFILE_EIGHTHS];
};

u32 vgpu_profile_size_gb(const struct vgpu_profile *profile, u32 region_gb);
u32 vgpu_profile_units(const struct vgpu_profile *profile, u32 units);
unsigned int vgpu_profile_fits(const struct vgpu_profile_map *map,
			       const struct vgpu_profile *profile);
int vgpu_profile_take(struct vgpu_profile_map *map, const struct vgpu_profile *profile,
		      unsigned int start, u32 id, char *why, size_t size);
void vgpu_profile_put(struct vgpu_profile_map *map, u32 id);

#endif /* _VGPU_PROFILE_H */
