/* SPDX-License-Identifier: GPL-2.0 */
/* Page tables outlive the framebuffer: for suspend, and for a device that was reset. */
#ifndef _VGPU_GUEST_SAVE_H
#define _VGPU_GUEST_SAVE_H

struct guest_dev;

int guest_save_init(struct guest_dev *gdev);

/*
 * The device was reset, and its framebuffer reads 0. Writes all page tables again. Buffers that
 * were evicted before come back with the next job of a VM that maps them; others read 0. The device
 * is there, and no queue has a channel.
 */
void guest_save_restore(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_SAVE_H */
