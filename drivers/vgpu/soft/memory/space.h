/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address spaces of channels: where addresses in rings, in packets and of programs lead.
 * queue/invalidate.c tells how an invalidation knows that no unit uses a translation any more.
 */
#ifndef _VGPU_SOFT_SPACE_H
#define _VGPU_SOFT_SPACE_H

#include <linux/types.h>

#include "fault.h"

struct page;
struct soft_memory;

#define SOFT_TLB	16	/* entries */

/*
 * A look at a page of framebuffer, or at an entry of a page table there: 0.2 us where all that it
 * touches is in no cache. A guest can see to that. Stated as bytes, see SOFT_STOP_BYTES.
 */
#define SOFT_LOOK_WORK		256

/* A page that was never touched before. */
#define SOFT_FRESH_WORK		12288

/**
 * struct soft_tlb_entry - the way to a region of SOFT_WALK_REGION_SHIFT
 * @region: number of the region: the address shifted to the right
 * @root:   the address space; 0: there is none here
 * @level:  of @pte: 2 or 1
 * @gen:    generation of the translations that came of it, see struct soft_place
 * @pte:    the last entry above level 0 on the way: a leaf, or the table with the region's pages
 */
struct soft_tlb_entry {
	u64 region;
	u32 root;
	u32 level;
	u32 gen;
	u64 pte;
};

/**
 * struct soft_tlb - the upper entries of page tables that a unit has read
 * @entry: by the number of the region
 *
 * Packets touch memory in order, and each page only once. So the TLB keeps no leaves of 4 KiB, but
 * the table that holds 512 of them. Belongs to the unit's thread, which empties it when a run
 * begins.
 */
struct soft_tlb {
	struct soft_tlb_entry entry[SOFT_TLB];
};

/**
 * struct soft_view - how a unit of an engine looks at the memory of the vGPU that runs
 * @mem:  the memory
 * @root: the address space of the channel that the unit works on; 0: none, addresses are those
 *        of the vGPU's framebuffer
 * @gen:  soft_invalidate_gen() when the unit last looked at it: that of all translations which
 *        are valid
 * @work: bytes done since the clock was read, and other work that is stated as bytes
 * @tlb:  translations of the vGPU
 *
 * Belongs to the unit's thread, during a run.
 */
struct soft_view {
	struct soft_memory *mem;
	u32 root;
	u32 gen;
	u32 work;
	struct soft_tlb tlb;
};

/**
 * struct soft_place - where an address leads
 * @va:    the address as the guest has it: in the channel's address space
 * @addr:  offset in the vGPU's framebuffer; or, with @sys, guest physical address
 * @bytes: so many bytes from there on lie one after the other, at least 1
 * @gen:   struct soft_view.gen when the place was found
 * @sys:   in guest memory
 *
 * A function that turns a place into memory, or into a request to memory, checks the place's
 * generation first. It refuses a place that was found before the unit saw an invalidation, and
 * the step of the packet is done again.
 */
struct soft_place {
	u64 va;
	u64 addr;
	u64 bytes;
	u32 gen;
	bool sys;
};

/*
 * What an access needs: VGPU_HW_PTE_R, VGPU_HW_PTE_W or VGPU_HW_PTE_X. Or-ed to it
 * VGPU_HW_PTE_SYS: the access may be to guest memory.
 */
bool soft_space_find(struct soft_view *view, u64 va, u32 access, struct soft_place *place,
		     struct soft_fault *fault);
struct soft_place soft_space_plain(const struct soft_view *view, u64 va, bool sys);
bool soft_space_valid(const struct soft_view *view, u32 gen);
bool soft_space_peek(struct soft_view *view, const struct soft_place *place, struct page **page);
struct page *soft_space_back(struct soft_view *view, const struct soft_place *place);
void soft_space_extend(struct soft_view *view, u32 access, u64 bytes, struct soft_place *place);
bool soft_space_look_up(struct soft_memory *mem, u32 root, u64 va, u32 access, u64 *addr);

#endif /* _VGPU_SOFT_SPACE_H */
