/* SPDX-License-Identifier: GPL-2.0 */
/* How much framebuffer the vGPUs of all software GPUs may have together. */
#ifndef _VGPU_SOFT_ADMIT_H
#define _VGPU_SOFT_ADMIT_H

#include <linux/types.h>

struct vgpu_gpu;
struct vgpu_instance;
struct vgpu_instance_info;

u64 soft_admit_room(struct vgpu_gpu *vgpu);
int soft_admit(struct vgpu_instance *vgpu, const struct vgpu_instance_info *info,
	       const char *gpu_name);
void soft_admit_end(u64 fb_bytes);

#endif /* _VGPU_SOFT_ADMIT_H */
