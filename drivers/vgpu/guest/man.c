// SPDX-License-Identifier: GPL-2.0
/*
 * TTM's managers: of the framebuffer, on the buddy allocator, and of the guest's memory, of which
 * buffers may have a half. Nothing is evicted from the latter, so that is a limit. New buffers
 * leave an eighth of it, by which those of a full framebuffer and evicted ones change places.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_placement.h>

#include "bo.h"
#include "device.h"
#include "man.h"

static struct guest_dev *man_to_dev(struct ttm_resource_manager *man)
{
	return container_of(man->bdev, struct guest_dev, ttm);
}

static unsigned long fb_flags(struct ttm_buffer_object *tbo, const struct ttm_place *place)
{
	unsigned long flags = place->flags & TTM_PL_FLAG_TOPDOWN ? GPU_BUDDY_TOPDOWN_ALLOCATION : 0;

	if (ttm_to_guest_bo(tbo)->contiguous)
		flags |= GPU_BUDDY_CONTIGUOUS_ALLOCATION;
	/* What is moved overwrites all of it; a new buffer is cleared. */
	return tbo->resource ? flags : flags | GPU_BUDDY_CLEAR_ALLOCATION;
}

static int fb_alloc(struct ttm_resource_manager *man, struct ttm_buffer_object *tbo,
		    const struct ttm_place *place, struct ttm_resource **out)
{
	struct guest_dev *gdev = man_to_dev(man);
	struct guest_bo *bo = ttm_to_guest_bo(tbo);
	struct guest_resource *res;
	int ret;

	bo->no_room = false;
	res = kzalloc(sizeof(*res), GFP_KERNEL_ACCOUNT);
	if (!res)
		return -ENOMEM;
	INIT_LIST_HEAD(&res->blocks);
	ret = guest_fb_take(gdev, tbo->base.size, bo->large, fb_flags(tbo, place), &res->blocks);
	bo->no_room = ret == -ENOSPC;
	if (ret)
		goto err;
	res->place = guest_place_of_blocks(gdev, &res->blocks);
	/* The allocator does not tell that it had no memory to cut off what is more than asked. */
	if (!res->place || res->place->bytes != tbo->base.size) {
		kvfree(res->place);
		guest_fb_free(gdev, &res->blocks);
		ret = -ENOMEM;
		goto err;
	}
	if (bo->own)
		guest_fb_stay(gdev, &res->blocks, true);
	ttm_resource_init(tbo, place, &res->base);
	*out = &res->base;
	return 0;

err:
	kfree(res);
	return ret;
}

static void fb_free(struct ttm_resource_manager *man, struct ttm_resource *base)
{
	struct guest_resource *res = to_guest_resource(base);

	guest_fb_free(man_to_dev(man), &res->blocks);
	kvfree(res->place);
	ttm_resource_fini(man, base);
	kfree(res);
}

static const struct ttm_resource_manager_func fb_funcs = {
	.alloc = fb_alloc,
	.free = fb_free,
};

static u64 limit_of(struct ttm_resource_manager *man)
{
	return man->size - round_up(man->size / 8, PAGE_SIZE);
}

static int system_alloc(struct ttm_resource_manager *man, struct ttm_buffer_object *tbo,
			const struct ttm_place *place, struct ttm_resource **out)
{
	struct ttm_resource *res;
	u64 limit;

	res = kzalloc(sizeof(*res), GFP_KERNEL_ACCOUNT);
	if (!res)
		return -ENOMEM;
	ttm_resource_init(tbo, place, res);
	limit = READ_ONCE(man_to_dev(man)->saving) ? U64_MAX :
		tbo->resource ? man->size : limit_of(man);
	if (ttm_resource_manager_usage(man) > limit) {
		ttm_resource_fini(man, res);
		kfree(res);
		return -ENOSPC;
	}
	*out = res;
	return 0;
}

static void system_free(struct ttm_resource_manager *man, struct ttm_resource *res)
{
	ttm_resource_fini(man, res);
	kfree(res);
}

static const struct ttm_resource_manager_func system_funcs = {
	.alloc = system_alloc,
	.free = system_free,
};

u64 guest_man_limit(struct guest_dev *gdev)
{
	return limit_of(&gdev->system_man);
}

static u64 left_of(struct guest_dev *gdev, u64 limit)
{
	u64 used = ttm_resource_manager_usage(&gdev->system_man);

	return used < limit ? limit - used : 0;
}

u64 guest_man_left(struct guest_dev *gdev)
{
	return left_of(gdev, guest_man_limit(gdev));
}

u64 guest_man_left_to_evict(struct guest_dev *gdev)
{
	return left_of(gdev, gdev->system_man.size);
}

static void man_add(struct guest_dev *gdev, struct ttm_resource_manager *man, int type, u64 bytes)
{
	ttm_resource_manager_init(man, &gdev->ttm, bytes);
	ttm_set_driver_manager(&gdev->ttm, type, man);
	ttm_resource_manager_set_used(man, true);
}

void guest_man_init(struct guest_dev *gdev)
{
	gdev->fb_man.func = &fb_funcs;
	gdev->system_man.func = &system_funcs;
	gdev->system_man.use_tt = true;
	man_add(gdev, &gdev->fb_man, TTM_PL_VRAM, gdev->fb.bytes);
	man_add(gdev, &gdev->system_man, TTM_PL_TT, (u64)totalram_pages() / 2 << PAGE_SHIFT);
}

static void man_remove(struct guest_dev *gdev, struct ttm_resource_manager *man, int type)
{
	ttm_resource_manager_set_used(man, false);
	ttm_resource_manager_cleanup(man);
	ttm_set_driver_manager(&gdev->ttm, type, NULL);
}

void guest_man_fini(struct guest_dev *gdev)
{
	man_remove(gdev, &gdev->system_man, TTM_PL_TT);
	man_remove(gdev, &gdev->fb_man, TTM_PL_VRAM);
}
