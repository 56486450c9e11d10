// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of a vGPU's file descriptor. Everything here is arithmetic on numbers
 * that users choose; it also compiles in user space (tests/unit/test_region.c).
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
 * vgpu_region_size() - the size of a BAR
 * @owned_bytes: what is behind it
 *
 * Return: a power of two of at least a page; 0 if nothing is owned, or more
 * than a region can be.
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

static int region_init_bar(struct vgpu_regions *regions,
			   const struct vgpu_function_desc *desc,
			   unsigned int bar)
{
	const struct vgpu_region_desc *from = &desc->region[bar];
	struct vgpu_region *to = &regions->bar[bar];

	to->size = vgpu_region_size(from->owned_bytes);
	if (!to->size)
		return -EINVAL;
	if (from->flags & VGPU_REGION_64BIT) {
		if (bar + 1 == VGPU_REGION_MAX ||
		    desc->region[bar + 1].owned_bytes)
			return -EINVAL;
	} else if (to->size > REGION_SIZE_MAX_32) {
		return -EINVAL;
	}
	to->owned = from->owned_bytes;
	to->memory = from->flags & VGPU_REGION_MMAP;
	return 0;
}

static int region_init_msix(struct vgpu_regions *regions,
			    const struct vgpu_function_desc *desc)
{
	const struct vgpu_region *bar;
	u64 table_bytes = (u64)desc->vectors * VGPU_MSIX_ENTRY_SIZE;
	u64 pba_bytes = (desc->vectors + 63) / 64 * 8;
	u64 pba;

	if (!desc->vectors)
		return 0;
	if (desc->msix_bar >= VGPU_REGION_MAX ||
	    desc->msix_table % VGPU_MSIX_PAGE_SIZE || desc->msix_pba % 8 ||
	    desc->msix_pba < desc->msix_table)
		return -EINVAL;
	pba = desc->msix_pba - desc->msix_table;
	if (pba < table_bytes || pba + pba_bytes > VGPU_MSIX_PAGE_SIZE)
		return -EINVAL;
	bar = &regions->bar[desc->msix_bar];
	if (bar->memory ||
	    (u64)desc->msix_table + VGPU_MSIX_PAGE_SIZE > bar->owned)
		return -EINVAL;

	regions->vectors = desc->vectors;
	regions->msix_bar = desc->msix_bar;
	regions->msix_page = desc->msix_table;
	regions->msix_pba = pba;
	return 0;
}

/**
 * vgpu_regions_init() - the regions of a function
 * @regions: to set up
 * @desc: by the back end
 *
 * Return: 0; -EINVAL if there can be no such function.
 */
int vgpu_regions_init(struct vgpu_regions *regions,
		      const struct vgpu_function_desc *desc)
{
	unsigned int bar;
	int ret;

	memset(regions, 0, sizeof(*regions));
	for (bar = 0; bar < VGPU_REGION_MAX; bar++) {
		if (!desc->region[bar].owned_bytes)
			continue;
		ret = region_init_bar(regions, desc, bar);
		if (ret)
			return ret;
	}
	return region_init_msix(regions, desc);
}

/**
 * vgpu_region_bytes() - the size of any region
 * @regions: the function's
 * @index: as in VFIO, any number
 *
 * Return: its size; 0 if there is none.
 */
u64 vgpu_region_bytes(const struct vgpu_regions *regions, unsigned int index)
{
	if (index < VGPU_REGION_MAX) {
		index = array_index_nospec(index, VGPU_REGION_MAX);
		return regions->bar[index].size;
	}
	if (index == VGPU_REGION_CONFIG)
		return VGPU_CONFIG_SIZE;
	return 0;
}

/**
 * vgpu_region_offset() - where a region starts
 * @index: as in VFIO
 *
 * Return: the file offset.
 */
u64 vgpu_region_offset(unsigned int index)
{
	return (u64)index << VGPU_REGION_SHIFT;
}

/**
 * vgpu_region_decode() - which region an access is to
 * @regions: the function's
 * @pos: file offset
 * @count: bytes
 * @index: out, the region
 * @offset: out, in the region
 *
 * Return: 0; -EINVAL if not all of it is in one region.
 */
int vgpu_region_decode(const struct vgpu_regions *regions, u64 pos, u64 count,
		       unsigned int *index, u64 *offset)
{
	u64 size;

	*index = pos >> VGPU_REGION_SHIFT;
	*offset = pos & (VGPU_REGION_SIZE_MAX - 1);
	size = vgpu_region_bytes(regions, *index);
	if (*offset >= size || count > size - *offset)
		return -EINVAL;
	*index = array_index_nospec(*index, VGPU_REGION_CONFIG + 1);
	return 0;
}

static u32 region_natural_width(u64 offset, u64 left)
{
	/* The lowest bit set is what the offset is aligned to. */
	u64 align = offset | VGPU_PIECE_WORD_MAX;
	u32 width = align & -align;

	while (left < width)
		width >>= 1;
	return width;
}

/**
 * vgpu_region_piece() - the first piece of an access
 * @regions: the function's
 * @index: the region, from vgpu_region_decode()
 * @offset: in the region
 * @left: bytes of the access from there on, at least 1, in the region
 * @piece: out
 */
void vgpu_region_piece(const struct vgpu_regions *regions, unsigned int index,
		       u64 offset, u64 left, struct vgpu_piece *piece)
{
	const struct vgpu_region *bar;
	u64 page_left = VGPU_PIECE_MAX - offset % VGPU_PIECE_MAX;

	piece->offset = offset;
	if (index == VGPU_REGION_CONFIG) {
		piece->target = VGPU_TARGET_CONFIG;
		piece->len = region_natural_width(offset, left);
		return;
	}

	bar = &regions->bar[array_index_nospec(index, VGPU_REGION_MAX)];
	if (offset >= bar->owned) {
		piece->target = VGPU_TARGET_TAIL;
		piece->len = left < page_left ? left : page_left;
		return;
	}
	if (left > bar->owned - offset)
		left = bar->owned - offset;
	if (bar->memory) {
		piece->target = VGPU_TARGET_MEMORY;
		piece->len = left < page_left ? left : page_left;
		return;
	}
	piece->target = VGPU_TARGET_REGISTERS;
	piece->len = region_natural_width(offset, left);
	if (regions->vectors && index == regions->msix_bar &&
	    offset >= regions->msix_page &&
	    offset - regions->msix_page < VGPU_MSIX_PAGE_SIZE) {
		piece->target = VGPU_TARGET_MSIX;
		piece->offset = offset - regions->msix_page;
	}
}

/**
 * vgpu_region_map() - check a mapping
 * @regions: the function's
 * @pgoff: first page in the file
 * @pages: how many
 * @page_shift: size of a page
 * @bar: out, which BAR
 * @first: out, first page in the BAR
 *
 * Return: 0; -EINVAL if not all of it is owned memory.
 */
int vgpu_region_map(const struct vgpu_regions *regions, u64 pgoff, u64 pages,
		    unsigned int page_shift, unsigned int *bar, u64 *first)
{
	u64 index = pgoff >> (VGPU_REGION_SHIFT - page_shift);
	u64 owned;

	if (index >= VGPU_REGION_MAX)
		return -EINVAL;
	*bar = array_index_nospec((unsigned int)index, VGPU_REGION_MAX);
	if (!regions->bar[*bar].memory)
		return -EINVAL;
	*first = pgoff - (index << (VGPU_REGION_SHIFT - page_shift));
	owned = regions->bar[*bar].owned >> page_shift;
	if (!pages || *first >= owned || pages > owned - *first)
		return -EINVAL;
	return 0;
}

/**
 * vgpu_region_window() - which pages to map at a fault
 * @page: that was touched
 * @low: first page that may be mapped
 * @high: after the last
 * @batch: a power of two, in pages
 * @start: out, first page
 * @nr: out, how many, at most @batch
 */
void vgpu_region_window(u64 page, u64 low, u64 high, u64 batch, u64 *start,
			u64 *nr)
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
