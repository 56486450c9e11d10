// SPDX-License-Identifier: GPL-2.0
/*
 * Address spaces of channels. Without a root addresses are those of the partition; with one they
 * are translated by the guest's page tables (walk.c).
 *
 * A translation carries the generation of the vGPU's translations that the engine had seen when it
 * was made, and is of no use when the engine has seen another one: whatever makes a page or a
 * request of it refuses it. The engine looks for another one in soft_stop_wanted(), and notes that
 * it has. So an invalidation counts up the vGPU's generation, and waits until each engine that is
 * in a turn of the vGPU has noted it, or its turn is over. A request to
 * guest memory, which lasts longer, is cancelled then, and the channel does that step of its packet
 * again. What a PRESENT shows is a place in the partition, and stays shown.
 */
#include <linux/mm.h>

#include "../card/gpu.h"
#include "../card/instance.h"
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

/* Of a channel that is busy. */
static struct soft_engine *soft_space_engine(const struct soft_channel *ch)
{
	return &ch->inst->gpu->engine[ch->engine];
}

/* @gen: of the translation */
static bool soft_space_walk(struct soft_channel *ch, u64 va, u32 gen, struct soft_walk *walk)
{
	struct soft_engine *engine = soft_space_engine(ch);
	struct soft_instance *inst = ch->inst;
	u64 region = va >> SOFT_WALK_REGION_SHIFT, pte;
	struct soft_tlb_entry *known = &engine->tlb.entry[region % SOFT_TLB];
	enum soft_walk_end end;
	u32 level;

	end = soft_walk_begin(walk, ch->space, va, inst->fb_bytes);
	if (end == SOFT_WALK_MORE && known->root == ch->space && known->region == region &&
	    known->gen == gen) {
		walk->level = known->level;
		end = soft_walk_step(walk, known->pte);
	}
	while (end == SOFT_WALK_MORE) {
		level = walk->level;
		engine->work += SOFT_LOOK_WORK;
		pte = soft_space_read(&inst->fb, walk->at);
		end = soft_walk_step(walk, pte);
		if (level && end != SOFT_WALK_FAULT)
			*known = (struct soft_tlb_entry) {
				.region = region, .root = ch->space, .level = level, .gen = gen,
				.pte = pte,
			};
	}
	return end == SOFT_WALK_LEAF;
}

/* Without a root: the partition. */
static bool soft_space_identity(struct soft_channel *ch, struct soft_place *place)
{
	u64 fb_bytes = ch->inst->fb_bytes;

	if (place->va >= fb_bytes)
		return false;
	place->addr = place->va;
	place->bytes = fb_bytes - place->va;
	place->sys = false;
	return true;
}

/**
 * soft_space_find() - translate an address
 * @ch: busy
 * @va: the address, any number
 * @access: what is wanted, see space.h. Without a root any access is allowed
 * @place: set to where @va leads
 * @fault: set if false is returned
 * Context: the engine's thread, in a turn.
 * Return: false if there is no translation, or none that allows the access.
 */
bool soft_space_find(struct soft_channel *ch, u64 va, u32 access, struct soft_place *place,
		     struct soft_fault *fault)
{
	struct soft_walk walk;

	place->va = va;
	place->gen = soft_space_engine(ch)->space_gen;
	if (!ch->space) {
		if (soft_space_identity(ch, place))
			return true;
		fault->code = VGPU_HW_FAULT_ADDRESS;
		fault->addr = va;
		return false;
	}
	if (!soft_space_walk(ch, va, place->gen, &walk) ||
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
 * @ch: busy
 * @va: the address, which has been checked
 * @sys: it is in guest memory, else in the partition
 * Context: the engine's thread, in a turn.
 * Return: the place.
 */
struct soft_place soft_space_plain(const struct soft_channel *ch, u64 va, bool sys)
{
	return (struct soft_place) {
		.va = va, .addr = va, .bytes = U64_MAX, .sys = sys,
		.gen = soft_space_engine(ch)->space_gen,
	};
}

/**
 * soft_space_valid() - look whether a translation may be used
 * @ch: busy
 * @gen: the translation's, see struct soft_place
 * Context: the engine's thread, in a turn.
 * Return: false if the engine has seen an invalidation since.
 */
bool soft_space_valid(const struct soft_channel *ch, u32 gen)
{
	return soft_space_engine(ch)->space_gen == gen;
}

/**
 * soft_space_look_up() - find what an address in the framebuffer leads to, without an engine
 * @inst: the vGPU
 * @root: the address space; 0: the partition
 * @va: the address, any number
 * @access: what is wanted: VGPU_HW_PTE_R, VGPU_HW_PTE_W or VGPU_HW_PTE_X
 * @addr: set to the offset in the partition, if there is one. The caller sees to it that
 *        invalidations wait for the end of its use
 * Context: the vGPU's worker, with drop_lock held for reading.
 * Return: false if there is no translation, or none that allows the access.
 */
bool soft_space_look_up(struct soft_instance *inst, u32 root, u64 va, u32 access, u64 *addr)
{
	struct soft_walk walk;
	enum soft_walk_end end;

	*addr = va;
	if (!root)
		return va < inst->fb_bytes;
	end = soft_walk_begin(&walk, root, va, inst->fb_bytes);
	while (end == SOFT_WALK_MORE)
		end = soft_walk_step(&walk, soft_space_read(&inst->fb, walk.at));
	if (end == SOFT_WALK_FAULT || access & ~walk.flags || walk.flags & VGPU_HW_PTE_SYS)
		return false;
	*addr = walk.addr;
	return true;
}

/**
 * soft_space_extend() - look how far a place goes on
 * @ch: busy
 * @access: as it was found
 * @bytes: so many are wanted
 * @place: what soft_space_find() has found; its bytes grow to @bytes or more, if so many lie one
 *         after the other
 * Context: the engine's thread, in a turn.
 */
void soft_space_extend(struct soft_channel *ch, u32 access, u64 bytes, struct soft_place *place)
{
	struct soft_fault fault;
	struct soft_place next;

	while (place->bytes < bytes &&
	       soft_space_find(ch, place->va + place->bytes, access, &next, &fault) &&
	       next.sys == place->sys && next.addr == place->addr + place->bytes)
		place->bytes += next.bytes;
}

/**
 * soft_space_peek() - look for the page of a place
 * @ch: busy
 * @place: in the partition
 * @page: set to the page, without a reference; NULL if it was never touched
 * Context: the engine's thread, in a turn.
 * Return: false if @place is not valid any more: the packet's step is to be done again.
 */
bool soft_space_peek(struct soft_channel *ch, const struct soft_place *place, struct page **page)
{
	soft_space_engine(ch)->work += SOFT_LOOK_WORK;
	*page = soft_store_peek(&ch->inst->fb, place->addr >> PAGE_SHIFT);
	return soft_space_valid(ch, place->gen);
}

/**
 * soft_space_back() - likewise, to write to it: a page that was never touched is allocated
 * @ch: busy
 * @place: in the partition
 * Context: the engine's thread, in a turn; does not wait for memory.
 * Return: the page, without a reference; NULL if it cannot be had now, or @place is not valid any
 * more: see soft_dma_get_fb().
 */
struct page *soft_space_back(struct soft_channel *ch, const struct soft_place *place)
{
	struct page *page;

	if (!soft_space_peek(ch, place, &page))
		return NULL;
	if (page)
		return page;
	soft_space_engine(ch)->work += SOFT_FRESH_WORK;
	page = soft_store_page(&ch->inst->fb, place->addr >> PAGE_SHIFT, SOFT_GFP_ENGINE);
	return soft_space_valid(ch, place->gen) ? page : NULL;
}

/* Drops what the engine has kept of another turn. In the engine's thread, at a turn's begin. */
void soft_space_turn(struct soft_engine *engine)
{
	memset(&engine->tlb, 0, sizeof(engine->tlb));
	engine->space_gen = engine->inst->queue[engine->index].space_gen;
}

/**
 * soft_space_look() - note that translations were invalidated
 * @engine: in a turn; none of the translations that it has made is valid from now on
 * Context: the engine's thread; does not sleep.
 */
void soft_space_look(struct soft_engine *engine)
{
	struct soft_instance *inst = engine->inst;
	struct soft_queue *queue = &inst->queue[engine->index];
	u32 gen = soft_space_gen(inst);

	engine->space_gen = gen;
	/* After all that was done by old translations. */
	smp_store_release(&queue->space_gen, gen);
	if (wq_has_sleeper(&inst->wait))
		wake_up_all(&inst->wait);
}

static bool soft_space_all_looked(struct soft_instance *inst)
{
	bool all = true;
	unsigned int i;

	lockdep_assert_held(&inst->config_lock);
	spin_lock(&inst->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++) {
		/* Pairs with soft_space_look(). */
		if (smp_load_acquire(&inst->queue[i].space_gen) != inst->space_gen)
			all &= !inst->queue[i].in_turn;
	}
	spin_unlock(&inst->queue_lock);
	return all;
}

/* Counts up the generation, and returns when no engine uses a translation of an older one. */
static void soft_space_sync(struct soft_instance *inst)
{
	lockdep_assert_held(&inst->config_lock);
	spin_lock(&inst->queue_lock);
	/* Who sees it sees what the guest has written to its tables, see soft_space_gen(). */
	smp_store_release(&inst->space_gen, inst->space_gen + 1);
	spin_unlock(&inst->queue_lock);
	wait_event(inst->wait, soft_space_all_looked(inst));
}

/* Has a channel that waits for guest memory do its step again, with new translations. */
static void soft_space_redo(struct soft_channel *ch)
{
	struct soft_instance *inst = ch->inst;
	struct vgpu_dma *dma = NULL;
	bool ready;

	lockdep_assert_held(&inst->config_lock);
	spin_lock(&inst->queue_lock);
	/* A request for pages is about a place in the partition, wherever that is mapped. */
	if (ch->stalled && ch->dma && !ch->dma->work) {
		dma = ch->dma;
		ch->dma = NULL;
	}
	spin_unlock(&inst->queue_lock);
	if (!dma)
		return;

	/* Nobody wakes the channel meanwhile, unless the vGPU is being stopped. */
	vgpu_dma_forget(dma);
	spin_lock(&inst->queue_lock);
	ready = soft_queue_unstall(ch);
	spin_unlock(&inst->queue_lock);
	if (ready)
		soft_queue_announce(inst, ch->engine);
}

/**
 * soft_space_invalidate() - drop what engines keep of an address space
 * @inst: the vGPU
 * @root: the address space, as VGPU_HW_CHAN_ROOT
 *
 * Returns when nothing works by what page tables said before. That takes as long as it may take to
 * disable a channel.
 *
 * Context: sleeps.
 */
void soft_space_invalidate(struct soft_instance *inst, u32 root)
{
	u32 i;

	mutex_lock(&inst->config_lock);
	soft_space_sync(inst);
	for (i = 0; root && i < inst->nr_channels; i++)
		if (inst->channel[i].space == root)
			soft_space_redo(&inst->channel[i]);
	mutex_unlock(&inst->config_lock);
}
