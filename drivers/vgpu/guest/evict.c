// SPDX-License-Identifier: GPL-2.0
/*
 * How buffers move: TTM decides which one and when, and calls this. A buffer of the framebuffer is
 * evicted into the guest's memory, and comes back when a job wants it (follow.c).
 */
#include <linux/highmem.h>
#include <linux/sched/signal.h>

#include <drm/drm_managed.h>
#include <drm/ttm/ttm_placement.h>

#include "bo.h"
#include "device.h"
#include "evict.h"
#include "follow.h"
#include "man.h"
#include "move.h"
#include "tt.h"

/* Less is cleared by the CPU: an interrupt takes longer. */
#define CPU_CLEARS	SZ_64K

static bool reaches_upper(struct guest_dev *gdev, const struct guest_place *place)
{
	u64 offset, left;

	for (offset = 0; offset < place->bytes; offset += left)
		if (guest_place_addr(place, offset, &left) + left > gdev->fb.bytes / 2)
			return true;
	return false;
}

/*
 * Only from the framebuffer, and what finds room elsewhere: TTM logs each buffer that does not. The
 * reservation is held.
 */
static bool evict_is_valuable(struct ttm_buffer_object *tbo, const struct ttm_place *place)
{
	struct guest_dev *gdev = container_of(tbo->bdev, struct guest_dev, ttm);

	if (place->flags & GUEST_PL_FLAG_IDLE &&
	    !dma_resv_test_signaled(tbo->base.resv, DMA_RESV_USAGE_BOOKKEEP))
		return false;
	if (tbo->resource->mem_type != TTM_PL_VRAM)
		return false;
	if (place->flags & GUEST_PL_FLAG_UPPER &&
	    !reaches_upper(gdev, to_guest_resource(tbo->resource)->place))
		return false;
	return tbo->base.size <= guest_man_left_to_evict(gdev);
}

static void evict_where(struct ttm_buffer_object *tbo, struct ttm_placement *placement)
{
	static const struct ttm_place system = { .mem_type = TTM_PL_TT };

	*placement = (struct ttm_placement){ .num_placement = 1, .placement = &system };
}

/* By the CPU, which reads framebuffer slowly. The device is there (drm_dev_enter()). */
static int copy_by_cpu(struct guest_dev *gdev, const struct guest_place *fb, struct ttm_tt *tt,
		       bool to_fb)
{
	u64 left;
	u8 __iomem *at;
	void *page;
	u32 i;

	for (i = 0; i < tt->num_pages; i++) {
		if (drm_dev_is_unplugged(&gdev->drm))
			return -ENODEV;
		at = gdev->fb.cpu + guest_place_addr(fb, (u64)i << PAGE_SHIFT, &left);
		page = kmap_local_page(tt->pages[i]);
		if (to_fb)
			memcpy_toio(at, page, PAGE_SIZE);
		else
			memcpy_fromio(page, at, PAGE_SIZE);
		kunmap_local(page);
		cond_resched();
	}
	return 0;
}

static int evict_copy(struct guest_dev *gdev, const struct guest_place *fb, struct ttm_tt *tt,
		      bool to_fb)
{
	const struct guest_place *system = to_guest_tt(tt)->place;
	int ret;

	ret = to_fb ? guest_move_copy(gdev, fb, system) : guest_move_copy(gdev, system, fb);
	return ret ? copy_by_cpu(gdev, fb, tt, to_fb) : 0;
}

static int clear_block(struct guest_dev *gdev, struct gpu_buddy_block *block)
{
	int ret = -ENODEV, idx;

	if (gpu_buddy_block_is_clear(block))
		return 0;
	if (gpu_buddy_block_size(&gdev->fb.mm, block) > CPU_CLEARS &&
	    drm_dev_enter(&gdev->drm, &idx)) {
		ret = guest_move_clear(gdev, block);
		drm_dev_exit(idx);
	}
	return ret ? guest_fb_clear(gdev, block) : 0;
}

/* A buffer's first place, in which it reads 0; pages of the guest do already. */
static int evict_begin(struct guest_dev *gdev, struct ttm_resource *new)
{
	struct gpu_buddy_block *block;
	int ret = 0;

	if (new->mem_type != TTM_PL_VRAM)
		return 0;
	list_for_each_entry(block, &to_guest_resource(new)->blocks, link) {
		ret = clear_block(gdev, block);
		if (ret)
			break;
	}
	return ret;
}

/* Where mappings find the buffer now. */
static const struct guest_place *place_now(struct guest_bo *bo)
{
	if (bo->tbo.resource->mem_type == TTM_PL_VRAM)
		return to_guest_resource(bo->tbo.resource)->place;
	return bo->placement == DRM_VGPU_PLACEMENT_SYSTEM ? to_guest_tt(bo->tbo.ttm)->place : NULL;
}

static int evict_move(struct ttm_buffer_object *tbo, bool evict, struct ttm_operation_ctx *ctx,
		      struct ttm_resource *new, struct ttm_place *hop)
{
	struct guest_dev *gdev = container_of(tbo->bdev, struct guest_dev, ttm);
	struct guest_bo *bo = ttm_to_guest_bo(tbo);
	struct ttm_resource *old = tbo->resource;
	bool to_fb = new->mem_type == TTM_PL_VRAM;
	int ret, idx;

	if (!old) {
		ret = evict_begin(gdev, new);
		if (ret)
			return ret;
		ttm_bo_move_null(tbo, new);
		guest_bo_set_place(bo, place_now(bo));
		return 0;
	}
	/* TTM takes it from its list, waits for its reservation, and does not look again. */
	if (evict && tbo->pin_count)
		return -EINTR;
	/* Who is killed ends, whatever there is still to move. */
	if (ctx->interruptible && fatal_signal_pending(current))
		return -ERESTARTSYS;
	/* Jobs that may use it end first; from here on no job begins to, as EXEC locks it. */
	ret = ttm_bo_wait_ctx(tbo, ctx);
	if (ret)
		return ret;
	if (!drm_dev_enter(&gdev->drm, &idx))
		return -ENODEV;
	guest_follow_unmap(bo);
	ret = evict_copy(gdev, to_guest_resource(to_fb ? new : old)->place, tbo->ttm, to_fb);
	if (!ret)
		ttm_bo_move_sync_cleanup(tbo, new);
	guest_bo_set_place(bo, place_now(bo));
	drm_dev_exit(idx);
	return ret;
}

static int evict_io_mem_reserve(struct ttm_device *ttm, struct ttm_resource *res)
{
	if (res->mem_type == TTM_PL_VRAM) {
		res->bus.is_iomem = true;
		res->bus.caching = ttm_write_combined;
	}
	return 0;
}

static unsigned long evict_io_mem_pfn(struct ttm_buffer_object *tbo, unsigned long page)
{
	struct guest_dev *gdev = container_of(tbo->bdev, struct guest_dev, ttm);
	u64 left;

	return PHYS_PFN(gdev->fb.phys + guest_place_addr(to_guest_resource(tbo->resource)->place,
							 (u64)page << PAGE_SHIFT, &left));
}

static const struct ttm_device_funcs evict_funcs = {
	.ttm_tt_create = guest_tt_create,
	.ttm_tt_populate = guest_tt_populate,
	.ttm_tt_unpopulate = guest_tt_unpopulate,
	.ttm_tt_destroy = guest_tt_destroy,
	.eviction_valuable = evict_is_valuable,
	.evict_flags = evict_where,
	.move = evict_move,
	.io_mem_reserve = evict_io_mem_reserve,
	.io_mem_pfn = evict_io_mem_pfn,
};

int guest_evict_all(struct guest_dev *gdev)
{
	int ret;

	WRITE_ONCE(gdev->saving, true);
	/* One that was pinned meanwhile is in another list then. */
	do {
		ret = ttm_resource_manager_evict_all(&gdev->ttm, &gdev->fb_man);
	} while (ret == -EINTR);
	WRITE_ONCE(gdev->saving, false);
	return ret;
}

static void evict_fini(struct drm_device *drm, void *res)
{
	struct guest_dev *gdev = to_guest_dev(drm);

	/* Buffers that have waited for their last job are freed by work. */
	drain_workqueue(gdev->ttm.wq);
	guest_man_fini(gdev);
	ttm_device_fini(&gdev->ttm);
}

int guest_evict_init(struct guest_dev *gdev)
{
	struct drm_device *drm = &gdev->drm;
	int ret;

	ret = guest_tt_init(gdev);
	if (ret)
		return ret;
	ret = ttm_device_init(&gdev->ttm, &evict_funcs, drm->dev, drm->anon_inode->i_mapping,
			      drm->vma_offset_manager, 0);
	if (ret)
		return ret;
	guest_man_init(gdev);
	return drmm_add_action_or_reset(drm, evict_fini, NULL);
}
