// SPDX-License-Identifier: GPL-2.0
/* The framebuffer: a buddy allocator, and zeroes by the CPU for whoever gets a part of it. */
#include <linux/bitmap.h>
#include <linux/log2.h>

#include <drm/drm_managed.h>

#include "device.h"

/* So much is cleared at a time, between two looks at whether the device is still there. */
#define CLEAR_BYTES	SZ_1M

static void fb_fini(struct drm_device *drm, void *res)
{
	gpu_buddy_fini(&to_guest_dev(drm)->fb.mm);
	kvfree(to_guest_dev(drm)->fb.stays);
}

int guest_fb_init(struct guest_dev *gdev)
{
	struct guest_fb *fb = &gdev->fb;
	int ret;

	ret = drmm_mutex_init(&gdev->drm, &fb->lock);
	if (ret)
		return ret;
	spin_lock_init(&fb->stays_lock);
	fb->stays = kvcalloc(BITS_TO_LONGS(fb->bytes / VGPU_HW_PAGE_SIZE), sizeof(*fb->stays),
			     GFP_KERNEL);
	if (!fb->stays)
		return -ENOMEM;
	ret = gpu_buddy_init(&fb->mm, fb->bytes, VGPU_HW_PAGE_SIZE);
	if (ret) {
		kvfree(fb->stays);
		return ret;
	}
	gpu_buddy_reset_clear(&fb->mm, true);
	return drmm_add_action_or_reset(&gdev->drm, fb_fini, NULL);
}

int guest_fb_clear(struct guest_dev *gdev, struct gpu_buddy_block *block)
{
	u64 at = guest_fb_offset(block), end = at + gpu_buddy_block_size(&gdev->fb.mm, block);
	int idx;

	for (; at < end; at += CLEAR_BYTES) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!drm_dev_enter(&gdev->drm, &idx))
			return -ENODEV;
		memset_io(gdev->fb.cpu + at, 0, min_t(u64, end - at, CLEAR_BYTES));
		drm_dev_exit(idx);
		cond_resched();
	}
	return 0;
}

static int fb_take(struct guest_fb *fb, u64 bytes, u64 piece, unsigned long flags,
		   struct list_head *blocks)
{
	int ret;

	if (!bytes)
		return 0;
	ret = gpu_buddy_alloc_blocks(&fb->mm, 0, fb->bytes, bytes, piece, blocks, flags);
	return ret == -EINVAL ? -ENOSPC : ret;
}

int guest_fb_take(struct guest_dev *gdev, u64 bytes, bool large, unsigned long flags,
		  struct list_head *blocks)
{
	struct guest_fb *fb = &gdev->fb;
	u64 head = large ? round_down(bytes, GUEST_FB_LARGE) : 0;
	LIST_HEAD(tail);
	int ret;

	if (bytes > fb->bytes)
		return -ENOSPC;
	mutex_lock(&fb->lock);
	ret = fb_take(fb, head, GUEST_FB_LARGE, flags, blocks);
	if (!ret)
		ret = fb_take(fb, bytes - head, VGPU_HW_PAGE_SIZE, flags, &tail);
	if (ret)
		gpu_buddy_free_list(&fb->mm, blocks, 0);
	else
		list_splice_tail(&tail, blocks);
	mutex_unlock(&fb->lock);
	cond_resched();
	return ret;
}

void guest_fb_stay(struct guest_dev *gdev, struct list_head *blocks, bool stays)
{
	struct guest_fb *fb = &gdev->fb;
	struct gpu_buddy_block *block;
	unsigned int at, nr;

	spin_lock(&fb->stays_lock);
	list_for_each_entry(block, blocks, link) {
		at = guest_fb_offset(block) / VGPU_HW_PAGE_SIZE;
		nr = gpu_buddy_block_size(&fb->mm, block) / VGPU_HW_PAGE_SIZE;
		if (stays)
			bitmap_set(fb->stays, at, nr);
		else
			bitmap_clear(fb->stays, at, nr);
	}
	spin_unlock(&fb->stays_lock);
}

/* That is an aligned block, the largest power of two in it, and what is beside that. */
bool guest_fb_has_piece(struct guest_dev *gdev, u64 bytes)
{
	unsigned long nr = bytes / VGPU_HW_PAGE_SIZE, block = rounddown_pow_of_two(nr), at = 0;
	unsigned long pages = gdev->fb.bytes / VGPU_HW_PAGE_SIZE, begin, end;
	unsigned long *stays = gdev->fb.stays;
	bool has = false;

	spin_lock(&gdev->fb.stays_lock);
	for (; !has; at += block) {
		at = bitmap_find_next_zero_area(stays, pages, at, block, block - 1);
		if (at >= pages)
			break;
		begin = find_last_bit(stays, at);
		begin = begin < at ? begin + 1 : 0;
		end = find_next_bit(stays, pages, at + block);
		has = end - begin >= nr;
	}
	spin_unlock(&gdev->fb.stays_lock);
	return has;
}

/* From the other end than buffers, so that it does not lie between their large pieces. */
int guest_fb_take_own(struct guest_dev *gdev, u64 bytes, struct list_head *blocks)
{
	struct gpu_buddy_block *block;
	int ret;

	ret = guest_fb_count_own(gdev, bytes);
	if (ret)
		return ret;
	ret = guest_fb_take(gdev, bytes, false,
			    GPU_BUDDY_CLEAR_ALLOCATION | GPU_BUDDY_TOPDOWN_ALLOCATION, blocks);
	if (ret)
		goto err;
	guest_fb_stay(gdev, blocks, true);
	list_for_each_entry(block, blocks, link) {
		if (gpu_buddy_block_is_clear(block))
			continue;
		ret = guest_fb_clear(gdev, block);
		if (ret) {
			guest_fb_free(gdev, blocks);
			goto err;
		}
	}
	return 0;

err:
	guest_fb_count_own(gdev, -(s64)bytes);
	return ret;
}

void guest_fb_free(struct guest_dev *gdev, struct list_head *blocks)
{
	guest_fb_stay(gdev, blocks, false);
	mutex_lock(&gdev->fb.lock);
	gpu_buddy_free_list(&gdev->fb.mm, blocks, 0);
	mutex_unlock(&gdev->fb.lock);
}

void guest_fb_free_own(struct guest_dev *gdev, struct list_head *blocks)
{
	struct gpu_buddy_block *block;
	s64 bytes = 0;

	list_for_each_entry(block, blocks, link)
		bytes += gpu_buddy_block_size(&gdev->fb.mm, block);
	guest_fb_free(gdev, blocks);
	guest_fb_count_own(gdev, -bytes);
}

int guest_fb_count_own(struct guest_dev *gdev, s64 bytes)
{
	struct guest_fb *fb = &gdev->fb;
	int ret = 0;

	mutex_lock(&fb->lock);
	if (bytes > 0 && fb->own + bytes > fb->bytes / 2)
		ret = -ENOSPC;
	else
		fb->own += bytes;
	mutex_unlock(&fb->lock);
	return ret;
}

u64 guest_fb_avail(struct guest_dev *gdev)
{
	u64 avail;

	mutex_lock(&gdev->fb.lock);
	avail = gdev->fb.mm.avail;
	mutex_unlock(&gdev->fb.lock);
	return avail;
}

u64 guest_fb_for_buffers(struct guest_dev *gdev)
{
	u64 bytes;

	mutex_lock(&gdev->fb.lock);
	bytes = gdev->fb.bytes - gdev->fb.own;
	mutex_unlock(&gdev->fb.lock);
	return bytes;
}
