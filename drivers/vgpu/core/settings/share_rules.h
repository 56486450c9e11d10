/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of a vGPU, mainly its share of the engines and its frame-rate limit: their rows, and
 * the rule of admission. instance_shares.c applies them to the instances of a GPU. Pure logic,
 * compiled in user space too; callers serialise their calls.
 */
#ifndef _VGPU_SHARE_RULES_H
#define _VGPU_SHARE_RULES_H

#include "../../sched/policy.h"
#include "setting.h"

extern const struct vgpu_setting vgpu_share_settings[];

void vgpu_share_default(struct vgpu_ctl_share *settings, u32 size_gb, u32 region_gb);
unsigned int vgpu_share_room(u32 sum, u32 size_gb, u32 region_gb, unsigned int most);
int vgpu_share_change(struct vgpu_ctl_share *settings, const struct vgpu_ctl_share *change,
		      char *why, size_t size);
int vgpu_share_admit(u32 others, u32 guarantee, char *why, size_t size);
void vgpu_share_of(const struct vgpu_ctl_share *settings, u32 first_gb, u32 size_gb,
		   struct vgpu_share *share);
void vgpu_share_report(const struct vgpu_ctl_share *settings, struct vgpu_ctl_instance *out);
u32 vgpu_share_frl(enum vgpu_frl_mode mode, u32 config, u32 type_fps);

#endif /* _VGPU_SHARE_RULES_H */
