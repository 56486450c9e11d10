// SPDX-License-Identifier: GPL-2.0
/*
 * What packets do to memory. Each function here executes one type of packet, as the table in
 * packet.c says. It can stop after any piece of a row, with the position saved in the channel,
 * and go on in another turn.
 *
 * Memory is touched in pieces that lie in one page of each surface. A surface in guest memory is
 * reached by requests of at most VGPU_DMA_MAX bytes; while a request is under way the channel
 * waits, and its engine goes on with other channels. The same holds for pages that cannot be had
 * without waiting.
 */
#include <linux/mm.h>

#include "dma.h"
#include "instance.h"

/* What a piece of a row, and a new page, cost beside their bytes: see soft_stop_wanted(). */
#define SOFT_PIECE_WORK		256
#define SOFT_FRESH_WORK		12288

static void soft_move_advance(struct soft_exec *exec, u32 len)
{
	exec->col += len;
	if (exec->col == exec->packet.width) {
		exec->col = 0;
		exec->row++;
	}
}

static u64 soft_move_dst(const struct soft_exec *exec)
{
	return exec->packet.dst + (u64)exec->row * exec->packet.dst_pitch + exec->col;
}

static u64 soft_move_src(const struct soft_exec *exec)
{
	return exec->packet.src + (u64)exec->row * exec->packet.src_pitch + exec->col;
}

/* Bytes of the row that are left, as many as one request to guest memory takes. */
static u32 soft_move_chunk(const struct soft_exec *exec)
{
	return min_t(u64, exec->packet.width - exec->col, VGPU_DMA_MAX);
}

/* Where to write to; adds what a new page costs to @work. NULL: no memory now. */
static void *soft_move_page(struct soft_store *fb, u64 addr, u32 *work)
{
	struct page *page = soft_store_peek(fb, addr >> PAGE_SHIFT);

	if (!page) {
		*work += SOFT_FRESH_WORK;
		page = soft_store_page(fb, addr >> PAGE_SHIFT, SOFT_GFP_ENGINE);
	}
	return page ? page_address(page) + offset_in_page(addr) : NULL;
}

/* The bounce pages hold the pattern once per packet: chunks only get shorter. */
static bool soft_fill_bounce(struct soft_channel *ch, struct vgpu_dma *dma)
{
	struct soft_exec *exec = &ch->exec;
	unsigned int i;

	if (!soft_dma_add_bounce(ch, dma, exec->chunk))
		return false;
	for (i = 0; !exec->pattern && i < DIV_ROUND_UP(exec->chunk, PAGE_SIZE); i++)
		memset32(page_address(exec->bounce[i]),
			 (__force u32)cpu_to_le32(exec->packet.value), PAGE_SIZE / 4);
	exec->pattern = true;
	return true;
}

static enum soft_end soft_fill_guest(struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	u64 dst = soft_move_dst(exec);
	struct vgpu_dma *dma;

	exec->chunk = soft_move_chunk(exec);
	dma = soft_dma_alloc(ch, dst, true);
	if (!dma)
		return soft_dma_later(ch);
	if (!soft_fill_bounce(ch, dma)) {
		vgpu_dma_put(dma);
		return soft_dma_get_loose(ch, dst, exec->chunk);
	}
	return soft_dma_submit(ch, dma);
}

static bool soft_fill_piece(struct soft_store *fb, u64 addr, u32 len, u32 value, u32 *work)
{
	void *to;

	/* A page that was never touched is zero already. */
	if (!value && !soft_store_peek(fb, addr >> PAGE_SHIFT))
		return true;
	to = soft_move_page(fb, addr, work);
	if (!to)
		return false;
	memset32(to, (__force u32)cpu_to_le32(value), len / 4);
	return true;
}

/**
 * soft_move_fill() - execute a FILL, or a part of it
 * @engine: the engine that executes it
 * @ch: busy, with the packet
 * Context: the engine's thread, in a turn; does not wait for memory.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_move_fill(struct soft_engine *engine, struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	const struct soft_packet *packet = &exec->packet;

	if (exec->answered) {
		exec->answered = false;
		soft_move_advance(exec, exec->chunk);
	}
	while (exec->row < packet->rows) {
		u64 dst = soft_move_dst(exec);
		u32 len, work;

		if (packet->dst_sys)
			return soft_fill_guest(ch);

		len = min_t(u64, packet->width - exec->col, PAGE_SIZE - offset_in_page(dst));
		work = len + SOFT_PIECE_WORK;
		if (!soft_fill_piece(&ch->inst->fb, dst, len, packet->value, &work))
			return soft_dma_get_fb(ch, dst, soft_move_chunk(exec));
		soft_move_advance(exec, len);
		if (soft_stop_wanted(engine, ch, work))
			return SOFT_END_STOPPED;
	}
	return SOFT_END_PACKET;
}

/* One request, to the source or to the destination. Guest to guest takes two of them. */
static enum soft_end soft_copy_guest(struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	const struct soft_packet *packet = &exec->packet;
	u64 dst = soft_move_dst(exec), src = soft_move_src(exec);
	bool both = packet->dst_sys && packet->src_sys;
	bool write = both ? exec->write_back : packet->dst_sys;
	u64 guest = write ? dst : src, local = write ? src : dst;
	struct vgpu_dma *dma;
	bool ok;

	exec->chunk = soft_move_chunk(exec);
	dma = soft_dma_alloc(ch, guest, write);
	if (!dma)
		return soft_dma_later(ch);
	ok = both ? soft_dma_add_bounce(ch, dma, exec->chunk) :
		    soft_dma_add_fb(ch, dma, local, exec->chunk);
	if (!ok) {
		vgpu_dma_put(dma);
		return both ? soft_dma_get_loose(ch, local, exec->chunk) :
			      soft_dma_get_fb(ch, local, exec->chunk);
	}
	return soft_dma_submit(ch, dma);
}

/* The last request has succeeded. */
static void soft_copy_answered(struct soft_exec *exec)
{
	exec->answered = false;
	exec->write_back = exec->packet.src_sys && exec->packet.dst_sys && !exec->write_back;
	if (!exec->write_back)
		soft_move_advance(exec, exec->chunk);
}

static bool soft_copy_piece(struct soft_store *fb, u64 dst, u64 src, u32 len, u32 *work)
{
	struct page *page = soft_store_peek(fb, src >> PAGE_SHIFT);
	void *to, *from;

	if (!page) {
		page = soft_store_peek(fb, dst >> PAGE_SHIFT);
		if (page)
			memset(page_address(page) + offset_in_page(dst), 0, len);
		return true;
	}
	from = page_address(page) + offset_in_page(src);
	to = soft_move_page(fb, dst, work);
	if (!to)
		return false;
	if (dst >> PAGE_SHIFT == src >> PAGE_SHIFT)
		memmove(to, from, len);
	else
		memcpy(to, from, len);
	return true;
}

/**
 * soft_move_copy() - execute a COPY, or a part of it
 * @engine: the engine that executes it
 * @ch: busy, with the packet
 * Context: the engine's thread, in a turn; does not wait for memory.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_move_copy(struct soft_engine *engine, struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	const struct soft_packet *packet = &exec->packet;

	if (exec->answered)
		soft_copy_answered(exec);
	while (exec->row < packet->rows) {
		u64 dst = soft_move_dst(exec), src = soft_move_src(exec);
		u32 len, work;

		if (packet->dst_sys || packet->src_sys)
			return soft_copy_guest(ch);

		len = min3(packet->width - exec->col, PAGE_SIZE - offset_in_page(dst),
			   PAGE_SIZE - offset_in_page(src));
		work = len + SOFT_PIECE_WORK;
		if (!soft_copy_piece(&ch->inst->fb, dst, src, len, &work))
			return soft_dma_get_fb(ch, dst, len);
		soft_move_advance(exec, len);
		if (soft_stop_wanted(engine, ch, work))
			return SOFT_END_STOPPED;
	}
	return SOFT_END_PACKET;
}
