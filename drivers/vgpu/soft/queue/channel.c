// SPDX-License-Identifier: GPL-2.0
/*
 * Channels: enabled and disabled by the guest's register writes, woken by doorbells, stopped by
 * faults and resets.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/seq_file.h>

#include "../memory/memory.h"
#include "queues.h"
#include "../memory/walk.h"

/* Shows the guest a fault in the channel's page, which there is; a zeroed @fault: none. */
void soft_channel_publish_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos)
{
	struct vgpu_hw_channel *hw = ch->hw;
	unsigned int i;

	WRITE_ONCE(hw->fault_code, cpu_to_le32(fault->code));
	WRITE_ONCE(hw->fault_pos, cpu_to_le64(pos));
	WRITE_ONCE(hw->fault_addr, cpu_to_le64(fault->addr));
	WRITE_ONCE(hw->fault_pc, cpu_to_le64(fault->pc));
	for (i = 0; i < ARRAY_SIZE(hw->fault_id); i++)
		WRITE_ONCE(hw->fault_id[i], cpu_to_le32(fault->id[i]));
}

/* Sets the registers of a fault; a zeroed @fault clears them. */
void soft_channel_note_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	ch->fault_code = fault->code;
	ch->fault_pos = pos;
	ch->fault_addr = fault->addr;
	ch->fault_pc = fault->pc;
	memcpy(ch->fault_id, fault->id, sizeof(ch->fault_id));
}

static void soft_channel_set_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos)
{
	struct soft_queues *queues = ch->queues;

	lockdep_assert_held(&queues->queue_lock);
	soft_channel_note_fault(ch, fault, pos);
	queues->regs.intr |= VGPU_HW_INTR_FAULT;
	queues->regs.fault_channel = ch->index;
	if (ch->hw) {
		soft_channel_publish_fault(ch, fault, pos);
		smp_wmb();	/* a guest that sees FAULTED sees the fault */
	}
	soft_queue_publish(ch, VGPU_HW_STATE_FAULTED);
}

static void soft_channel_report_fault(struct soft_channel *ch, enum vgpu_hw_fault code, u64 pos)
{
	struct vgpu_instance *vgpu = ch->queues->mem->vgpu;

	vgpu_channel_fault(vgpu, ch->engine, ch->index, code, pos);
	vgpu_raise_irq(vgpu, 0);
}

/* Prints a line about a channel for debugfs, unless the channel is disabled. */
void soft_channel_show(struct soft_channel *ch, struct seq_file *m)
{
	static const char * const names[] = {
		[VGPU_HW_STATE_SLEEPING] = "sleeping",
		[VGPU_HW_STATE_AWAKE] = "awake",
		[VGPU_HW_STATE_FAULTED] = "faulted",
	};
	struct soft_queues *queues = ch->queues;

	raw_spin_lock(&queues->queue_lock);
	if (ch->state == VGPU_HW_STATE_DISABLED)
		goto unlock;
	seq_printf(m, "  %u: %s, %s%s, ring at %#llx ", ch->index,
		   queues->engine[ch->engine].desc->name, names[ch->state],
		   ch->stalled ? " (stalled)" : ch->paced ? " (paced)" : "", ch->ring_addr);
	if (ch->space)
		seq_printf(m, "under root %#x", ch->space);
	else
		seq_printf(m, "in %s memory", ch->ring_sys ? "guest" : "own");
	seq_printf(m, ", get %llu, fault %u", READ_ONCE(ch->get), ch->fault_code);
	if (ch->fault_code)
		seq_printf(m, " at %#llx, pc %#llx, work-item %u,%u,%u", ch->fault_addr,
			   ch->fault_pc, ch->fault_id[0], ch->fault_id[1], ch->fault_id[2]);
	seq_putc(m, '\n');
unlock:
	raw_spin_unlock(&queues->queue_lock);
}

/**
 * soft_queues_init() - set up the queues and the channels of a new vGPU
 * @queues: private to the caller; constant fields and nr_channels are set, all others are zero
 * Context: any.
 */
void soft_queues_init(struct soft_queues *queues)
{
	u32 i;

	soft_usage_reset(queues, &queues->regs);
	mutex_init(&queues->config_lock);
	raw_spin_lock_init(&queues->queue_lock);
	rcuwait_init(&queues->wait);
	for (i = 0; i < SOFT_ENGINES; i++) {
		INIT_LIST_HEAD(&queues->queue[i].ready);
		INIT_LIST_HEAD(&queues->queue[i].paced);
		INIT_LIST_HEAD(&queues->queue[i].stalled);
		queues->queue[i].due_ns = U64_MAX;
	}
	for (i = 0; i < queues->nr_channels; i++) {
		queues->channel[i].queues = queues;
		queues->channel[i].index = i;
		INIT_LIST_HEAD(&queues->channel[i].link);
		INIT_LIST_HEAD(&queues->channel[i].waiting);
	}
}

/* Takes a channel off its queue, and asks its engine to leave it. */
static void soft_channel_begin_stop(struct soft_channel *ch)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	WRITE_ONCE(ch->stop, true);
	if (!list_empty(&ch->link))
		soft_queue_del(ch);
	if (ch->stalled)
		soft_queue_stall(ch, false);
}

/* Follows soft_channel_begin_stop() when no engine works on the channel any more. */
static void soft_channel_end_stop(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	struct vgpu_dma *dma;
	struct page *page;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	/* The charge of a run that is over may not have been given, and shown. */
	soft_turn_told_ns(ch);
	soft_queue_publish(ch, VGPU_HW_STATE_DISABLED);
	page = ch->page;
	ch->page = NULL;
	ch->hw = NULL;
	dma = ch->dma;
	ch->dma = NULL;
	ch->dma_done = false;
	WRITE_ONCE(ch->stop, false);
	raw_spin_unlock(&queues->queue_lock);

	/* After this, no request of the channel reaches guest memory. */
	if (dma)
		vgpu_dma_forget(dma);
	soft_exec_exit(ch);
	if (page)
		put_page(page);
}

static bool soft_channel_left(struct soft_channel *ch)
{
	bool left;

	raw_spin_lock(&ch->queues->queue_lock);
	left = !ch->busy;
	raw_spin_unlock(&ch->queues->queue_lock);
	return left;
}

/* Returns when the engine has left the channel, as it does when it looks at ch->stop. */
static void soft_channel_disable(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	if (ch->state == VGPU_HW_STATE_DISABLED) {
		raw_spin_unlock(&queues->queue_lock);
		return;
	}
	soft_channel_begin_stop(ch);
	raw_spin_unlock(&queues->queue_lock);

	soft_queue_wake(queues, ch->engine);
	rcuwait_wait_event(&queues->wait, soft_channel_left(ch), TASK_UNINTERRUPTIBLE);
	soft_channel_end_stop(ch);
}

static enum vgpu_hw_fault soft_channel_latch(struct soft_channel *ch, u32 ctrl)
{
	u32 engine = (ctrl & VGPU_HW_CTRL_ENGINE_MASK) >> VGPU_HW_CTRL_ENGINE_SHIFT;
	u32 order = (ctrl & VGPU_HW_CTRL_ORDER_MASK) >> VGPU_HW_CTRL_ORDER_SHIFT;
	const struct soft_limits limits = {
		.fb_bytes = ch->queues->info->fb_bytes,
		.virt = ch->root,
	};
	enum vgpu_hw_fault code;

	ch->engine = engine < SOFT_ENGINES ? array_index_nospec(engine, SOFT_ENGINES) : 0;
	ch->space = ch->root;
	ch->ring_addr = ch->ring;
	ch->ring_sys = ctrl & VGPU_HW_CTRL_RING_SYS;
	ch->get = 0;
	ch->put = 0;
	ch->empty_ns = 0;
	if (engine >= SOFT_ENGINES)
		return VGPU_HW_FAULT_RING;
	code = soft_ring_check(ch->ring_addr, order, ch->ring_sys, &limits);
	if (code)
		return code;
	if (ch->space && !soft_walk_root_ok(ch->space, limits.fb_bytes))
		return VGPU_HW_FAULT_PAGE;
	ch->ring_mask = (1U << order) - 1;
	return VGPU_HW_FAULT_NONE;
}

/**
 * soft_channel_page() - get a channel's page
 * @ch: the channel
 * Context: config_lock held; sleeps.
 * Return: the page, with a reference; NULL if the charged cgroup is full, or the host had none for
 * some seconds.
 */
struct page *soft_channel_page(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	unsigned long since = 0;
	struct page *page;

	lockdep_assert_held(&queues->config_lock);
	/*
	 * A thread that stops the vGPU ends this loop by @stopping. It then waits for
	 * config_lock, so that no page is dropped during the loop.
	 */
	do {
		page = soft_store_page(&queues->mem->pages, ch->index, SOFT_GFP);
	} while (!page && !READ_ONCE(queues->stopping) &&
		 soft_store_host_short() && vgpu_short_pause(&since));
	if (page)
		get_page(page);
	return page;
}

static void soft_channel_enable(struct soft_channel *ch, u32 ctrl)
{
	struct soft_queues *queues = ch->queues;
	struct soft_fault fault = {};
	struct page *page;

	lockdep_assert_held(&queues->config_lock);
	page = soft_channel_page(ch);
	if (!page)
		fault.code = VGPU_HW_FAULT_MEMORY;

	raw_spin_lock(&queues->queue_lock);
	ch->ctrl = ctrl;
	ch->page = page;
	ch->hw = page ? page_address(page) : NULL;
	soft_channel_note_fault(ch, &fault, 0);
	if (!fault.code) {
		soft_channel_publish_fault(ch, &fault, 0);
		fault.code = soft_channel_latch(ch, ctrl);
		WRITE_ONCE(ch->hw->get, cpu_to_le64(0));
	}
	soft_turn_enable(ch, ktime_get_ns());
	if (fault.code == VGPU_HW_FAULT_ALIGN || fault.code == VGPU_HW_FAULT_ADDRESS ||
	    fault.code == VGPU_HW_FAULT_PAGE)
		fault.addr = ch->ring_addr;
	smp_wmb();	/* a guest that sees the new state sees get at 0 */
	if (fault.code)
		soft_channel_set_fault(ch, &fault, 0);
	else
		soft_queue_publish(ch, VGPU_HW_STATE_SLEEPING);
	raw_spin_unlock(&queues->queue_lock);

	if (fault.code)
		soft_channel_report_fault(ch, fault.code, 0);
}

/**
 * soft_channel_write_ctrl() - do the guest's write to a channel's CTRL register
 * @ch: the channel
 * @ctrl: the value, with no bits set but those of VGPU_HW_CTRL_*
 *
 * A write that disables the channel returns when no engine works on it any more. While the vGPU is
 * being stopped a write counts as one from before the stop, which undoes it: it has no effect.
 *
 * Context: config_lock held; sleeps.
 */
void soft_channel_write_ctrl(struct soft_channel *ch, u32 ctrl)
{
	struct soft_queues *queues = ch->queues;
	u32 old = ch->ctrl;

	lockdep_assert_held(&queues->config_lock);
	if (READ_ONCE(queues->stopping))
		return;
	if (!(ctrl & VGPU_HW_CTRL_ENABLE))
		soft_channel_disable(ch);
	if ((ctrl & VGPU_HW_CTRL_ENABLE) && !(old & VGPU_HW_CTRL_ENABLE)) {
		soft_channel_enable(ch, ctrl);
		return;
	}
	raw_spin_lock(&queues->queue_lock);
	ch->ctrl = ctrl;
	raw_spin_unlock(&queues->queue_lock);
}

/* Wakes a channel whose doorbell the guest has rung. In process context; does not sleep. */
void soft_channel_doorbell(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	unsigned int engine;
	bool ready;

	vgpu_doorbell(queues->mem->vgpu);
	raw_spin_lock(&queues->queue_lock);
	if (ch->state == VGPU_HW_STATE_SLEEPING && !ch->stop && !queues->stopping) {
		ch->empty_ns = 0;
		soft_queue_publish(ch, VGPU_HW_STATE_AWAKE);
		soft_queue_add(ch);
	}
	/* Ringing does not make a paced channel due. */
	ready = !list_empty(&ch->link) && !ch->paced;
	engine = ch->engine;
	raw_spin_unlock(&queues->queue_lock);

	if (ready)
		soft_queue_announce(queues, engine);
}

/**
 * soft_channel_fault() - stop a channel with a fault
 * @ch: busy
 * @fault: why the engine cannot go on with the channel
 * @pos: index of the packet that faults
 * Context: the engine's thread; may sleep.
 */
void soft_channel_fault(struct soft_channel *ch, const struct soft_fault *fault, u64 pos)
{
	struct soft_queues *queues = ch->queues;
	bool stop;

	soft_exec_cancel(ch);
	raw_spin_lock(&queues->queue_lock);
	stop = ch->stop;
	if (!stop)
		soft_channel_set_fault(ch, fault, pos);
	raw_spin_unlock(&queues->queue_lock);

	/* A channel that is being disabled drops its packets, also the one that faults. */
	if (!stop)
		soft_channel_report_fault(ch, fault->code, pos);
}

static bool soft_channel_all_left(struct soft_queues *queues)
{
	bool left = true;
	unsigned int i;

	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++)
		left &= !queues->queue[i].in_run;
	raw_spin_unlock(&queues->queue_lock);
	return left;
}

/**
 * soft_channel_stop_all() - disable all channels and reset their registers
 * @queues: queues of the vGPU. No run begins and no channel is enabled until soft_channel_restart()
 *
 * Returns when no engine works for the vGPU. Another thread that is disabling a channel may hold
 * config_lock while it waits for the engine; so this asks engines to stop before it waits for the
 * lock.
 *
 * Context: sleeps.
 */
void soft_channel_stop_all(struct soft_queues *queues)
{
	const struct soft_fault none = {};
	struct soft_channel *ch;
	struct soft_regs regs;
	u32 i;

	raw_spin_lock(&queues->queue_lock);
	WRITE_ONCE(queues->stopping, true);
	for (i = 0; i < queues->nr_channels; i++) {
		ch = &queues->channel[i];
		if (ch->state != VGPU_HW_STATE_DISABLED)
			soft_channel_begin_stop(ch);
	}
	raw_spin_unlock(&queues->queue_lock);

	for (i = 0; i < SOFT_ENGINES; i++)
		soft_queue_wake(queues, i);

	mutex_lock(&queues->config_lock);
	rcuwait_wait_event(&queues->wait, soft_channel_all_left(queues), TASK_UNINTERRUPTIBLE);
	for (i = 0; i < queues->nr_channels; i++) {
		ch = &queues->channel[i];
		if (ch->state != VGPU_HW_STATE_DISABLED)
			soft_channel_end_stop(ch);
	}

	soft_usage_reset(queues, &regs);
	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < queues->nr_channels; i++) {
		ch = &queues->channel[i];
		ch->ctrl = 0;
		ch->root = 0;
		ch->ring = 0;
		ch->get = 0;
		soft_channel_note_fault(ch, &none, 0);
	}
	queues->regs = regs;
	raw_spin_unlock(&queues->queue_lock);
	mutex_unlock(&queues->config_lock);
}

/* Allows runs and enabled channels again, after the stopped vGPU's memory was dropped. Sleeps. */
void soft_channel_restart(struct soft_queues *queues)
{
	mutex_lock(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	WRITE_ONCE(queues->stopping, false);
	raw_spin_unlock(&queues->queue_lock);
	mutex_unlock(&queues->config_lock);
}
