// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of a vGPU's file. The functions are arithmetic on numbers that users choose. They also
 * compile in user space (tests/unit/test_region.c).
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#endif
#include <linux/nospec.h>

#include "config.h"
#include "region.h"

#define REGION_SIZE_MIN		4096ULL
#define REGION_SIZE_MAX_32	0x80000000ULL

/**
 * vgpu_region_size() - compute the size of a BAR
 * @owned_bytes: bytes that the vGPU owns behind the BAR, any number
 *
 * Return: a power of two, at least 4096; 0 if @owned_bytes is 0, or more than fits in a region.
 */
u64 vgpu_region_size(u64 owned_bytes)
{
	u64 size = REGION_SIZE_MIN;

	if (!owned_bytes || owned_bytes > VGPU_REGION_SIZE_MAX)
		return 0;
	while (size < owned_bytes)
		size <<= 1;
	return size;
}

static int region_init_bar(struct vgpu_regions *regions, const struct vgpu_function_desc *desc,
			   unsigned int bar)
{
	const struct vgpu_region_desc *from = &desc->region[bar];
	struct vgpu_region *to = &regions->bar[bar];

	to->size = vgpu_region_size(from->owned_bytes);
	if (!to->size)
		return -EINVAL;
	if (from->flags & VGPU_REGION_64BIT) {
		if (bar + 1 == VGPU_REGION_MAX || desc->region[bar + 1].owned_bytes)
			return -EINVAL;
	} else if (to->size > REGION_SIZE_MAX_32) {
		return -EINVAL;
	}
	to->owned = from->owned_bytes;
	to->memory = from->flags & VGPU_REGION_MMAP;
	return 0;
}

static int region_init_msix(struct vgpu_regions *regions, const struct vgpu_function_desc *desc)
{
	const struct vgpu_region *bar;
	u64 table_bytes = (u64)desc->vectors * VGPU_MSIX_ENTRY_SIZE;
	u64 pba_bytes = (desc->vectors + 63) / 64 * 8;
	u64 pba;

	if (!desc->vectors)
		return 0;
	if (desc->msix_bar >= VGPU_REGION_MAX || desc->msix_table % VGPU_MSIX_PAGE_SIZE ||
	    desc->msix_pba % 8 || desc->msix_pba < desc->msix_table)
		return -EINVAL;
	pba = desc->msix_pba - desc->msix_table;
	if (pba < table_bytes || pba + pba_bytes > VGPU_MSIX_PAGE_SIZE)
		return -EINVAL;
	bar = &regions->bar[desc->msix_bar];
	if (bar->memory || (u64)desc->msix_table + VGPU_MSIX_PAGE_SIZE > bar->owned)
		return -EINVAL;

	regions->vectors = desc->vectors;
	regions->msix_bar = desc->msix_bar;
	regions->msix_page = desc->msix_table;
	regions->msix_pba = pba;
	return 0;
}

/**
 * vgpu_regions_init() - set up the regions of a function
 * @regions: any content
 * @desc: the back end's description of the function
 *
 * Return: 0; -EINVAL if the description is not valid.
 */
int vgpu_regions_init(struct vgpu_regions *regions, const struct vgpu_function_desc *desc)
{
	unsigned int bar;
	int ret;

	memset(regions, 0, sizeof(*regions));
	if (desc->plane_bytes > VGPU_REGION_SIZE_MAX || desc->plane_bytes % VGPU_PIECE_MAX)
		return -EINVAL;
	regions->plane_bytes = desc->plane_bytes;
	for (bar = 0; bar < VGPU_REGION_MAX; bar++) {
		if (!desc->region[bar].owned_bytes)
			continue;
		ret = region_init_bar(regions, desc, bar);
		if (ret)
			return ret;
	}
	return region_init_msix(regions, desc);
}

/* Returns the number of regions as VFIO counts them. */
unsigned int vgpu_region_count(const struct vgpu_regions *regions)
{
	return regions->plane_bytes ? VGPU_REGION_END : VGPU_REGION_EDID;
}

/**
 * vgpu_region_bytes() - tell the size of a region
 * @regions: the function's regions
 * @index: number of the region as VFIO counts them, or any other number
 *
 * Return: the size in bytes; 0 if there is no such region.
 */
u64 vgpu_region_bytes(const struct vgpu_regions *regions, unsigned int index)
{
	if (index < VGPU_REGION_MAX) {
		index = array_index_nospec(index, VGPU_REGION_MAX);
		return regions->bar[index].size;
	}
	if (index == VGPU_REGION_CONFIG)
		return VGPU_CONFIG_SIZE;
	if (index == VGPU_REGION_EDID && regions->plane_bytes)
		return VGPU_EDID_BLOB + VGPU_EDID_SIZE_MAX;
	if (index == VGPU_REGION_PLANE)
		return regions->plane_bytes;
	return 0;
}

/* Returns where region @index, as VFIO counts them, starts in the file of the device. */
u64 vgpu_region_offset(unsigned int index)
{
	return (u64)index << VGPU_REGION_SHIFT;
}

/**
 * vgpu_region_decode() - find the region of an access
 * @regions: the function's regions
 * @pos: file offset, any number
 * @count: bytes, any number
 * @index: set to the number of the region
 * @offset: set to the offset in the region
 *
 * Return: 0; -EINVAL if not all of the access is in one region.
 */
int vgpu_region_decode(const struct vgpu_regions *regions, u64 pos, u64 count,
		       unsigned int *index, u64 *offset)
{
	unsigned int nr = pos >> VGPU_REGION_SHIFT;
	u64 from = pos & (VGPU_REGION_SIZE_MAX - 1);
	u64 size = vgpu_region_bytes(regions, nr);

	if (from >= size || count > size - from)
		return -EINVAL;
	*index = array_index_nospec(nr, VGPU_REGION_END);
	*offset = from;
	return 0;
}

static u32 region_page_left(u64 offset, u64 left)
{
	u64 page_left = VGPU_PIECE_MAX - offset % VGPU_PIECE_MAX;

	return left < page_left ? left : page_left;
}

static u32 region_natural_width(u64 offset, u64 left)
{
	/* An offset is aligned to its lowest set bit. */
	u64 align = offset | VGPU_PIECE_WORD_MAX;
	u32 width = align & -align;

	while (left < width)
		width >>= 1;
	return width;
}

/**
 * vgpu_region_piece() - cut off the first piece of an access
 * @regions: the function's regions
 * @index: number of the region, from vgpu_region_decode()
 * @offset: where in the region the rest of the access begins
 * @left: length of the rest, at least 1 byte, all in the region
 * @piece: set to the first piece of the rest
 */
void vgpu_region_piece(const struct vgpu_regions *regions, unsigned int index,
		       u64 offset, u64 left, struct vgpu_piece *piece)
{
	const struct vgpu_region *bar;

	piece->offset = offset;
	if (index == VGPU_REGION_PLANE) {
		piece->target = VGPU_TARGET_PLANE;
		piece->len = region_page_left(offset, left);
		return;
	}
	if (index >= VGPU_REGION_MAX) {
		piece->target = index == VGPU_REGION_CONFIG ? VGPU_TARGET_CONFIG : VGPU_TARGET_EDID;
		piece->len = region_natural_width(offset, left);
		return;
	}

	bar = &regions->bar[array_index_nospec(index, VGPU_REGION_MAX)];
	if (offset >= bar->owned) {
		piece->target = VGPU_TARGET_TAIL;
		piece->len = region_page_left(offset, left);
		return;
	}
	if (left > bar->owned - offset)
		left = bar->owned - offset;
	if (bar->memory) {
		piece->target = VGPU_TARGET_MEMORY;
		piece->len = region_page_left(offset, left);
		return;
	}
	piece->target = VGPU_TARGET_REGISTERS;
	piece->len = region_natural_width(offset, left);
	if (regions->vectors && index == regions->msix_bar && offset >= regions->msix_page &&
	    offset - regions->msix_page < VGPU_MSIX_PAGE_SIZE) {
		piece->target = VGPU_TARGET_MSIX;
		piece->offset = offset - regions->msix_page;
	}
}

/**
 * vgpu_region_map() - check a mapping
 * @regions: the function's regions
 * @pgoff: number of the mapping's first page in the file, any number
 * @pages: length of the mapping in pages, any number
 * @page_shift: log2 of the bytes of a page
 * @index: set to the number of the region, a BAR or VGPU_REGION_PLANE
 * @first: set to the number of the mapping's first page in the region
 *
 * Return: 0; -EINVAL unless the whole mapping is memory that the vGPU owns, or plane.
 */
int vgpu_region_map(const struct vgpu_regions *regions, u64 pgoff, u64 pages,
		    unsigned int page_shift, unsigned int *index, u64 *first)
{
	u64 region = pgoff >> (VGPU_REGION_SHIFT - page_shift);
	const struct vgpu_region *bar;
	u64 owned;

	if (region == VGPU_REGION_PLANE) {
		owned = regions->plane_bytes;
	} else if (region < VGPU_REGION_MAX) {
		bar = &regions->bar[array_index_nospec((unsigned int)region, VGPU_REGION_MAX)];
		owned = bar->memory ? bar->owned : 0;
	} else {
		return -EINVAL;
	}
	*index = region;
	*first = pgoff - (region << (VGPU_REGION_SHIFT - page_shift));
	owned >>= page_shift;
	if (!pages || *first >= owned || pages > owned - *first)
		return -EINVAL;
	return 0;
}

/**
 * vgpu_region_window() - tell which pages to map at a page fault
 * @page: number of the page that was touched
 * @low: number of the first page that may be mapped
 * @high: number of the last page that may be mapped, plus one
 * @batch: maximum number of pages to map, a power of two
 * @start: set to the number of the first page to map
 * @nr: set to the number of pages to map
 */
void vgpu_region_window(u64 page, u64 low, u64 high, u64 batch, u64 *start, u64 *nr)
{
	u64 from = page & ~(batch - 1);
	u64 to = from + batch;

	if (from < low)
		from = low;
	if (to > high)
		to = high;
	*start = from;
	*nr = to - from;
}
