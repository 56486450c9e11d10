// SPDX-License-Identifier: GPL-2.0
/*
 * The walk through the page tables of an address space: RISC-V's Sv39, with offsets in the
 * framebuffer for physical addresses. The caller reads each entry once, as a guest may be writing
 * it, and gives it to soft_walk_step(). Each step goes down by a level, so that tables that point
 * at each other end as any others do; and each table and leaf is checked against the framebuffer.
 */
#include <linux/bits.h>

#include "walk.h"

#define SOFT_PTE_PAGE_MASK	(BIT_ULL(VGPU_HW_PTE_PAGE_BITS) - 1)
#define SOFT_PTE_ACCESS		(VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X)

/* N, PBMT and what the specification keeps for later: all behind the page number. */
#define SOFT_PTE_RESERVED	(~(u64)0 << (VGPU_HW_PTE_PAGE_SHIFT + VGPU_HW_PTE_PAGE_BITS))

static bool soft_walk_inside(const struct soft_walk *walk, u64 addr, u64 bytes)
{
	return bytes <= walk->fb_bytes && addr <= walk->fb_bytes - bytes;
}

/* Goes on in the table at @addr, whose level is set. */
static enum soft_walk_end soft_walk_table(struct soft_walk *walk, u64 addr)
{
	unsigned int shift = 12 + 9 * walk->level;

	if (!soft_walk_inside(walk, addr, VGPU_HW_PAGE_SIZE))
		return SOFT_WALK_FAULT;
	walk->at = addr + (walk->va >> shift & 0x1ff) * sizeof(u64);
	return SOFT_WALK_MORE;
}

/* Whether @root, a value of VGPU_HW_CHAN_ROOT that is not 0, has its table in the framebuffer. */
bool soft_walk_root_ok(u32 root, u64 fb_bytes)
{
	struct soft_walk walk;

	return soft_walk_begin(&walk, root, 0, fb_bytes) == SOFT_WALK_MORE;
}

/**
 * soft_walk_begin() - begin to look for a translation
 * @walk: set up
 * @root: value of VGPU_HW_CHAN_ROOT, not 0
 * @va: the address, any number
 * @fb_bytes: length of the vGPU's framebuffer
 * Context: any; pure.
 * Return: SOFT_WALK_MORE or SOFT_WALK_FAULT.
 */
enum soft_walk_end soft_walk_begin(struct soft_walk *walk, u32 root, u64 va, u64 fb_bytes)
{
	walk->va = va;
	walk->fb_bytes = fb_bytes;
	walk->level = SOFT_WALK_LEVELS - 1;
	if (!soft_walk_va_ok(va))
		return SOFT_WALK_FAULT;
	return soft_walk_table(walk, (u64)(root & VGPU_HW_ROOT_PAGE_MASK) * VGPU_HW_PAGE_SIZE);
}

/**
 * soft_walk_step() - go on by one entry
 * @walk: its level is the entry's
 * @entry: what was read there, in the CPU's byte order
 *
 * A walk takes SOFT_WALK_LEVELS steps at most.
 *
 * Context: any; pure.
 * Return: enum soft_walk_end.
 */
enum soft_walk_end soft_walk_step(struct soft_walk *walk, u64 entry)
{
	u64 addr = (entry >> VGPU_HW_PTE_PAGE_SHIFT & SOFT_PTE_PAGE_MASK) * VGPU_HW_PAGE_SIZE;
	u64 bytes = BIT_ULL(12 + 9 * walk->level);
	u32 access = entry & SOFT_PTE_ACCESS;

	if (!(entry & VGPU_HW_PTE_V) || entry & SOFT_PTE_RESERVED)
		return SOFT_WALK_FAULT;
	if (!access) {
		/* Tables are in the framebuffer, and those of the last level have leaves only. */
		if (!walk->level || entry & VGPU_HW_PTE_SYS)
			return SOFT_WALK_FAULT;
		walk->level--;
		return soft_walk_table(walk, addr);
	}
	if ((access & VGPU_HW_PTE_W && !(access & VGPU_HW_PTE_R)) || addr & (bytes - 1))
		return SOFT_WALK_FAULT;
	if (!(entry & VGPU_HW_PTE_SYS) && !soft_walk_inside(walk, addr, bytes))
		return SOFT_WALK_FAULT;
	walk->addr = addr | (walk->va & (bytes - 1));
	walk->bytes = bytes - (walk->va & (bytes - 1));
	walk->flags = entry & (SOFT_PTE_ACCESS | VGPU_HW_PTE_SYS);
	return SOFT_WALK_LEAF;
}
