// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers' pages of the guest's memory. TTM finds them; they are mapped for DMA here and not by
 * TTM, as buffers may outlive the driver at the device, and their mappings must not.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/drm_prime.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_device.h>

#include "device.h"
#include "place.h"
#include "tt.h"

static struct guest_dev *tt_to_dev(struct ttm_device *ttm)
{
	return container_of(ttm, struct guest_dev, ttm);
}

struct ttm_tt *guest_tt_create(struct ttm_buffer_object *tbo, u32 flags)
{
	struct guest_tt *tt = kzalloc(sizeof(*tt), GFP_KERNEL_ACCOUNT);

	if (!tt)
		return NULL;
	/*
	 * TTM wants no zeroes in what a move overwrites. But it is the host who says that it has,
	 * and what the pages had before is not for this client.
	 */
	if (!(flags & TTM_TT_FLAG_EXTERNAL))
		flags |= TTM_TT_FLAG_ZERO_ALLOC;
	if (ttm_tt_init(&tt->base, tbo, flags, ttm_cached, 0)) {
		kfree(tt);
		return NULL;
	}
	return &tt->base;
}

void guest_tt_destroy(struct ttm_device *ttm, struct ttm_tt *base)
{
	ttm_tt_fini(base);
	kfree(to_guest_tt(base));
}

static void tt_unmap(struct guest_dev *gdev, struct guest_tt *tt)
{
	dma_unmap_sgtable(gdev->drm.dev, tt->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(tt->sgt);
	kfree(tt->sgt);
	tt->sgt = NULL;
}

static int tt_map(struct guest_dev *gdev, struct guest_tt *tt)
{
	struct sg_table *sgt;
	int ret;

	sgt = drm_prime_pages_to_sg(&gdev->drm, tt->base.pages, tt->base.num_pages);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	mutex_lock(&gdev->tt_mutex);
	ret = gdev->left ? -ENODEV :
	      dma_map_sgtable(gdev->drm.dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (!ret) {
		tt->sgt = sgt;
		list_add(&tt->link, &gdev->tts);
	}
	mutex_unlock(&gdev->tt_mutex);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
	}
	return ret;
}

void guest_tt_unpopulate(struct ttm_device *ttm, struct ttm_tt *base)
{
	struct guest_dev *gdev = tt_to_dev(ttm);
	struct guest_tt *tt = to_guest_tt(base);

	mutex_lock(&gdev->tt_mutex);
	if (tt->sgt) {
		list_del(&tt->link);
		tt_unmap(gdev, tt);
	}
	mutex_unlock(&gdev->tt_mutex);
	kvfree(tt->place);
	tt->place = NULL;
	if (!(base->page_flags & TTM_TT_FLAG_EXTERNAL))
		ttm_pool_free(&ttm->pool, base);
}

/* Whether so many pages are there, and nothing but pages. */
static bool sg_is_whole(struct sg_table *sgt, u32 pages)
{
	struct scatterlist *sg;
	unsigned int i;
	u64 bytes = 0;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if ((sg_dma_address(sg) | sg_dma_len(sg)) % VGPU_HW_PAGE_SIZE)
			return false;
		bytes += sg_dma_len(sg);
	}
	return bytes == (u64)pages << PAGE_SHIFT;
}

int guest_tt_populate(struct ttm_device *ttm, struct ttm_tt *base, struct ttm_operation_ctx *ctx)
{
	struct guest_dev *gdev = tt_to_dev(ttm);
	struct ttm_operation_ctx mayfail = *ctx;
	struct guest_tt *tt = to_guest_tt(base);
	int ret;

	/* Another device's dma-buf: that has mapped it for this one. */
	if (base->page_flags & TTM_TT_FLAG_EXTERNAL) {
		if (!sg_is_whole(base->sg, base->num_pages))
			return -EINVAL;
		tt->place = guest_place_of_sg(base->sg);
		return tt->place ? 0 : -ENOMEM;
	}
	/* Who asks is told so, and no process is killed for it. */
	mayfail.gfp_retry_mayfail = true;
	ret = ttm_pool_alloc(&ttm->pool, base, &mayfail);
	if (ret)
		return ret;
	ret = tt_map(gdev, tt);
	if (ret) {
		ttm_pool_free(&ttm->pool, base);
		return ret;
	}
	tt->place = guest_place_of_sg(tt->sgt);
	if (!tt->place) {
		guest_tt_unpopulate(ttm, base);
		return -ENOMEM;
	}
	return 0;
}

void guest_tt_leave(struct guest_dev *gdev)
{
	struct guest_tt *tt, *next;

	mutex_lock(&gdev->tt_mutex);
	gdev->left = true;
	list_for_each_entry_safe(tt, next, &gdev->tts, link) {
		list_del(&tt->link);
		tt_unmap(gdev, tt);
	}
	mutex_unlock(&gdev->tt_mutex);
}

int guest_tt_init(struct guest_dev *gdev)
{
	INIT_LIST_HEAD(&gdev->tts);
	return drmm_mutex_init(&gdev->drm, &gdev->tt_mutex);
}
