// SPDX-License-Identifier: GPL-2.0
/* Framebuffer for the driver itself: page tables. */
#include "bo.h"
#include "device.h"
#include "man.h"
#include "own.h"

int guest_own_alloc(struct guest_dev *gdev, u64 bytes, struct list_head *blocks)
{
	struct guest_bo *bo;
	int ret;

	ret = guest_fb_take_own(gdev, bytes, blocks);
	if (ret != -ENOSPC)
		return ret;
	/* TTM makes room for a buffer, which leaves without it. */
	bo = guest_bo_create_own(gdev, bytes);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	dma_resv_lock(bo->tbo.base.resv, NULL);
	list_splice_init(&to_guest_resource(bo->tbo.resource)->blocks, blocks);
	dma_resv_unlock(bo->tbo.base.resv);
	guest_fb_count_own(gdev, bytes);
	guest_bo_destroy_own(bo);
	return 0;
}
