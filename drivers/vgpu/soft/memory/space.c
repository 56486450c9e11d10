// SPDX-License-Identifier: GPL-2.0
/*
 * Address spaces of channels. Without a root addresses are those of the framebuffer; with one they
 * are translated by the guest's page tables (walk.c).
 *
 * A translation carries a generation, and is of no use when the unit has seen another one:
 * whatever makes a page or a request of it refuses it. See queue/invalidate.c.
 */
#include <linux/mm.h>

#include "memory.h"
#include "space.h"
#include "walk.h"

static u64 soft_space_read(struct soft_store *fb, u64 at)
{
	struct page *page = soft_store_peek(fb, at >> PAGE_SHIFT);
	const __le64 *entry;

	if (!page)
		return 0;
	entry = page_address(page) + offset_in_page(at);
	return le64_to_cpu(READ_ONCE(*entry));
}

/* @gen: of the translation */
static bool soft_space_walk(struct soft_view *view, u64 va, u32 gen, struct soft_walk *walk)
{
	struct soft_memory *mem = view->mem;
	u64 region = va >> SOFT_WALK_REGION_SHIFT, pte;
	struct soft_tlb_entry *known = &view->tlb.entry[region % SOFT_TLB];
	enum soft_walk_end end;
	u32 level;

	end = soft_walk_begin(walk, view->root, va, mem->fb_bytes);
	if (end == SOFT_WALK_MORE && known->root == view->root && known->region == region &&
	    known->gen == gen) {
		walk->level = known->level;
		end = soft_walk_step(walk, known->pte);
	}
	while (end == SOFT_WALK_MORE) {
		level = walk->level;
		view->work += SOFT_LOOK_WORK;
		pte = soft_space_read(&mem->fb, walk->at);
		end = soft_walk_step(walk, pte);
		if (level && end != SOFT_WALK_FAULT)
			*known = (struct soft_tlb_entry) {
				.region = region, .root = view->root, .level = level, .gen = gen,
				.pte = pte,
			};
	}
	return end == SOFT_WALK_LEAF;
}

/* Without a root: the vGPU's framebuffer. */
static bool soft_space_identity(struct soft_view *view, struct soft_place *place)
{
	u64 fb_bytes = view->mem->fb_bytes;

	if (place->va >= fb_bytes)
		return false;
	place->addr = place->va;
	place->bytes = fb_bytes - place->va;
	place->sys = false;
	return true;
}

/**
 * soft_space_find() - translate an address
 * @view: of the unit that works on the channel
 * @va: the address, any number
 * @access: what is wanted, see space.h. Without a root any access is allowed
 * @place: set to where @va leads
 * @fault: set if false is returned
 * Context: the unit's thread, during a run.
 * Return: false if there is no translation, or none that allows the access.
 */
bool soft_space_find(struct soft_view *view, u64 va, u32 access, struct soft_place *place,
		     struct soft_fault *fault)
{
	struct soft_walk walk;

	place->va = va;
	place->gen = view->gen;
	if (!view->root) {
		if (soft_space_identity(view, place))
			return true;
		fault->code = VGPU_HW_FAULT_ADDRESS;
		fault->addr = va;
		return false;
	}
	if (!soft_space_walk(view, va, place->gen, &walk) ||
	    (access & ~walk.flags & ~VGPU_HW_PTE_SYS) || (walk.flags & ~access & VGPU_HW_PTE_SYS)) {
		fault->code = VGPU_HW_FAULT_PAGE;
		fault->addr = va;
		return false;
	}
	place->addr = walk.addr;
	place->bytes = walk.bytes;
	place->sys = walk.flags & VGPU_HW_PTE_SYS;
	return true;
}

/**
 * soft_space_plain() - the place of an address that needs no translation
 * @view: of the unit that works on the channel
 * @va: the address, which has been checked
 * @sys: it is in guest memory, else in the vGPU's framebuffer
 * Context: the unit's thread, during a run.
 * Return: the place.
 */
struct soft_place soft_space_plain(const struct soft_view *view, u64 va, bool sys)
{
	return (struct soft_place) {
		.va = va, .addr = va, .bytes = U64_MAX, .sys = sys,
		.gen = view->gen,
	};
}

/**
 * soft_space_valid() - look whether a translation may be used
 * @view: of the unit that works on the channel
 * @gen: the translation's, see struct soft_place
 * Context: the unit's thread, during a run.
 * Return: false if the unit has seen an invalidation since.
 */
bool soft_space_valid(const struct soft_view *view, u32 gen)
{
	return view->gen == gen;
}

/**
 * soft_space_look_up() - find what an address in the framebuffer leads to, without an engine
 * @mem: the vGPU's
 * @root: the address space; 0: the vGPU's framebuffer
 * @va: the address, any number
 * @access: what is wanted: VGPU_HW_PTE_R, VGPU_HW_PTE_W or VGPU_HW_PTE_X
 * @addr: set to the offset in the vGPU's framebuffer, if there is one. The caller sees to it that
 *        invalidations wait for the end of its use
 * Context: the vGPU's worker, with drop_lock held for reading.
 * Return: false if there is no translation, or none that allows the access.
 */
bool soft_space_look_up(struct soft_memory *mem, u32 root, u64 va, u32 access, u64 *addr)
{
	struct soft_walk walk;
	enum soft_walk_end end;

	*addr = va;
	if (!root)
		return va < mem->fb_bytes;
	end = soft_walk_begin(&walk, root, va, mem->fb_bytes);
	while (end == SOFT_WALK_MORE)
		end = soft_walk_step(&walk, soft_space_read(&mem->fb, walk.at));
	if (end == SOFT_WALK_FAULT || access & ~walk.flags || walk.flags & VGPU_HW_PTE_SYS)
		return false;
	*addr = walk.addr;
	return true;
}

/**
 * soft_space_extend() - look how far a place goes on
 * @view: of the unit that works on the channel
 * @access: as it was found
 * @bytes: so many are wanted
 * @place: what soft_space_find() has found; its bytes grow to @bytes or more, if so many lie one
 *         after the other
 * Context: the unit's thread, during a run.
 */
void soft_space_extend(struct soft_view *view, u32 access, u64 bytes, struct soft_place *place)
{
	struct soft_fault fault;
	struct soft_place next;

	while (place->bytes < bytes &&
	       soft_space_find(view, place->va + place->bytes, access, &next, &fault) &&
	       next.sys == place->sys && next.addr == place->addr + place->bytes)
		place->bytes += next.bytes;
}

/**
 * soft_space_peek() - look for the page of a place
 * @view: of the unit that works on the channel
 * @place: in the vGPU's framebuffer
 * @page: set to the page, without a reference; NULL if it was never touched
 * Context: the unit's thread, during a run.
 * Return: false if @place is not valid any more: the packet's step is to be done again.
 */
bool soft_space_peek(struct soft_view *view, const struct soft_place *place, struct page **page)
{
	view->work += SOFT_LOOK_WORK;
	*page = soft_store_peek(&view->mem->fb, place->addr >> PAGE_SHIFT);
	return soft_space_valid(view, place->gen);
}

/**
 * soft_space_back() - likewise, to write to it: a page that was never touched is allocated, and
 *		       the page is marked as written
 * @view: of the unit that works on the channel
 * @place: in the vGPU's framebuffer
 * Context: the unit's thread, during a run; does not wait for memory.
 * Return: the page, without a reference; NULL if it cannot be had now, or @place is not valid any
 * more: see soft_dma_get_fb().
 */
struct page *soft_space_back(struct soft_view *view, const struct soft_place *place)
{
	struct page *page;

	if (!soft_space_peek(view, place, &page))
		return NULL;
	if (!page) {
		view->work += SOFT_FRESH_WORK;
		page = soft_store_page(&view->mem->fb, place->addr >> PAGE_SHIFT, SOFT_GFP_ENGINE);
		if (!page || !soft_space_valid(view, place->gen))
			return NULL;
	}
	soft_store_mark(&view->mem->fb, place->addr >> PAGE_SHIFT);
	return page;
}
