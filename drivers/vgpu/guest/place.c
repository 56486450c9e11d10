// SPDX-License-Identifier: GPL-2.0
/* Where a buffer lies, as the device addresses it. */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "device.h"
#include "place.h"

u64 guest_place_addr(const struct guest_place *place, u64 offset, u64 *left)
{
	u32 low = 0, high = place->nr, mid;
	u64 end;

	/* The last span that begins at the offset or before it. */
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (place->span[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	end = low + 1 < place->nr ? place->span[low + 1].offset : place->bytes;
	*left = end - offset;
	return place->span[low].addr + (offset - place->span[low].offset);
}

static struct guest_place *place_alloc(u32 nr, bool sys)
{
	struct guest_place *place = kvmalloc(struct_size(place, span, nr), GFP_KERNEL_ACCOUNT);

	if (place) {
		place->bytes = 0;
		place->sys = sys;
		place->nr = nr;
	}
	return place;
}

struct guest_place *guest_place_of_blocks(struct guest_dev *gdev, struct list_head *blocks)
{
	struct gpu_buddy_block *block;
	struct guest_place *place;
	u32 i = 0;

	place = place_alloc(list_count_nodes(blocks), false);
	if (!place)
		return NULL;
	list_for_each_entry(block, blocks, link) {
		place->span[i++] = (struct guest_span){ place->bytes, guest_fb_offset(block) };
		place->bytes += gpu_buddy_block_size(&gdev->fb.mm, block);
	}
	return place;
}

struct guest_place *guest_place_of_sg(struct sg_table *sgt)
{
	struct guest_place *place;
	struct scatterlist *sg;
	unsigned int i;

	place = place_alloc(sgt->nents, true);
	if (!place)
		return NULL;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		place->span[i] = (struct guest_span){ place->bytes, sg_dma_address(sg) };
		place->bytes += sg_dma_len(sg);
	}
	return place;
}
