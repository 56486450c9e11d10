/* SPDX-License-Identifier: GPL-2.0 */
/* Framebuffer for the driver itself: page tables. */
#ifndef _VGPU_GUEST_OWN_H
#define _VGPU_GUEST_OWN_H

#include <linux/types.h>

struct guest_dev;

/*
 * Adds blocks to the empty list @blocks, which read 0. Buffers that are idle are evicted for that.
 * Returns -ENOSPC where there is no room. guest_fb_free_own() gives them back.
 */
int guest_own_alloc(struct guest_dev *gdev, u64 bytes, struct list_head *blocks);

#endif /* _VGPU_GUEST_OWN_H */
