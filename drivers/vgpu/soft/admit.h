/* SPDX-License-Identifier: GPL-2.0 */
/* How much framebuffer the vGPUs of all software GPUs may have together. */
#ifndef _VGPU_SOFT_ADMIT_H
#define _VGPU_SOFT_ADMIT_H

#include <linux/types.h>

struct vgpu_gpu;
struct vgpu_instance;

u64 soft_admit_room(struct vgpu_gpu *vgpu);
int soft_admit(struct vgpu_instance *vgpu);
void soft_admit_end(struct vgpu_instance *vgpu);

#endif /* _VGPU_SOFT_ADMIT_H */
