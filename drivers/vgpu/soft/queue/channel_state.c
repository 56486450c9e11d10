// SPDX-License-Identifier: GPL-2.0
/*
 * The channels of a paused vGPU: saved as records, and built from records.
 *
 * What an engine can do again is in no record: a request to memory that has not succeeded, the
 * packets that were read ahead of a ring in guest memory, and the pages that hold them. A request
 * that has succeeded has changed memory: that is in the records, and the request is not made again.
 * A frame that the frame-rate limit has held back asks again.
 *
 * All functions have the vGPU paused, its config_lock held, and no trapped access under way: no
 * other thread changes a channel.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>

#include "../memory/memory.h"
#include "../state/records.h"
#include "channel_record.h"
#include "queues.h"

/* Of the steps of a packet that are saved; 0: no packet has been read. */
static u32 soft_channel_step(const struct soft_channel *ch)
{
	const struct soft_exec *exec = &ch->exec;

	switch (exec->step) {
	case SOFT_STEP_NEXT:
	case SOFT_STEP_FETCH:
		return 0;
	case SOFT_STEP_PACE:
		return SOFT_RECORD_PACE;
	case SOFT_STEP_PREPARE:
		return SOFT_RECORD_PREPARE;
	case SOFT_STEP_BODY:
		return exec->packet.desc->begun && !exec->packet.desc->begun(ch) ?
		       SOFT_RECORD_PREPARE : SOFT_RECORD_BODY;
	case SOFT_STEP_SIGNAL:
		return SOFT_RECORD_SIGNAL;
	}
	return 0;
}

/* Whether the channel's request to guest memory has succeeded, and nobody has noted that so far. */
static bool soft_channel_answered(const struct soft_channel *ch)
{
	return ch->dma_done && !ch->dma->work && !ch->dma->result;
}

static void soft_channel_save_packet(const struct soft_channel *ch, struct vgpu_records *to)
{
	const struct soft_exec *exec = &ch->exec;
	const struct soft_packet_desc *desc = exec->packet.desc;
	u32 step = soft_channel_step(ch);
	bool answered = soft_channel_answered(ch);
	struct soft_packet_record *record;

	if (ch->state != VGPU_HW_STATE_AWAKE || !step)
		return;
	record = vgpu_record_add(to, SOFT_RECORD_PACKET, sizeof(*record));
	if (!record)
		return;
	record->raw = exec->raw;
	record->step = cpu_to_le32(step);
	record->signal = cpu_to_le32(exec->packet.signal &&
				     !(step == SOFT_RECORD_SIGNAL && answered));
	if (step == SOFT_RECORD_BODY && desc->put_aside)
		desc->put_aside(ch, answered || exec->answered, to);
}

static void soft_channel_save_ring(struct soft_channel *ch, struct soft_channel_record *record)
{
	raw_spin_lock(&ch->queues->queue_lock);
	record->service_ns = cpu_to_le64(soft_turn_told_ns(ch));
	raw_spin_unlock(&ch->queues->queue_lock);
	record->engine = cpu_to_le32(ch->engine);
	record->space = cpu_to_le32(ch->space);
	record->ring_addr = cpu_to_le64(ch->ring_addr);
	record->ring_sys = cpu_to_le32(ch->ring_sys);
	if (ch->state == VGPU_HW_STATE_FAULTED)
		return;
	record->ring_order = cpu_to_le32(ilog2(ch->ring_mask + 1));
	record->put = cpu_to_le64(ch->put);
}

static void soft_channel_save(struct soft_channel *ch, struct vgpu_records *to)
{
	struct soft_channel_record *record;
	unsigned int i;

	/* As after a reset. */
	if (!ch->ctrl && !ch->ring && !ch->root && !ch->get && !ch->fault_code)
		return;
	record = vgpu_record_add(to, SOFT_RECORD_CHANNEL, sizeof(*record));
	if (!record)
		return;
	record->index = cpu_to_le32(ch->index);
	record->ctrl = cpu_to_le32(ch->ctrl);
	record->ring = cpu_to_le64(ch->ring);
	record->root = cpu_to_le32(ch->root);
	record->state = cpu_to_le32(ch->state);
	record->get = cpu_to_le64(ch->get);
	record->fault_code = cpu_to_le32(ch->fault_code);
	record->fault_pos = cpu_to_le64(ch->fault_pos);
	record->fault_addr = cpu_to_le64(ch->fault_addr);
	record->fault_pc = cpu_to_le64(ch->fault_pc);
	for (i = 0; i < ARRAY_SIZE(record->fault_id); i++)
		record->fault_id[i] = cpu_to_le32(ch->fault_id[i]);
	if (ch->state == VGPU_HW_STATE_DISABLED)
		return;
	soft_channel_save_ring(ch, record);
	soft_channel_save_packet(ch, to);
}

/**
 * soft_channel_save_all() - save all channels
 * @queues: queues of the vGPU; they stay as they are
 * @to: add the records there
 * Context: sleeps.
 */
void soft_channel_save_all(struct soft_queues *queues, struct vgpu_records *to)
{
	u32 i;

	lockdep_assert_held(&queues->config_lock);
	for (i = 0; i < queues->nr_channels; i++)
		soft_channel_save(&queues->channel[i], to);
}

/* Takes a channel off its queue, and gives up what an engine and the worker have done for it. */
static void soft_channel_leave(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	struct vgpu_dma *dma;

	raw_spin_lock(&queues->queue_lock);
	WARN_ON_ONCE(ch->busy);
	if (!list_empty(&ch->link))
		soft_queue_del(ch);
	if (ch->stalled)
		soft_queue_stall(ch, false);
	dma = ch->dma;
	ch->dma = NULL;
	ch->dma_done = false;
	raw_spin_unlock(&queues->queue_lock);

	if (dma)
		vgpu_dma_forget(dma);
	if (ch->state != VGPU_HW_STATE_DISABLED)
		soft_exec_exit(ch);
}

/**
 * soft_channel_leave_all() - give up what engines have done for packets that have not completed
 * @queues: queues of the vGPU. No channel goes on until soft_channel_load_all() or a reset;
 *          registers and channel pages stay as they are until then
 * Context: sleeps.
 */
void soft_channel_leave_all(struct soft_queues *queues)
{
	u32 i;

	lockdep_assert_held(&queues->config_lock);
	for (i = 0; i < queues->nr_channels; i++)
		soft_channel_leave(&queues->channel[i]);
}

/* The packet begins where its record says. The channel has been latched. */
static int soft_channel_load_packet(struct soft_channel *ch, struct vgpu_record_reader *from)
{
	static const enum soft_step steps[SOFT_RECORD_STEPS] = {
		[SOFT_RECORD_PACE] = SOFT_STEP_PACE,
		[SOFT_RECORD_PREPARE] = SOFT_STEP_PREPARE,
		[SOFT_RECORD_BODY] = SOFT_STEP_BODY,
		[SOFT_RECORD_SIGNAL] = SOFT_STEP_SIGNAL,
	};
	struct soft_exec *exec = &ch->exec;
	struct soft_packet_record record;
	struct soft_packet packet;
	struct soft_limits limits;
	const char *field;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_PACKET, "packet", &record, signal);
	if (ret)
		return ret;
	if (ch->state != VGPU_HW_STATE_AWAKE || ch->put == ch->get)
		return vgpu_record_refuse(from, "packet", "channel");
	soft_channel_limits(ch, &limits);
	field = soft_packet_record_check(&record, ch->queues->engine[ch->engine].types, &limits,
					 &packet);
	if (field)
		return vgpu_record_refuse(from, "packet", field);
	exec->raw = record.raw;
	exec->packet = packet;
	exec->step = steps[le32_to_cpu(record.step)];
	if (exec->step == SOFT_STEP_BODY && packet.desc->bring_back)
		return packet.desc->bring_back(ch, from);
	return 0;
}

/* Shows the guest what the record has of the channel; a zeroed @record is a channel after reset. */
static void soft_channel_set(struct soft_channel *ch, const struct soft_channel_record *record,
			     struct page *page)
{
	struct soft_fault fault = {
		.code = le32_to_cpu(record->fault_code),
		.addr = le64_to_cpu(record->fault_addr),
		.pc = le64_to_cpu(record->fault_pc),
	};
	struct soft_queues *queues = ch->queues;
	u64 pos = le64_to_cpu(record->fault_pos);
	u32 state = le32_to_cpu(record->state);
	struct page *old = ch->page;
	bool disabled;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fault.id); i++)
		fault.id[i] = le32_to_cpu(record->fault_id[i]);
	raw_spin_lock(&queues->queue_lock);
	disabled = ch->state == VGPU_HW_STATE_DISABLED;
	ch->ctrl = le32_to_cpu(record->ctrl);
	ch->root = le32_to_cpu(record->root);
	ch->ring = le64_to_cpu(record->ring);
	/* The host goes on to show the service of a disabled channel on the engine that it had. */
	if (state != VGPU_HW_STATE_DISABLED)
		ch->engine = array_index_nospec(le32_to_cpu(record->engine), SOFT_ENGINES);
	ch->space = le32_to_cpu(record->space);
	ch->ring_addr = le64_to_cpu(record->ring_addr);
	ch->ring_mask = (1U << le32_to_cpu(record->ring_order)) - 1;
	ch->ring_sys = le32_to_cpu(record->ring_sys);
	WRITE_ONCE(ch->get, le64_to_cpu(record->get));
	ch->put = le64_to_cpu(record->put);
	ch->empty_ns = 0;
	ch->due_ns = 0;
	ch->page = page;
	ch->hw = page ? page_address(page) : NULL;
	soft_channel_note_fault(ch, &fault, pos);
	if (page) {
		WRITE_ONCE(ch->hw->get, record->get);
		soft_channel_publish_fault(ch, &fault, pos);
	}
	soft_queue_publish(ch, state);
	/* Times are those of the host: a channel that was enabled there has them already. */
	if (ch->state != VGPU_HW_STATE_DISABLED && disabled)
		soft_turn_enable(ch, ktime_get_ns());
	if (ch->state != VGPU_HW_STATE_DISABLED)
		soft_turn_move(ch, le64_to_cpu(record->service_ns));
	raw_spin_unlock(&queues->queue_lock);
	if (old)
		put_page(old);
}

static int soft_channel_load(struct soft_queues *queues, struct vgpu_record_reader *from, u32 *next)
{
	const struct soft_channel_bounds bounds = {
		.nr_channels = queues->nr_channels,
		.nr_engines = SOFT_ENGINES,
		.fb_bytes = queues->info->fb_bytes,
	};
	struct soft_channel_record record;
	struct page *page = NULL;
	struct soft_channel *ch;
	const char *field;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_CHANNEL, "channel", &record, fault_pc);
	if (ret)
		return ret;
	field = soft_channel_record_check(&record, &bounds);
	if (!field && le32_to_cpu(record.index) < *next)
		field = "order";
	if (field)
		return vgpu_record_refuse(from, "channel", field);
	*next = array_index_nospec(le32_to_cpu(record.index), queues->nr_channels);
	ch = &queues->channel[*next];
	if (le32_to_cpu(record.state) != VGPU_HW_STATE_DISABLED) {
		page = soft_channel_page(ch);
		/* Want of this page may be why the channel has faulted. */
		if (!page && le32_to_cpu(record.state) != VGPU_HW_STATE_FAULTED)
			return -ENOMEM;
	}
	soft_channel_set(ch, &record, page);
	if (from->type == SOFT_RECORD_PACKET)
		ret = soft_channel_load_packet(ch, from);
	if (ret || ch->state != VGPU_HW_STATE_AWAKE)
		return ret;
	raw_spin_lock(&queues->queue_lock);
	soft_queue_add(ch);
	raw_spin_unlock(&queues->queue_lock);
	return 0;
}

static void soft_channel_reset_some(struct soft_queues *queues, u32 first, u32 end)
{
	static const struct soft_channel_record none;

	for (; first < end; first++)
		soft_channel_set(&queues->channel[first], &none, NULL);
}

/**
 * soft_channel_load_all() - build all channels from their records
 * @queues: queues of the vGPU, after soft_channel_leave_all()
 * @from: the records of channels come next; afterwards what comes after them
 *
 * A channel changes at once from what it was to what the records say; one that they do not have is
 * as after a reset. Channels that are AWAKE wait for their engine, see soft_channel_announce_all().
 *
 * Context: sleeps.
 * Return: 0; -EINVAL with the reason in @from, or -ENOMEM: then the vGPU must be reset.
 */
int soft_channel_load_all(struct soft_queues *queues, struct vgpu_record_reader *from)
{
	u32 next = 0, index;
	int ret;

	lockdep_assert_held(&queues->config_lock);
	while (from->type == SOFT_RECORD_CHANNEL) {
		index = next;
		ret = soft_channel_load(queues, from, &index);
		if (ret)
			return ret;
		soft_channel_reset_some(queues, next, index);
		next = index + 1;
	}
	soft_channel_reset_some(queues, next, queues->nr_channels);
	return 0;
}

/**
 * soft_channel_announce_all() - tell the core which engines have work after a load
 * @queues: queues of the vGPU
 * Context: without config_lock, unlike the others; does not sleep.
 */
void soft_channel_announce_all(struct soft_queues *queues)
{
	unsigned int i;

	for (i = 0; i < SOFT_ENGINES; i++)
		if (READ_ONCE(queues->queue[i].nr_ready))
			soft_queue_announce(queues, i);
}
