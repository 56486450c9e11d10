/* SPDX-License-Identifier: GPL-2.0 */
/* The framebuffer: who has what of it, and the CPU's view. */
#ifndef _VGPU_GUEST_FB_H
#define _VGPU_GUEST_FB_H

#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>

#include "compat.h"

struct guest_dev;

/* Large buffers are made of pieces of this size, aligned to it, so that large leaves map them. */
#define GUEST_FB_LARGE	SZ_2M

/**
 * struct guest_fb - the framebuffer
 * @bytes: owned, whole pages
 * @phys:  where the CPU finds it
 * @cpu:   the same, mapped
 * @lock:  protects the next two
 * @mm:    what is free
 * @own:   bytes that the driver has for itself, and that never become free for a buffer: at most
 *         half of @bytes, as clients make it take them
 * @stays_lock: protects what follows; taken where no memory is allocated
 * @stays: for each page, whether it is of what is not evicted: the driver's own, and what is shown
 */
struct guest_fb {
	u64 bytes;
	phys_addr_t phys;
	u8 __iomem *cpu;
	struct mutex lock;		/* mm, own */
	struct gpu_buddy mm;
	u64 own;
	spinlock_t stays_lock;		/* stays */
	unsigned long *stays;
};

/* After a reset of the device: all of the framebuffer is free and reads 0. */
int guest_fb_init(struct guest_dev *gdev);

/*
 * Adds blocks of @bytes together, whole pages, to the empty list @blocks. What is in them anyone
 * may have written, but for those that the allocator knows to be clear. @large: as far as the
 * bytes go, each GUEST_FB_LARGE of them is in one piece and aligned. @flags: GPU_BUDDY_*. Returns
 * -ENOSPC where there is no room.
 */
int guest_fb_take(struct guest_dev *gdev, u64 bytes, bool large, unsigned long flags,
		  struct list_head *blocks);

/* Likewise, for the driver itself: small, and cleared by the CPU. */
int guest_fb_take_own(struct guest_dev *gdev, u64 bytes, struct list_head *blocks);

/* Has the CPU write 0 into a block. */
int guest_fb_clear(struct guest_dev *gdev, struct gpu_buddy_block *block);

/* Gives all @blocks back. Nothing uses them any more. */
void guest_fb_free(struct guest_dev *gdev, struct list_head *blocks);
void guest_fb_free_own(struct guest_dev *gdev, struct list_head *blocks);

/* These @blocks stay until they are given back, or are no longer to. */
void guest_fb_stay(struct guest_dev *gdev, struct list_head *blocks, bool stays);

/* Whether the allocator finds so many bytes in one piece when all is free that does not stay. */
bool guest_fb_has_piece(struct guest_dev *gdev, u64 bytes);

/* Counts what the driver has for itself. -ENOSPC: it is too much. */
int guest_fb_count_own(struct guest_dev *gdev, s64 bytes);

/* Bytes that nobody has; and those that buffers can have, all together. */
u64 guest_fb_avail(struct guest_dev *gdev);
u64 guest_fb_for_buffers(struct guest_dev *gdev);

static inline u64 guest_fb_offset(const struct gpu_buddy_block *block)
{
	return gpu_buddy_block_offset(block);
}

#endif /* _VGPU_GUEST_FB_H */
