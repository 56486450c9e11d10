/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file of a vGPU: its regions, their offsets, and the pieces of an access. Pure logic.
 */
#ifndef _VGPU_REGION_H
#define _VGPU_REGION_H

#include <linux/types.h>
#include <linux/vgpu_function.h>

/* A region's index is in the high bits of the file offset. */
#define VGPU_REGION_SHIFT	40
#define VGPU_REGION_SIZE_MAX	0x10000000000ULL

/*
 * VFIO's regions after the BARs are the ROM, the configuration space and the legacy VGA ranges; a
 * vGPU has the configuration space only. Then follow the regions of a display.
 */
#define VGPU_REGION_CONFIG	7
#define VGPU_REGION_EDID	9
#define VGPU_REGION_PLANE	10
#define VGPU_REGION_END		11

#define VGPU_MSIX_PAGE_SIZE	4096
#define VGPU_MSIX_ENTRY_SIZE	16

/* The region VGPU_REGION_EDID: struct vfio_region_gfx_edid, and then the EDID. */
#define VGPU_EDID_BLOB		64
#define VGPU_EDID_SIZE_MAX	1024

/* Maximum bytes of a piece of memory, plane or tail, and of a piece of any other target. */
#define VGPU_PIECE_MAX		4096
#define VGPU_PIECE_WORD_MAX	8

/**
 * struct vgpu_region - a BAR
 * @size:   bytes, a power of two; 0: no such BAR, or the upper half of a 64-bit BAR
 * @owned:  bytes at the BAR's start that the vGPU owns
 * @memory: the BAR has memory, which may be mapped; else registers
 */
struct vgpu_region {
	u64 size;
	u64 owned;
	bool memory;
};

/**
 * struct vgpu_regions - the regions of a function
 * @bar:      the BARs, by number
 * @vectors:  number of MSI-X vectors
 * @msix_bar: number of the BAR that has the page of the MSI-X table, if there are vectors
 * @msix_page: offset of that page in the BAR; the table is at its start
 * @msix_pba: offset of the pending bits in that page
 * @plane_bytes: length of the region VGPU_REGION_PLANE; 0: there is no display
 */
struct vgpu_regions {
	struct vgpu_region bar[VGPU_REGION_MAX];
	unsigned int vectors;
	unsigned int msix_bar;
	u32 msix_page;
	u32 msix_pba;
	u64 plane_bytes;
};

enum vgpu_target {
	VGPU_TARGET_CONFIG,
	VGPU_TARGET_REGISTERS,	/* the back end's; naturally aligned */
	VGPU_TARGET_MEMORY,	/* the back end's; within a page */
	VGPU_TARGET_MSIX,	/* the page of the MSI-X table and the pending bits */
	VGPU_TARGET_EDID,	/* naturally aligned */
	VGPU_TARGET_PLANE,	/* within a page */
	VGPU_TARGET_TAIL,	/* not owned: reads all ones, writes are dropped */
};

/**
 * struct vgpu_piece - a part of an access
 * @target: what the piece accesses
 * @offset: offset in the region; VGPU_TARGET_MSIX: in the page of the MSI-X table
 * @len:    bytes
 */
struct vgpu_piece {
	enum vgpu_target target;
	u64 offset;
	u32 len;
};

int vgpu_regions_init(struct vgpu_regions *regions, const struct vgpu_function_desc *desc);
unsigned int vgpu_region_count(const struct vgpu_regions *regions);
u64 vgpu_region_size(u64 owned_bytes);
u64 vgpu_region_bytes(const struct vgpu_regions *regions, unsigned int index);
u64 vgpu_region_offset(unsigned int index);
int vgpu_region_decode(const struct vgpu_regions *regions, u64 pos, u64 count,
		       unsigned int *index, u64 *offset);
void vgpu_region_piece(const struct vgpu_regions *regions, unsigned int index,
		       u64 offset, u64 left, struct vgpu_piece *piece);
int vgpu_region_map(const struct vgpu_regions *regions, u64 pgoff, u64 pages,
		    unsigned int page_shift, unsigned int *index, u64 *first);
void vgpu_region_window(u64 page, u64 low, u64 high, u64 batch, u64 *start, u64 *nr);

#endif /* _VGPU_REGION_H */
