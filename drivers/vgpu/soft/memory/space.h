/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address spaces of channels: where addresses in rings, in packets and of programs lead. space.c
 * tells how an invalidation knows that no engine uses a translation any more.
 */
#ifndef _VGPU_SOFT_SPACE_H
#define _VGPU_SOFT_SPACE_H

#include <linux/types.h>

struct page;
struct soft_channel;
struct soft_engine;
struct soft_fault;
struct soft_instance;

#define SOFT_TLB	16	/* entries */

/**
 * struct soft_tlb_entry - the way to a region of SOFT_WALK_REGION_SHIFT
 * @region: number of the region: the address shifted to the right
 * @root:   the address space; 0: there is none here
 * @level:  of @pte: 2 or 1
 * @pte:    the last entry above level 0 on the way: a leaf, or the table with the region's pages
 */
struct soft_tlb_entry {
	u64 region;
	u32 root;
	u32 level;
	u64 pte;
};

/**
 * struct soft_tlb - the upper entries of page tables that an engine has read
 * @entry: by the number of the region
 *
 * Packets touch memory in order, and a page but once. So leaves of 4 KiB are not kept here, but
 * what is common to 512 of them. Belongs to the engine's thread; is emptied when a turn begins, and
 * when the engine sees that translations were invalidated.
 */
struct soft_tlb {
	struct soft_tlb_entry entry[SOFT_TLB];
};

/**
 * struct soft_place - where an address leads
 * @va:    the address as the guest has it: in the channel's address space
 * @addr:  offset in the partition; or, with @sys, guest physical address
 * @bytes: so many bytes from there on lie one after the other, at least 1
 * @sys:   in guest memory
 */
struct soft_place {
	u64 va;
	u64 addr;
	u64 bytes;
	bool sys;
};

enum soft_space_end {
	SOFT_SPACE_OK,
	SOFT_SPACE_FAULT,	/* see struct soft_fault */
	SOFT_SPACE_WAIT,	/* the page cannot be had now: see soft_dma_get_fb() */
};

/*
 * What an access needs: VGPU_HW_PTE_R, VGPU_HW_PTE_W or VGPU_HW_PTE_X. Or-ed to it
 * VGPU_HW_PTE_SYS: the access may be to guest memory.
 */
bool soft_space_find(struct soft_channel *ch, u64 va, u32 access, struct soft_place *place,
		     struct soft_fault *fault);
struct page *soft_space_peek(struct soft_channel *ch, u64 addr);
struct page *soft_space_back(struct soft_channel *ch, u64 addr);
void soft_space_extend(struct soft_channel *ch, u32 access, u64 bytes, struct soft_place *place);
enum soft_space_end soft_space_page(struct soft_channel *ch, u64 va, u32 access,
				    struct soft_place *place, struct page **page,
				    struct soft_fault *fault);

bool soft_space_look_up(struct soft_instance *inst, u32 root, u64 va, u32 access, u64 *addr);
void soft_space_turn(struct soft_engine *engine);
void soft_space_look(struct soft_engine *engine);
void soft_space_invalidate(struct soft_instance *inst, u32 root);

#endif /* _VGPU_SOFT_SPACE_H */
