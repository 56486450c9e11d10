// SPDX-License-Identifier: GPL-2.0
/*
 * What the programs of one virtual machine that have the same vGPU open keep from each other:
 * channels and pages of framebuffer, by locks that the kernel drops however their holder ends. On
 * the host a vGPU has one opener, and nothing is locked.
 */
#include <endian.h>
#include <errno.h>

#include "internal.h"

/* Of the bytes that are locked, one stands for each channel, and one for each page behind them. */
#define CLAIM_FB	VGPU_HW_MAX_CHANNELS

static uint64_t pages_to(uint64_t bytes)
{
	return (bytes + VGPU_HW_PAGE_SIZE - 1) / VGPU_HW_PAGE_SIZE;
}

int vgpu_claim_chan(struct vgpu_dev *dev, uint32_t id)
{
	uint64_t next;

	return dev->bus->lock ? dev->bus->lock(dev, id, 1, &next) : 0;
}

void vgpu_unclaim_chan(struct vgpu_dev *dev, uint32_t id)
{
	if (dev->bus->unlock)
		dev->bus->unlock(dev, id, 1);
}

/*
 * Stops channels that were left running by programs that were killed: they would go on to write
 * framebuffer that is somebody else's now.
 */
static int stop_orphans(struct vgpu_dev *dev)
{
	const struct vgpu_hw_channel *page;
	uint32_t id, state;
	int ret = 0;

	for (id = 0; id < dev->channels && !ret; id++) {
		page = (void *)(dev->chan_pages + (size_t)id * VGPU_HW_PAGE_SIZE);
		state = le32toh(__atomic_load_n(&page->state, __ATOMIC_ACQUIRE));
		if ((state != VGPU_HW_STATE_SLEEPING && state != VGPU_HW_STATE_AWAKE) ||
		    dev->chan_used[id] || vgpu_claim_chan(dev, id))
			continue;
		ret = vgpu_reg_write32(dev, vgpu_chan_reg(id, VGPU_HW_CHAN_CTRL), 0);
		vgpu_unclaim_chan(dev, id);
	}
	return ret;
}

int vgpu_claim_fb(struct vgpu_dev *dev, uint64_t start, uint64_t bytes, uint64_t *next)
{
	uint64_t first = start / VGPU_HW_PAGE_SIZE, end = pages_to(start + bytes);
	int ret;

	/* The page in which the last claim ended. */
	if (first < dev->fb_claimed)
		first = dev->fb_claimed;
	if (!dev->bus->lock || first >= end)
		return 0;
	ret = dev->bus->lock(dev, CLAIM_FB + first, end - first, next);
	if (ret == -EBUSY)
		*next = (*next - CLAIM_FB) * VGPU_HW_PAGE_SIZE;
	if (!ret) {
		dev->fb_claimed = end;
		ret = stop_orphans(dev);
	}
	return ret;
}

void vgpu_unclaim_fb(struct vgpu_dev *dev, uint64_t start)
{
	uint64_t first = pages_to(start);

	if (!dev->bus->unlock)
		return;
	dev->bus->unlock(dev, CLAIM_FB + first, pages_to(dev->fb_bytes) - first);
	dev->fb_claimed = first;
}
