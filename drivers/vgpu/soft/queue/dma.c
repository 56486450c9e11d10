// SPDX-License-Identifier: GPL-2.0
/*
 * A channel's requests to the vGPU's worker. A channel has at most one at a time, and waits for it.
 *
 * A request to guest memory reads into, or writes from, pages of the framebuffer or bounce
 * pages. A request for pages is made when an engine cannot allocate a page at once: the worker
 * allocates it, since the worker may wait, and then the engine does the step of the packet
 * again. So an engine, which works for all vGPUs, never enters reclaim. A host that is short of
 * memory stalls a channel; only a shortage that lasts faults it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "dma.h"
#include "../memory/memory.h"
#include "queues.h"

/* Time after which an engine tries again to allocate a request. */
#define SOFT_SHORT_NS		NSEC_PER_MSEC

/**
 * soft_dma_add() - add a piece of host memory to a request
 * @dma: a request with room for another piece
 * @page: the page of the piece; the request takes a reference of its own
 * @offset: start of the piece in @page
 * @len: bytes; the piece lies in @page
 * Context: any.
 */
void soft_dma_add(struct vgpu_dma *dma, struct page *page, unsigned int offset, unsigned int len)
{
	get_page(page);
	bvec_set_page(&dma->vec[dma->nr_vec++], page, len, offset);
	dma->len += len;
}

/**
 * soft_dma_alloc() - allocate a request to guest memory
 * @ch: busy
 * @place: place in guest memory; soft_dma_submit() checks that it is still valid. Its @va is the
 *         address of the fault if the request fails
 * @write: write guest memory, else read it
 * Context: the engine's thread; does not wait for memory.
 * Return: the request, without a piece of host memory yet; NULL: no memory now, see
 * soft_dma_later().
 */
struct vgpu_dma *soft_dma_alloc(struct soft_channel *ch, const struct soft_place *place,
				bool write)
{
	struct vgpu_dma *dma;

	dma = vgpu_dma_alloc(ch->queues->mem->vgpu, GFP_NOWAIT | __GFP_NOWARN);
	if (dma) {
		dma->addr = place->addr;
		dma->write = write;
		ch->exec.va = place->va;
		ch->exec.gen = place->gen;
	}
	return dma;
}

/**
 * soft_dma_later() - do a step again later, since a request could not be allocated
 * @ch: busy
 *
 * A channel may do this any number of times: a host that has no memory for a request is about to
 * kill some process, and only the channel's guest waits.
 *
 * Context: the engine's thread; does not sleep.
 * Return: SOFT_END_PACED.
 */
enum soft_end soft_dma_later(struct soft_channel *ch)
{
	ch->due_ns = ktime_get_ns() + SOFT_SHORT_NS;
	return SOFT_END_PACED;
}

/**
 * soft_dma_page() - allocate a page that belongs to no address
 * @ch: busy
 * Context: the engine's thread; does not wait for memory.
 * Return: the page, owned by the caller; NULL: none is available now, see soft_dma_get_loose().
 */
struct page *soft_dma_page(struct soft_channel *ch)
{
	ch->view->work += SOFT_FRESH_WORK;
	return soft_store_alloc(&ch->queues->mem->fb, SOFT_GFP_ENGINE);
}

/* Whether the engine must look at the clock before it allocates another page for a request. */
static bool soft_dma_is_long(const struct soft_channel *ch)
{
	return ch->view->work >= SOFT_STOP_BYTES;
}

/**
 * soft_dma_add_bounce() - add the channel's bounce pages, allocated if need be
 * @ch: busy
 * @dma: the channel's request, without a piece so far
 * @len: bytes, VGPU_DMA_MAX at most
 *
 * Adds less than @len, but at least something, when the engine must look at the clock.
 *
 * Context: the engine's thread; does not wait for memory.
 * Return: false if there are not enough pages now, see soft_dma_get_loose().
 */
bool soft_dma_add_bounce(struct soft_channel *ch, struct vgpu_dma *dma, u32 len)
{
	struct soft_exec *exec = &ch->exec;
	unsigned int i;

	for (i = 0; len; i++) {
		u32 part = min_t(u32, len, PAGE_SIZE);

		if (!exec->bounce[i] && i && soft_dma_is_long(ch))
			return true;
		if (!exec->bounce[i])
			exec->bounce[i] = soft_dma_page(ch);
		if (!exec->bounce[i])
			return false;
		soft_dma_add(dma, exec->bounce[i], 0, part);
		len -= part;
	}
	return true;
}

/* Goes on by @len bytes. False if there is no framebuffer: the fault, if any, comes later. */
static bool soft_dma_next(struct soft_channel *ch, const struct vgpu_dma *dma, u32 len,
			  struct soft_place *place)
{
	struct soft_fault fault;

	if (place->bytes == len)
		return soft_space_find(ch->view, place->va + len,
				       dma->write ? VGPU_HW_PTE_R : VGPU_HW_PTE_W, place, &fault);
	place->va += len;
	place->addr += len;
	place->bytes -= len;
	return true;
}

/* Marks what the worker has read into the framebuffer, as far as it came: struct vgpu_dma.ran. */
static void soft_dma_ran(struct vgpu_dma *dma)
{
	struct soft_channel *ch = dma->private;
	unsigned int i;

	smp_mb();	/* memory/dirty.h: mark last */
	for (i = 0; i < dma->nr_vec; i++)
		soft_store_mark(&ch->queues->mem->fb, dma->tag[i]);
}

/**
 * soft_dma_add_fb() - add framebuffer
 * @ch: busy
 * @dma: the channel's request, without a piece so far
 * @len: bytes, VGPU_DMA_MAX at most
 * @place: the first of them, in the framebuffer, found for the access that is wanted; afterwards
 *         what was not added
 *
 * Adds less than @len, but at least something, if the channel's address space leaves the
 * framebuffer, or when the engine must look at the clock. Allocates missing pages if the request
 * reads guest memory into them. If it writes guest memory from a page that was never touched, uses
 * the zero page instead.
 *
 * Context: the engine's thread; does not wait for memory.
 * Return: false if a page is not available now, or @place is not valid any more: see
 * soft_dma_get_fb().
 */
bool soft_dma_add_fb(struct soft_channel *ch, struct vgpu_dma *dma, u32 len,
		     struct soft_place *place)
{
	if (!dma->write)
		dma->ran = soft_dma_ran;
	for (;;) {
		unsigned int offset = offset_in_page(place->addr);
		u32 part = min_t(u32, len - dma->len, PAGE_SIZE - offset);
		struct page *page;

		if (!soft_space_peek(ch->view, place, &page))
			return false;
		if (!page && !dma->write && dma->len && soft_dma_is_long(ch))
			return true;
		if (!page)
			page = dma->write ? ZERO_PAGE(0) : soft_space_back(ch->view, place);
		if (!page)
			return false;
		dma->tag[dma->nr_vec] = place->addr >> PAGE_SHIFT;
		soft_dma_add(dma, page, offset, part);
		if (dma->len == len || !soft_dma_next(ch, dma, part, place))
			return true;
	}
}

static void soft_dma_complete(struct vgpu_dma *dma)
{
	struct soft_channel *ch = dma->private;
	struct soft_queues *queues = ch->queues;
	unsigned int engine;
	bool ready = false;

	raw_spin_lock(&queues->queue_lock);
	engine = ch->engine;
	if (ch->dma == dma) {
		ch->dma_done = true;
		ready = soft_queue_unstall(ch);
	}
	raw_spin_unlock(&queues->queue_lock);

	if (ready)
		soft_queue_announce(queues, engine);
}

/**
 * soft_dma_submit() - begin a request; the engine goes on with other channels
 * @ch: busy, without a request under way
 * @dma: the request, which soft_dma_alloc() made last for the channel; the channel takes over the
 *       caller's reference
 * Context: the engine's thread; as vgpu_dma_submit().
 * Return: SOFT_END_WAIT; SOFT_END_STOPPED: there is no request, as the place that it is for is not
 * valid any more.
 */
enum soft_end soft_dma_submit(struct soft_channel *ch, struct vgpu_dma *dma)
{
	struct soft_queues *queues = ch->queues;

	if (!soft_space_valid(ch->view, ch->exec.gen)) {
		vgpu_dma_put(dma);
		return SOFT_END_STOPPED;
	}
	dma->complete = soft_dma_complete;
	dma->private = ch;
	raw_spin_lock(&queues->queue_lock);
	ch->dma = dma;
	ch->dma_done = false;
	raw_spin_unlock(&queues->queue_lock);
	vgpu_dma_submit(dma);
	return SOFT_END_WAIT;
}

/**
 * soft_dma_take() - take the channel's completed request
 * @ch: busy
 * Context: the engine's thread; does not sleep.
 * Return: the request, with a reference for the caller; NULL if none has completed.
 */
struct vgpu_dma *soft_dma_take(struct soft_channel *ch)
{
	struct vgpu_dma *dma = NULL;

	raw_spin_lock(&ch->queues->queue_lock);
	if (ch->dma_done) {
		dma = ch->dma;
		ch->dma = NULL;
		ch->dma_done = false;
	}
	raw_spin_unlock(&ch->queues->queue_lock);
	return dma;
}

static int soft_dma_work_fb(struct vgpu_dma *dma)
{
	struct soft_channel *ch = dma->private;
	struct soft_store *fb = &ch->queues->mem->fb;
	unsigned long pgoff = dma->addr >> PAGE_SHIFT;
	unsigned long last = (dma->addr + dma->len - 1) >> PAGE_SHIFT;
	unsigned long since = 0;
	bool got;

	while (pgoff <= last) {
		if (fatal_signal_pending(current))
			return -ENOMEM;
		down_read(&fb->drop_lock);
		got = soft_store_page(fb, pgoff, SOFT_GFP);
		up_read(&fb->drop_lock);
		if (got)
			pgoff++;
		else if (!vgpu_short_pause(&since))
			return -ENOMEM;
	}
	return 0;
}

static int soft_dma_work_loose(struct vgpu_dma *dma)
{
	struct soft_channel *ch = dma->private;
	unsigned long since = 0;
	struct page *page;

	while (dma->nr_vec < DIV_ROUND_UP(dma->len, PAGE_SIZE)) {
		page = soft_store_alloc(&ch->queues->mem->fb, SOFT_GFP);
		if (page)
			bvec_set_page(&dma->vec[dma->nr_vec++], page, PAGE_SIZE, 0);
		else if (!vgpu_short_pause(&since))
			return -ENOMEM;
	}
	return 0;
}

static enum soft_end soft_dma_get(struct soft_channel *ch,
				  int (*work)(struct vgpu_dma *dma),
				  const struct soft_place *place, u32 len)
{
	struct vgpu_dma *dma = soft_dma_alloc(ch, place, false);

	if (!dma)
		return soft_dma_later(ch);
	dma->work = work;
	dma->len = len;
	return soft_dma_submit(ch, dma);
}

/**
 * soft_dma_get_fb() - make the worker allocate pages of the framebuffer
 * @ch: busy
 * @place: place in the vGPU's framebuffer
 * @len: bytes, at most those of @place
 * Context: the engine's thread; does not wait for the pages.
 * Return: SOFT_END_WAIT, SOFT_END_PACED if there is no memory for the request, or SOFT_END_STOPPED
 * if @place is not valid any more.
 */
enum soft_end soft_dma_get_fb(struct soft_channel *ch, const struct soft_place *place, u32 len)
{
	return soft_dma_get(ch, soft_dma_work_fb, place, len);
}

/**
 * soft_dma_find_page() - find the page of framebuffer behind an address
 * @ch: busy
 * @va: the address, any number
 * @access: the access; not VGPU_HW_PTE_SYS
 * @page: set to the page, without a reference. NULL is possible for a read: the page was never
 *        touched, and reads zero until it is written
 * @fault: set with SOFT_END_FAULT
 * Context: the engine's thread, during a run; does not wait for memory.
 * Return: SOFT_END_PACKET if @page is set; else how the engine leaves the channel, which does its
 * step again unless that is SOFT_END_FAULT.
 */
enum soft_end soft_dma_find_page(struct soft_channel *ch, u64 va, u32 access, struct page **page,
				 struct soft_fault *fault)
{
	struct soft_place place;

	if (!soft_space_find(ch->view, va, access, &place, fault))
		return SOFT_END_FAULT;
	if (access & VGPU_HW_PTE_W) {
		*page = soft_space_back(ch->view, &place);
		return *page ? SOFT_END_PACKET : soft_dma_get_fb(ch, &place, 1);
	}
	return soft_space_peek(ch->view, &place, page) ? SOFT_END_PACKET : SOFT_END_STOPPED;
}

/**
 * soft_dma_get_loose() - make the worker allocate pages that belong to no address
 * @ch: busy
 * @va: the address that faults if the host has no pages
 * @len: bytes, VGPU_DMA_MAX at most
 *
 * When the request has completed, soft_dma_keep() takes the pages.
 *
 * Context: the engine's thread; does not wait for the pages.
 * Return: SOFT_END_WAIT, or SOFT_END_PACED if there is no memory for the request.
 */
enum soft_end soft_dma_get_loose(struct soft_channel *ch, u64 va, u32 len)
{
	const struct soft_place place = soft_space_plain(ch->view, va, true);

	return soft_dma_get(ch, soft_dma_work_loose, &place, len);
}

/**
 * soft_dma_keep() - take the pages that the worker has allocated
 * @exec: execution state of the channel, which has a page to fetch packets into, or bounce
 *        pages, from then on
 * @dma: a request for pages that has succeeded. It has none if they are framebuffer, since the
 *       worker has put those into the store
 * Context: the engine's thread.
 */
void soft_dma_keep(struct soft_exec *exec, const struct vgpu_dma *dma)
{
	unsigned int i;

	for (i = 0; i < dma->nr_vec; i++) {
		struct page **slot = exec->step == SOFT_STEP_NEXT ? &exec->fetch : &exec->bounce[i];

		if (*slot)
			continue;
		*slot = dma->vec[i].bv_page;
		get_page(*slot);
	}
}
