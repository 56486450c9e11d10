/* SPDX-License-Identifier: GPL-2.0 */
/* Which pages of an open vGPU's framebuffer are written, while somebody wants to know. */
#ifndef _VGPU_DIRTY_H
#define _VGPU_DIRTY_H

#include <linux/types.h>
#include <linux/vgpu.h>

int vgpu_dirty_start(struct vgpu_instance *instance);
int vgpu_dirty_stop(struct vgpu_instance *instance);
int vgpu_dirty_pass(struct vgpu_instance *instance, struct vgpu_dirty_pass *pass);
int vgpu_dirty_next(struct vgpu_instance *instance, const struct vgpu_dirty_pass *pass, u64 *first,
		    u64 *nr);
void vgpu_dirty_close(struct vgpu_instance *instance);

#endif /* _VGPU_DIRTY_H */
