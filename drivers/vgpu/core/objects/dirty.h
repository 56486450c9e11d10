/* SPDX-License-Identifier: GPL-2.0 */
/* Which pages of an open vGPU's framebuffer are written, while somebody wants to know. */
#ifndef _VGPU_DIRTY_H
#define _VGPU_DIRTY_H

#include <linux/types.h>
#include <linux/vgpu.h>

/**
 * enum vgpu_dirty_reader - who takes the passes
 * @VGPU_DIRTY_DEBUGFS: readers of debugfs, the host's administrator
 * @VGPU_DIRTY_MOVE: a stream that saves the vGPU
 */
enum vgpu_dirty_reader {
	VGPU_DIRTY_DEBUGFS,
	VGPU_DIRTY_MOVE,
};

int vgpu_dirty_start(struct vgpu_instance *instance, enum vgpu_dirty_reader reader);
int vgpu_dirty_stop(struct vgpu_instance *instance, enum vgpu_dirty_reader reader);
int vgpu_dirty_pass(struct vgpu_instance *instance, enum vgpu_dirty_reader reader,
		    struct vgpu_dirty_pass *pass);
int vgpu_dirty_next(struct vgpu_instance *instance, const struct vgpu_dirty_pass *pass, u64 *first,
		    u64 *nr);
void vgpu_dirty_close(struct vgpu_instance *instance);

#endif /* _VGPU_DIRTY_H */
