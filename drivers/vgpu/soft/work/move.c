// SPDX-License-Identifier: GPL-2.0
/*
 * What FILL and COPY do to memory. Each of their functions can stop after any piece of a row, with
 * the position saved in the channel, and go on in another run.
 *
 * Memory is touched in pieces that lie in one page of each surface. A surface in guest memory is
 * reached by requests of at most VGPU_DMA_MAX bytes; while a request is under way the channel
 * waits, and its engine goes on with other channels. The same holds for pages that cannot be had
 * without waiting.
 */
#include <linux/mm.h>

#include "../memory/memory.h"
#include "../queue/dma.h"
#include "../queue/channel.h"
#include "../queue/engine.h"
#include "move.h"
#include "packet_types.h"

/* What a piece of a row costs beside its bytes and the looks for them: see SOFT_STOP_BYTES. */
#define SOFT_PIECE_WORK		256

/* What a translation must allow. */
#define SOFT_MOVE_TO		(VGPU_HW_PTE_W | VGPU_HW_PTE_SYS)
#define SOFT_MOVE_FROM		(VGPU_HW_PTE_R | VGPU_HW_PTE_SYS)

static struct soft_move *soft_move(struct soft_exec *exec)
{
	return soft_exec_work(exec, struct soft_move);
}

static void soft_move_done(struct soft_exec *exec, u32 len)
{
	soft_move_advance(soft_move(exec), soft_move_operands(&exec->packet), len);
}

static u64 soft_move_dst(struct soft_exec *exec)
{
	const struct soft_move_operands *op = soft_move_operands(&exec->packet);
	struct soft_move *move = soft_move(exec);

	return op->dst + (u64)move->row * op->dst_pitch + move->col;
}

static u64 soft_move_src(struct soft_exec *exec)
{
	const struct soft_move_operands *op = soft_move_operands(&exec->packet);
	struct soft_move *move = soft_move(exec);

	return op->src + (u64)move->row * op->src_pitch + move->col;
}

/* Bytes of the row that are left, as many as one request to guest memory takes. */
static u32 soft_move_chunk(struct soft_exec *exec)
{
	struct soft_move *move = soft_move(exec);

	return min_t(u64, soft_move_operands(&exec->packet)->width - move->col, VGPU_DMA_MAX);
}

/* Where the next byte is. Without a root the address says it, and was checked with the packet. */
static bool soft_move_find(struct soft_channel *ch, u64 va, bool sys, u32 access,
			   struct soft_place *place, struct soft_fault *fault)
{
	if (ch->space)
		return soft_space_find(ch->view, va, access, place, fault);
	*place = soft_space_plain(ch->view, va, sys);
	return true;
}

/* Where to write to. NULL: see soft_space_back(). */
static void *soft_move_page(struct soft_channel *ch, const struct soft_place *place)
{
	struct page *page = soft_space_back(ch->view, place);

	return page ? page_address(page) + offset_in_page(place->addr) : NULL;
}

/* Each bounce page gets the pattern once per packet. */
static bool soft_fill_bounce(struct soft_unit *unit, struct soft_channel *ch,
			     struct vgpu_dma *dma)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	u32 pattern = (__force u32)cpu_to_le32(soft_move_operands(&exec->packet)->value);

	if (!soft_dma_add_bounce(ch, dma, move->chunk))
		return false;
	move->chunk = dma->len;
	for (; move->pattern < DIV_ROUND_UP(move->chunk, PAGE_SIZE); move->pattern++) {
		unit->view.work += PAGE_SIZE;
		memset32(page_address(exec->bounce[move->pattern]), pattern, PAGE_SIZE / 4);
	}
	return true;
}

static enum soft_end soft_fill_guest(struct soft_unit *unit, struct soft_channel *ch,
				     struct soft_place *dst)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	u32 left = soft_move_chunk(exec);
	struct vgpu_dma *dma;

	soft_space_extend(ch->view, SOFT_MOVE_TO, left, dst);
	move->chunk = min_t(u64, left, dst->bytes);
	dma = soft_dma_alloc(ch, dst, true);
	if (!dma)
		return soft_dma_later(ch);
	if (!soft_fill_bounce(unit, ch, dma)) {
		vgpu_dma_put(dma);
		return soft_dma_get_loose(ch, dst->va, move->chunk);
	}
	return soft_dma_submit(ch, dma);
}

/* False: see soft_space_back(). */
static bool soft_fill_piece(struct soft_channel *ch, const struct soft_place *dst, u32 len,
			    u32 value)
{
	struct page *page;
	void *to;

	/* A page that was never touched is zero already. */
	if (!value && soft_space_peek(ch->view, dst, &page) && !page)
		return true;
	to = soft_move_page(ch, dst);
	if (!to)
		return false;
	memset32(to, (__force u32)cpu_to_le32(value), len / 4);
	return true;
}

/**
 * soft_move_fill() - execute a FILL, or a part of it
 * @unit: the unit that executes it
 * @ch: busy, with the packet
 * @fault: set with SOFT_END_FAULT
 * Context: the engine's thread, during a run; does not wait for memory.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_move_fill(struct soft_unit *unit, struct soft_channel *ch,
			     struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	const struct soft_move_operands *op = soft_move_operands(&exec->packet);

	if (exec->answered) {
		exec->answered = false;
		soft_move_done(exec, move->chunk);
	}
	while (move->row < op->rows) {
		struct soft_place dst;
		u32 len;

		if (!soft_move_find(ch, soft_move_dst(exec), op->dst_sys, SOFT_MOVE_TO, &dst,
				    fault))
			return SOFT_END_FAULT;
		if (dst.sys)
			return soft_fill_guest(unit, ch, &dst);

		len = min_t(u64, op->width - move->col, PAGE_SIZE - offset_in_page(dst.addr));
		if (!soft_fill_piece(ch, &dst, len, op->value))
			return soft_dma_get_fb(ch, &dst,
					       min_t(u64, soft_move_chunk(exec), dst.bytes));
		soft_move_done(exec, len);
		if (soft_stop_wanted(unit, ch, len + SOFT_PIECE_WORK))
			return SOFT_END_STOPPED;
	}
	return SOFT_END_PACKET;
}

/*
 * The request that a copy makes next. It reads or writes one range of guest memory; framebuffer may
 * lie anywhere.
 */
static void soft_copy_chunk(struct soft_channel *ch, struct soft_place *dst,
			    struct soft_place *src)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	u64 bytes = move->write_back ? move->chunk : soft_move_chunk(exec);

	if (dst->sys)
		soft_space_extend(ch->view, SOFT_MOVE_TO, bytes, dst);
	if (src->sys)
		soft_space_extend(ch->view, SOFT_MOVE_FROM, bytes, src);
	if (dst->sys)
		bytes = min(bytes, dst->bytes);
	if (src->sys && !move->write_back)
		bytes = min(bytes, src->bytes);
	move->chunk = bytes;
}

/* Guest to guest takes two requests: one reads into the bounce pages, one writes from there. */
static enum soft_end soft_copy_bounce(struct soft_channel *ch, struct soft_place *dst,
				      struct soft_place *src)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	struct vgpu_dma *dma;

	dma = soft_dma_alloc(ch, move->write_back ? dst : src, move->write_back);
	if (!dma)
		return soft_dma_later(ch);
	if (!soft_dma_add_bounce(ch, dma, move->chunk)) {
		vgpu_dma_put(dma);
		return soft_dma_get_loose(ch, dst->va, move->chunk);
	}
	move->chunk = dma->len;
	move->bounced = !move->write_back;
	return soft_dma_submit(ch, dma);
}

static enum soft_end soft_copy_guest(struct soft_channel *ch, struct soft_place *dst,
				     struct soft_place *src)
{
	struct soft_place *local = dst->sys ? src : dst;
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	struct vgpu_dma *dma;
	u32 left;

	soft_copy_chunk(ch, dst, src);
	if (move->write_back || (dst->sys && src->sys))
		return soft_copy_bounce(ch, dst, src);

	dma = soft_dma_alloc(ch, dst->sys ? dst : src, dst->sys);
	if (!dma)
		return soft_dma_later(ch);
	if (!soft_dma_add_fb(ch, dma, move->chunk, local)) {
		left = move->chunk - dma->len;
		vgpu_dma_put(dma);
		return soft_dma_get_fb(ch, local, min_t(u64, left, local->bytes));
	}
	move->chunk = dma->len;
	move->bounced = false;
	return soft_dma_submit(ch, dma);
}

/* The last request has succeeded. */
static void soft_copy_answered(struct soft_exec *exec)
{
	struct soft_move *move = soft_move(exec);

	exec->answered = false;
	move->write_back = move->bounced;
	if (!move->bounced)
		soft_move_done(exec, move->chunk);
}

/* What was never touched is zero already. False if a place is not valid any more. */
static bool soft_copy_zero(struct soft_channel *ch, const struct soft_place *dst, u32 len)
{
	struct page *page;

	if (!soft_space_peek(ch->view, dst, &page))
		return false;
	if (page) {
		soft_store_mark(&ch->view->mem->fb, dst->addr >> PAGE_SHIFT);
		memset(page_address(page) + offset_in_page(dst->addr), 0, len);
	}
	return true;
}

/*
 * False: see soft_space_back(), of the destination. It was found before the source: if it is valid
 * when all has been looked at, so is the source.
 */
static bool soft_copy_piece(struct soft_channel *ch, const struct soft_place *dst,
			    const struct soft_place *src, u32 len)
{
	struct page *page;
	void *to, *from;

	if (!soft_space_peek(ch->view, src, &page))
		return false;
	if (!page)
		return soft_copy_zero(ch, dst, len);
	from = page_address(page) + offset_in_page(src->addr);
	to = soft_move_page(ch, dst);
	if (!to)
		return false;
	if (dst->addr >> PAGE_SHIFT == src->addr >> PAGE_SHIFT)
		memmove(to, from, len);
	else
		memcpy(to, from, len);
	return true;
}

/**
 * soft_move_copy() - execute a COPY, or a part of it
 * @unit: the unit that executes it
 * @ch: busy, with the packet
 * @fault: set with SOFT_END_FAULT
 * Context: the engine's thread, during a run; does not wait for memory.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_move_copy(struct soft_unit *unit, struct soft_channel *ch,
			     struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_move *move = soft_move(exec);
	const struct soft_move_operands *op = soft_move_operands(&exec->packet);

	if (exec->answered)
		soft_copy_answered(exec);
	while (move->row < op->rows) {
		struct soft_place dst, src;
		u32 len;

		if (!soft_move_find(ch, soft_move_dst(exec), op->dst_sys, SOFT_MOVE_TO, &dst,
				    fault) ||
		    !soft_move_find(ch, soft_move_src(exec), op->src_sys, SOFT_MOVE_FROM, &src,
				    fault))
			return SOFT_END_FAULT;
		/* What was read to be written to guest memory is not, if that is not there now. */
		move->write_back &= dst.sys;
		if (dst.sys || src.sys)
			return soft_copy_guest(ch, &dst, &src);

		len = min3(op->width - move->col, PAGE_SIZE - offset_in_page(dst.addr),
			   PAGE_SIZE - offset_in_page(src.addr));
		if (!soft_copy_piece(ch, &dst, &src, len))
			return soft_dma_get_fb(ch, &dst, len);
		soft_move_done(exec, len);
		if (soft_stop_wanted(unit, ch, len + SOFT_PIECE_WORK))
			return SOFT_END_STOPPED;
	}
	return SOFT_END_PACKET;
}
