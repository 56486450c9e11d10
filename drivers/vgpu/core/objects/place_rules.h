/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of a GPU's partitions a new instance goes into. Pure logic, compiled in user space too;
 * callers serialise their calls.
 */
#ifndef _VGPU_PLACE_RULES_H
#define _VGPU_PLACE_RULES_H

#include "placement.h"

/**
 * struct vgpu_place_choice - the best of the partitions that were offered to a new instance
 * @offered: there is one; false at first
 * @room:    how many instances like the new one it has room for
 * @free_gb: its free framebuffer in GiB
 */
struct vgpu_place_choice {
	bool offered;
	unsigned int room;
	u32 free_gb;
};

unsigned int vgpu_place_room(const struct vgpu_placement *p, u32 guarantees, u32 size_gb);
bool vgpu_place_offer(struct vgpu_place_choice *choice, const struct vgpu_placement *p,
		      u32 guarantees, u32 size_gb);

#endif /* _VGPU_PLACE_RULES_H */
