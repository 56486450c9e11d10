/* SPDX-License-Identifier: GPL-2.0 */
/* Front ends: what makes vGPUs for users, and what the core asks of it. */
#ifndef _VGPU_FRONT_H
#define _VGPU_FRONT_H

#include <linux/list.h>
#include <linux/types.h>

struct vgpu_gpu;
struct vgpu_instance;

/**
 * struct vgpu_front_ops - what a front end does for an open instance
 * @guest_rw:  read or write @len bytes of guest memory at @addr. Only the instance's worker calls
 *             it, between vgpu_instance_open() and vgpu_instance_close(). Sleeps, perhaps for as
 *             long as the guest's memory does not answer; a fatal signal ends it. Returns 0;
 *             -EFAULT if the guest has no memory at @addr, or none for this kind of access;
 *             -ENOMEM if the host cannot provide it now, and some of it may have been accessed
 * @may_dma:   tell whether the function is bus master. Must not sleep
 * @raise_irq: raise an MSI-X vector. With front_lock held; must not sleep
 * @zap:       unmap all of @bar from the user's address spaces: its pages are about to be dropped.
 *             With map_lock held for writing
 * @unmap:     likewise, but its pages stay, and so does a picture that is shown
 *
 * There is no op that asks the user to release a device before it is removed: VFIO calls the front
 * end for that.
 */
struct vgpu_front_ops {
	int (*guest_rw)(struct vgpu_instance *instance, u64 addr, void *buf, size_t len,
			bool write);
	bool (*may_dma)(struct vgpu_instance *instance);
	void (*raise_irq)(struct vgpu_instance *instance, unsigned int vector);
	void (*zap)(struct vgpu_instance *instance, unsigned int bar);
	void (*unmap)(struct vgpu_instance *instance, unsigned int bar);
};

/**
 * struct vgpu_front - a front end
 * @link:       on the registry's list
 * @name:       for messages
 * @add_gpu:    called for each registered GPU; returns 0 or -errno. Sleeps
 * @remove_gpu: called when a GPU is unregistered: destroy all its instances made through this front
 *              end. Sleeps, until their users have closed them
 */
struct vgpu_front {
	struct list_head link;
	const char *name;
	int (*add_gpu)(struct vgpu_gpu *gpu);
	void (*remove_gpu)(struct vgpu_gpu *gpu);
};

#endif /* _VGPU_FRONT_H */
