/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers and page tables outlive the framebuffer: for suspend, and for a device that was reset. */
#ifndef _VGPU_GUEST_SAVE_H
#define _VGPU_GUEST_SAVE_H

struct guest_dev;

int guest_save_init(struct guest_dev *gdev);

/*
 * Evicts all buffers, of which no job is under way, and gives up the driver's own channel. The
 * caller sees to it that no job and no call of a user begins before guest_save_restore(). Returns an
 * error if the guest has no memory for them, or a job is under way; then nothing is lost, and
 * guest_save_restore() is not needed. The device is there.
 */
int guest_save_all(struct guest_dev *gdev);

/*
 * The device was reset, and its framebuffer reads 0. Writes all page tables again. Buffers that were
 * saved come back with the next job of a VM that maps them; others read 0. Also without
 * guest_save_all() before. The device is there, and no queue has a channel.
 */
void guest_save_restore(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_SAVE_H */
