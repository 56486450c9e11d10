/* SPDX-License-Identifier: GPL-2.0 */
/* The framebuffer: who has what of it, and the CPU's view. */
#ifndef _VGPU_GUEST_FB_H
#define _VGPU_GUEST_FB_H

#include <linux/gpu_buddy.h>
#include <linux/mutex.h>

struct guest_dev;

/**
 * struct guest_fb - the framebuffer
 * @bytes: owned, whole pages
 * @phys:  where the CPU finds it
 * @cpu:   the same, mapped
 * @lock:  protects @mm
 * @mm:    what is free
 */
struct guest_fb {
	u64 bytes;
	phys_addr_t phys;
	u8 __iomem *cpu;
	struct mutex lock;		/* mm */
	struct gpu_buddy mm;
};

/* After a reset of the device: all of the framebuffer is free and reads 0. */
int guest_fb_init(struct guest_dev *gdev);

/*
 * Adds blocks of @bytes together to @blocks, whole pages that read 0. Returns -ENOSPC where there
 * is no room.
 */
int guest_fb_alloc(struct guest_dev *gdev, u64 bytes, struct list_head *blocks);

/* Gives all @blocks back. Nothing uses them any more. */
void guest_fb_free(struct guest_dev *gdev, struct list_head *blocks);

/* Bytes that nobody has. */
u64 guest_fb_avail(struct guest_dev *gdev);

static inline u64 guest_fb_offset(const struct gpu_buddy_block *block)
{
	return gpu_buddy_block_offset(block);
}

#endif /* _VGPU_GUEST_FB_H */
