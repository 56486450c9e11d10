/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a vGPU is to get: defaults, changes, and which sums are admitted. Pure
 * logic, the caller locks.
 */
#ifndef _VGPU_CORE_SHARE_H
#define _VGPU_CORE_SHARE_H

#include "../sched/policy.h"

void vgpu_share_default(struct vgpu_share *share, u32 first_gb, u32 size_gb,
			u32 region_gb);
unsigned int vgpu_share_room(u32 sum, u32 size_gb, u32 region_gb,
			     unsigned int most);
int vgpu_share_change(struct vgpu_share *share, u32 *frl,
		      const struct vgpu_ctl_share *change, char *why,
		      size_t size);
int vgpu_share_admit(u32 others, u32 guarantee, char *why, size_t size);
u32 vgpu_share_frl(enum vgpu_frl_mode mode, u32 config, u32 type_fps);

#endif /* _VGPU_CORE_SHARE_H */
