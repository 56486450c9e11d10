/* SPDX-License-Identifier: GPL-2.0 */
/* The place of an instance on its GPU. */
#ifndef _VGPU_PLACE_H
#define _VGPU_PLACE_H

struct vgpu_gpu;
struct vgpu_instance;
struct vgpu_type;

unsigned int vgpu_place_available(struct vgpu_gpu *gpu, const struct vgpu_type *type);
int vgpu_place_take(struct vgpu_instance *instance);
void vgpu_place_put(struct vgpu_instance *instance);

#endif /* _VGPU_PLACE_H */
