/* SPDX-License-Identifier: GPL-2.0 */
/* How buffers move between the framebuffer and the guest's memory. */
#ifndef _VGPU_GUEST_EVICT_H
#define _VGPU_GUEST_EVICT_H

struct guest_dev;

int guest_evict_init(struct guest_dev *gdev);

/* The driver leaves the device: it gives back what it has mapped for DMA. */
void guest_evict_leave(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_EVICT_H */
