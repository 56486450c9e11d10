// SPDX-License-Identifier: GPL-2.0
/* Framebuffer for the driver itself: page tables. */
#include "bo.h"
#include "device.h"
#include "own.h"

int guest_own_alloc(struct guest_dev *gdev, u64 bytes, struct list_head *blocks)
{
	int ret = guest_fb_take_own(gdev, bytes, blocks);

	/* TTM makes room for a buffer, which leaves without it. */
	return ret == -ENOSPC ? guest_bo_leave_fb(gdev, bytes, blocks) : ret;
}
