/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The walk through the page tables of an address space, entry by entry. Tables are a guest's, and
 * may be anything. Needs no memory, so it compiles in user space, too.
 */
#ifndef _VGPU_SOFT_WALK_H
#define _VGPU_SOFT_WALK_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#define SOFT_WALK_LEVELS	3

/* A table of the second level, or a leaf in its place, has all of such a region. */
#define SOFT_WALK_REGION_SHIFT	21

enum soft_walk_end {
	SOFT_WALK_MORE,		/* the entry at struct soft_walk.at is wanted */
	SOFT_WALK_LEAF,		/* the address has a translation */
	SOFT_WALK_FAULT,	/* it has none */
};

/**
 * struct soft_walk - a walk
 * @va:       the address that is looked for; constant
 * @fb_bytes: length of the vGPU's framebuffer; constant
 * @at:       SOFT_WALK_MORE: offset of the next entry in the vGPU's framebuffer, a multiple of 8
 * @level:    SOFT_WALK_MORE: level of the table with that entry: 2, 1 or 0
 * @addr:     SOFT_WALK_LEAF: where @va leads, in the vGPU's framebuffer or in guest memory
 * @bytes:    SOFT_WALK_LEAF: so many bytes from @va on are in the leaf
 * @flags:    SOFT_WALK_LEAF: VGPU_HW_PTE_R, _W, _X and _SYS of the leaf
 */
struct soft_walk {
	u64 va;
	u64 fb_bytes;
	u64 at;
	unsigned int level;
	u64 addr;
	u64 bytes;
	u32 flags;
};

/* Whether an address is one of VGPU_HW_VA_BITS bits, sign extended. */
static inline bool soft_walk_va_ok(u64 va)
{
	return (u64)((s64)(va << (64 - VGPU_HW_VA_BITS)) >> (64 - VGPU_HW_VA_BITS)) == va;
}

/* Whether a register may have the value as a root: 0 stands for none. Its table may be missing. */
static inline bool soft_walk_value_ok(u32 root)
{
	return !root || root & VGPU_HW_ROOT_VALID;
}

bool soft_walk_root_ok(u32 root, u64 fb_bytes);
enum soft_walk_end soft_walk_begin(struct soft_walk *walk, u32 root, u64 va, u64 fb_bytes);
enum soft_walk_end soft_walk_step(struct soft_walk *walk, u64 entry);

#endif /* _VGPU_SOFT_WALK_H */
