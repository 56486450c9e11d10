// SPDX-License-Identifier: GPL-2.0
/*
 * Execution of packets of all types: a packet is found, read and decoded, waits for its frame's
 * time if it is paced, is executed by its type, and completes. The engine can leave each step and
 * continue it in another run.
 *
 * A guest sees the effects of a packet in this order: data, signal, get, interrupt.
 */
#include <linux/mm.h>

#include "dma.h"
#include "../memory/memory.h"
#include "queues.h"

/*
 * The functions below are the steps of a packet. A step that returns SOFT_END_PACKET is
 * complete, and the next one follows; any other value that a step returns ends soft_exec().
 */

static enum soft_end soft_exec_fault(struct soft_fault *fault, enum vgpu_hw_fault code, u64 addr)
{
	fault->code = code;
	fault->addr = addr;
	return SOFT_END_FAULT;
}

/**
 * soft_exec_cancel() - release what a channel's packet holds, since it will not continue
 * @ch: busy; with or without a packet
 * Context: the engine's thread; may sleep.
 */
void soft_exec_cancel(struct soft_channel *ch)
{
	const struct soft_exec *exec = &ch->exec;

	if ((exec->step == SOFT_STEP_PREPARE || exec->step == SOFT_STEP_BODY) &&
	    exec->packet.desc->cancel)
		exec->packet.desc->cancel(ch);
}

/* Frees the packet types' data for a channel, which is disabled. */
static void soft_exec_drop(struct soft_channel *ch)
{
	const struct soft_packet_desc *types = ch->queues->engine[ch->engine].types;
	unsigned int i;

	for (i = 0; i < VGPU_HW_PKT_END; i++)
		if (types[i].drop)
			types[i].drop(ch);
}

/**
 * soft_exec_exit() - drop the packet that a channel was executing, and all that is kept for others
 * @ch: a channel on which no engine works; its execution state is all zero afterwards
 *
 * A request to guest memory that vgpu_dma_forget() was called for may still use pages of @ch.
 * It has references of its own, and the pages are used for nothing else after it.
 *
 * Context: may sleep.
 */
void soft_exec_exit(struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	unsigned int i;

	soft_exec_drop(ch);
	for (i = 0; i < SOFT_BOUNCE_PAGES; i++)
		if (exec->bounce[i])
			put_page(exec->bounce[i]);
	if (exec->fetch)
		put_page(exec->fetch);
	memset(exec, 0, sizeof(*exec));
}

/* The packet can begin: what its type remembers of it is 0. */
static void soft_exec_begin(struct soft_exec *exec)
{
	exec->step = exec->packet.desc->prepare ? SOFT_STEP_PREPARE : SOFT_STEP_BODY;
}

/* @dma: the request that the preparation has made, if it has completed. */
static enum soft_end soft_exec_prepare(struct soft_channel *ch, const struct vgpu_dma *dma,
				       struct soft_fault *fault)
{
	enum soft_end end = ch->exec.packet.desc->prepare(ch, dma, fault);

	if (end == SOFT_END_PACKET)
		ch->exec.step = SOFT_STEP_BODY;
	return end;
}

static enum soft_end soft_exec_body(struct soft_engine *engine, struct soft_channel *ch,
				    struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	enum soft_end end = SOFT_END_PACKET;

	if (exec->packet.desc->execute)
		end = exec->packet.desc->execute(&engine->lead, ch, fault);
	if (end == SOFT_END_PACKET) {
		exec->step = SOFT_STEP_SIGNAL;
	} else if (end == SOFT_END_AGAIN) {
		soft_exec_begin(exec);
		end = SOFT_END_PACKET;
	}
	return end;
}

static enum soft_end soft_exec_signal_sys(struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	u64 addr = exec->packet.signal_addr;
	const struct soft_place place = soft_space_plain(ch->view, addr, true);
	struct vgpu_dma *dma;

	dma = soft_dma_alloc(ch, &place, true);
	if (!dma)
		return soft_dma_later(ch);
	if (!soft_dma_add_bounce(ch, dma, 8)) {
		vgpu_dma_put(dma);
		return soft_dma_get_loose(ch, addr, 8);
	}
	*(__le64 *)page_address(exec->bounce[0]) = cpu_to_le64(exec->packet.signal_value);
	return soft_dma_submit(ch, dma);
}

static enum soft_end soft_exec_signal(struct soft_channel *ch, struct soft_fault *fault)
{
	struct soft_packet *packet = &ch->exec.packet;
	u64 addr = packet->signal_addr;
	enum soft_end end;
	struct page *page;

	if (!packet->signal)
		return SOFT_END_PACKET;
	if (packet->signal_sys)
		return soft_exec_signal_sys(ch);

	end = soft_dma_find_page(ch, addr, VGPU_HW_PTE_W, &page, fault);
	if (end != SOFT_END_PACKET)
		return end;
	smp_wmb();	/* a guest that sees the signal sees the data */
	WRITE_ONCE(*(__le64 *)(page_address(page) + offset_in_page(addr)),
		   cpu_to_le64(packet->signal_value));
	packet->signal = false;
	return SOFT_END_PACKET;
}

/* Looks for the next packet. Reads put only when all known packets are done. */
static enum soft_end soft_exec_poll(struct soft_channel *ch, struct soft_fault *fault)
{
	u64 put;

	if (ch->put != ch->get)
		return SOFT_END_PACKET;
	put = le64_to_cpu(READ_ONCE(ch->hw->put));
	if (put == ch->get)
		return SOFT_END_EMPTY;
	/* If put has moved backwards, put - get is about 2^64. */
	if (put - ch->get > (u64)ch->ring_mask + 1)
		return soft_exec_fault(fault, VGPU_HW_FAULT_RING, 0);
	smp_rmb();	/* pairs with the submitter's write barrier between packets and put */
	ch->put = put;
	vgpu_packet_submitted(ch->queues->mem->vgpu, ch->engine, ch->index, put);
	return SOFT_END_PACKET;
}

/* Requests packets of a ring in guest memory, up to the ring's end. */
static enum soft_end soft_exec_fetch(struct soft_channel *ch)
{
	struct soft_exec *exec = &ch->exec;
	u32 slot = ch->get & ch->ring_mask;
	u64 addr = ch->ring_addr + (u64)slot * sizeof(struct vgpu_hw_packet);
	const struct soft_place place = soft_space_plain(ch->view, addr, true);
	u64 nr = min_t(u64, ch->put - ch->get, ch->ring_mask + 1 - slot);
	struct vgpu_dma *dma;
	enum soft_end end;

	BUILD_BUG_ON(SOFT_PREFETCH * sizeof(struct vgpu_hw_packet) > PAGE_SIZE);
	if (!exec->fetch)
		exec->fetch = soft_dma_page(ch);
	if (!exec->fetch)
		return soft_dma_get_loose(ch, addr, PAGE_SIZE);
	dma = soft_dma_alloc(ch, &place, false);
	if (!dma)
		return soft_dma_later(ch);

	nr = min_t(u64, nr, SOFT_PREFETCH);
	soft_dma_add(dma, exec->fetch, 0, nr * sizeof(struct vgpu_hw_packet));
	end = soft_dma_submit(ch, dma);
	if (end == SOFT_END_WAIT) {
		exec->step = SOFT_STEP_FETCH;
		exec->fetch_first = ch->get;
		exec->fetch_nr = nr;
	}
	return end;
}

/*
 * Makes a private copy of the packet at get. Each byte is read once: the guest may be changing
 * the packet.
 */
static enum soft_end soft_exec_load(struct soft_channel *ch, struct vgpu_hw_packet *raw,
				    struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	u64 addr = ch->ring_addr + (ch->get & ch->ring_mask) * sizeof(*raw);
	u64 *to = (u64 *)raw;
	enum soft_end end;
	struct page *page;
	const u64 *from;
	unsigned int i;

	if (ch->ring_sys) {
		from = page_address(exec->fetch);
		from += (ch->get - exec->fetch_first) * (sizeof(*raw) / 8);
	} else {
		end = soft_dma_find_page(ch, addr, VGPU_HW_PTE_R, &page, fault);
		if (end != SOFT_END_PACKET)
			return end;
		if (!page) {
			memset(raw, 0, sizeof(*raw));
			return SOFT_END_PACKET;
		}
		from = page_address(page) + offset_in_page(addr);
	}
	for (i = 0; i < sizeof(*raw) / 8; i++)
		to[i] = READ_ONCE(from[i]);
	return SOFT_END_PACKET;
}

static enum soft_end soft_exec_next(struct soft_engine *engine, struct soft_channel *ch,
				    struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	struct soft_limits limits;
	enum soft_end end;

	end = soft_exec_poll(ch, fault);
	if (end != SOFT_END_PACKET)
		return end;
	if (ch->ring_sys && ch->get - exec->fetch_first >= exec->fetch_nr)
		return soft_exec_fetch(ch);

	end = soft_exec_load(ch, &exec->raw, fault);
	if (end != SOFT_END_PACKET)
		return end;
	soft_channel_limits(ch, &limits);
	fault->code = soft_packet_decode(engine->types, &exec->raw, &limits, &exec->packet,
					 &fault->addr);
	if (fault->code)
		return SOFT_END_FAULT;

	exec->answered = false;
	memset(exec->work, 0, sizeof(exec->work));
	if (exec->packet.desc->paced)
		exec->step = SOFT_STEP_PACE;
	else
		soft_exec_begin(exec);
	if (unlikely(READ_ONCE(engine->hang) == exec->raw.type) &&
	    cmpxchg(&engine->hang, exec->raw.type, 0) == exec->raw.type) {
		soft_stop_hang(engine);
		return SOFT_END_STOPPED;
	}
	return SOFT_END_PACKET;
}

/* Asks whether the frame may be shown, until the answer is yes. */
static enum soft_end soft_exec_pace(struct soft_channel *ch)
{
	ch->due_ns = vgpu_present(ch->queues->mem->vgpu);
	if (ch->due_ns)
		return SOFT_END_PACED;
	soft_exec_begin(&ch->exec);
	return SOFT_END_PACKET;
}

/* Sets @fault after the channel's request for framebuffer pages or to guest memory has failed. */
static enum soft_end soft_exec_failed(struct soft_channel *ch, bool work, int result,
				      struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;

	if (!work)
		return soft_exec_fault(fault, result == -ENOMEM ? VGPU_HW_FAULT_MEMORY :
								  VGPU_HW_FAULT_DMA, exec->va);
	if (exec->step == SOFT_STEP_BODY && exec->packet.desc->starved)
		return exec->packet.desc->starved(ch, fault);
	return soft_exec_fault(fault, VGPU_HW_FAULT_MEMORY, exec->va);
}

/* Checks the result of the channel's last request, if it has completed. */
static enum soft_end soft_exec_resume(struct soft_channel *ch, struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	struct vgpu_dma *dma = soft_dma_take(ch);
	enum soft_end end;
	bool work;
	int result;

	if (!dma)
		return SOFT_END_PACKET;
	result = dma->result;
	work = dma->work;
	if (exec->step == SOFT_STEP_PREPARE && result != -ECANCELED) {
		end = soft_exec_prepare(ch, dma, fault);
		vgpu_dma_put(dma);
		return end;
	}
	if (work && !result)
		soft_dma_keep(exec, dma);
	vgpu_dma_put(dma);

	/* The core aborts requests when it is about to stop the vGPU: this is no fault. */
	if (result == -ECANCELED)
		return SOFT_END_WAIT;
	if (result)
		return soft_exec_failed(ch, work, result, fault);
	if (work)
		return SOFT_END_PACKET;

	switch (exec->step) {
	case SOFT_STEP_FETCH:
		exec->step = SOFT_STEP_NEXT;
		break;
	case SOFT_STEP_BODY:
		exec->answered = true;
		break;
	case SOFT_STEP_SIGNAL:
		exec->packet.signal = false;
		break;
	case SOFT_STEP_NEXT:
	case SOFT_STEP_PACE:
	case SOFT_STEP_PREPARE:
		WARN_ON_ONCE(1);
		return soft_exec_fault(fault, VGPU_HW_FAULT_RESET, 0);
	}
	return SOFT_END_PACKET;
}

static void soft_exec_complete(struct soft_channel *ch)
{
	const struct soft_packet *packet = &ch->exec.packet;
	struct vgpu_instance *vgpu = ch->queues->mem->vgpu;
	u64 index = ch->get;

	ch->exec.step = SOFT_STEP_NEXT;
	vgpu_packet_done(vgpu, ch->engine, ch->index, index, packet->type, packet->bytes);
	WRITE_ONCE(ch->get, index + 1);
	smp_wmb();	/* a guest that sees get sees data and signal */
	WRITE_ONCE(ch->hw->get, cpu_to_le64(index + 1));
	if (packet->irq)
		vgpu_raise_irq(vgpu, packet->vector);
}

/**
 * soft_exec() - execute one packet of a channel, or a part of it
 * @engine: the engine that executes it
 * @ch: busy
 * @fault: zeroed; set with SOFT_END_FAULT
 * Context: the engine's thread, during a run; does not wait for memory.
 * Return: how the engine leaves the channel.
 */
enum soft_end soft_exec(struct soft_engine *engine, struct soft_channel *ch,
			struct soft_fault *fault)
{
	struct soft_exec *exec = &ch->exec;
	enum soft_end end;

	engine->lead.view.root = ch->space;
	ch->view = &engine->lead.view;
	end = soft_exec_resume(ch, fault);

	while (end == SOFT_END_PACKET) {
		switch (exec->step) {
		case SOFT_STEP_NEXT:
			end = soft_exec_next(engine, ch, fault);
			break;
		case SOFT_STEP_PACE:
			end = soft_exec_pace(ch);
			break;
		case SOFT_STEP_PREPARE:
			end = soft_exec_prepare(ch, NULL, fault);
			break;
		case SOFT_STEP_BODY:
			end = soft_exec_body(engine, ch, fault);
			break;
		case SOFT_STEP_SIGNAL:
			end = soft_exec_signal(ch, fault);
			if (end == SOFT_END_PACKET) {
				soft_exec_complete(ch);
				return end;
			}
			break;
		case SOFT_STEP_FETCH:	/* its request is under way, or was checked above */
		default:
			WARN_ON_ONCE(1);
			end = soft_exec_fault(fault, VGPU_HW_FAULT_RESET, 0);
		}
	}
	return end;
}
