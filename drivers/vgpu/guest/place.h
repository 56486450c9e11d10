/* SPDX-License-Identifier: GPL-2.0 */
/* Where a buffer lies, as the device addresses it. */
#ifndef _VGPU_GUEST_PLACE_H
#define _VGPU_GUEST_PLACE_H

#include <linux/types.h>

struct guest_dev;
struct sg_table;

/**
 * struct guest_span - a part of a buffer that is in one piece for the device
 * @offset: in the buffer
 * @addr:   in the framebuffer, or for DMA
 */
struct guest_span {
	u64 offset;
	u64 addr;
};

/**
 * struct guest_place - where a buffer lies; it does not change
 * @bytes: of the buffer
 * @sys:   in the guest's memory, not in the framebuffer
 * @nr:    elements of @span
 * @span:  by offset, the first one at 0; each ends where the next one begins
 */
struct guest_place {
	u64 bytes;
	bool sys;
	u32 nr;
	struct guest_span span[] __counted_by(nr);
};

/* Of blocks of the framebuffer, or of the guest's memory; NULL: no memory. kvfree() frees it. */
struct guest_place *guest_place_of_blocks(struct guest_dev *gdev, struct list_head *blocks);
struct guest_place *guest_place_of_sg(struct sg_table *sgt);

/* The device's address of a byte of the buffer; *@left: bytes from there in one piece. */
u64 guest_place_addr(const struct guest_place *place, u64 offset, u64 *left);

#endif /* _VGPU_GUEST_PLACE_H */
