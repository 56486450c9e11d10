/* SPDX-License-Identifier: GPL-2.0 */
/* Mappings follow a buffer: they go when it is evicted, and come back with it. */
#ifndef _VGPU_GUEST_FOLLOW_H
#define _VGPU_GUEST_FOLLOW_H

#include <linux/list.h>
#include <linux/types.h>

struct drm_exec;
struct drm_gpuvm_bo;
struct drm_gpuvm_exec;
struct guest_bo;
struct guest_dev;

/* Probe. */
int guest_follow_init(struct guest_dev *gdev);

/*
 * Takes the buffer's place away, and its mappings from all page tables. When it returns, the device
 * uses the place no more. The reservation is held, and no job uses the buffer.
 */
void guest_follow_unmap(struct guest_bo *bo);

/* Of drm_gpuvm: brings a buffer back, and maps it in this VM. */
int guest_follow_validate(struct drm_gpuvm_bo *vm_bo, struct drm_exec *exec);

/*
 * Locks all buffers of the VM, as drm_gpuvm_exec_lock(), with each in its place, and the VM's
 * mappings leading there. Returns -ENOSPC if they do not fit into the framebuffer together.
 */
int guest_follow_lock(struct drm_gpuvm_exec *exec);

/*
 * Adds the buffers that the VM has, or will have, from @va on to the list @bos, by &struct
 * guest_bo.show_link, if they are not there. All are locked.
 */
void guest_follow_show(struct drm_gpuvm_exec *exec, u64 va, u64 bytes, struct list_head *bos);

/* The buffers are those used last. They are locked. */
void guest_follow_used(struct drm_gpuvm_exec *exec);

#endif /* _VGPU_GUEST_FOLLOW_H */
