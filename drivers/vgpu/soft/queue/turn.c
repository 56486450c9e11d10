// SPDX-License-Identifier: GPL-2.0
/* Turns: service per channel, and the report of it with the label that the guest has written. */
#include <linux/string.h>

#include "queues.h"

static void soft_turn_give(struct soft_channel *ch, u64 ns)
{
	/* Atomic: a run on another engine, which the channel has left, may not be charged yet. */
	atomic64_add(ns, &ch->service_ns);
}

/**
 * soft_turn_next() - begin a channel's turn, and end that of another one
 * @turn: in a run
 * @ch: the channel; nothing happens if it is its turn already
 * @now_ns: when the turn begins
 * @idle_ns: time without work so far in the run
 * Context: the engine's thread.
 */
void soft_turn_next(struct soft_turn *turn, struct soft_channel *ch, u64 now_ns, u64 idle_ns)
{
	u64 service_ns;

	if (turn->ch == ch)
		return;
	if (turn->ch) {
		service_ns = now_ns - turn->begin_ns - idle_ns;
		soft_turn_give(turn->ch, service_ns - turn->given_ns);
		turn->given_ns = service_ns;
	}
	turn->ch = ch;
}

/**
 * soft_turn_charge() - give the rest of a run's service to the last turn
 * @turn: the run is over
 * @queue: of the engine and the vGPU
 * @ran_ns: service that the core has charged the vGPU for the run
 * Context: a timeline's lock is held; takes no lock.
 */
void soft_turn_charge(const struct soft_turn *turn, struct soft_queue *queue, u64 ran_ns)
{
	struct soft_channel *ch = turn->ch ?: queue->last;

	queue->owed_ns += ran_ns - turn->given_ns;
	if (!ch)
		return;
	soft_turn_give(ch, queue->owed_ns);
	queue->owed_ns = 0;
	queue->last = ch;
}

/* Begins a channel's time since it was enabled. With queue_lock held. */
void soft_turn_enable(struct soft_channel *ch, u64 now_ns)
{
	lockdep_assert_held(&ch->queues->queue_lock);
	ch->enabled_ns = now_ns;
	ch->before_ns = atomic64_read(&ch->service_ns);
}

/* Forgets which channels were enabled, and their service. No engine works for the vGPU. */
void soft_turn_forget(struct soft_queues *queues)
{
	u32 i;

	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++) {
		queues->queue[i].last = NULL;
		queues->queue[i].owed_ns = 0;
	}
	for (i = 0; i < queues->nr_channels; i++) {
		queues->channel[i].enabled_ns = 0;
		queues->channel[i].before_ns = 0;
		atomic64_set(&queues->channel[i].service_ns, 0);
	}
	raw_spin_unlock(&queues->queue_lock);
}

/* The guest may be changing the label: each word of it is read once, and then checked. */
static void soft_turn_label(const struct soft_channel *ch, struct vgpu_ctl_channel *out)
{
	const u64 *from = (const void *)ch->hw + VGPU_HW_LABEL;
	struct vgpu_hw_label label;
	u64 *to = (u64 *)&label;
	unsigned int i;

	BUILD_BUG_ON(sizeof(label) % 8 || sizeof(label.comm) != sizeof(out->comm));
	for (i = 0; i < sizeof(label) / 8; i++)
		to[i] = READ_ONCE(from[i]);
	if (le32_to_cpu(label.magic) != VGPU_HW_LABEL_MAGIC)
		return;
	out->flags |= VGPU_CHANNEL_LABEL;
	out->client = le64_to_cpu(label.client);
	out->pid = le32_to_cpu(label.pid);
	out->uid = le32_to_cpu(label.uid);
	memcpy(out->comm, label.comm, strnlen((const char *)label.comm, sizeof(label.comm)));
}

/**
 * soft_turn_report() - struct vgpu_gpu_ops.channel
 * @ch: the channel
 * @out: zeroed; filled in
 *
 * A channel that is disabled has no label.
 *
 * Context: any; takes queue_lock.
 * Return: false if the channel was not enabled since the vGPU was opened; @out is unchanged.
 */
bool soft_turn_report(struct soft_channel *ch, struct vgpu_ctl_channel *out)
{
	struct soft_queues *queues = ch->queues;

	raw_spin_lock(&queues->queue_lock);
	if (ch->enabled_ns) {
		out->channel = ch->index;
		out->engine = ch->engine;
		out->state = ch->state;
		out->enabled_ns = ch->enabled_ns;
		out->total_busy_ns = atomic64_read(&ch->service_ns);
		out->busy_ns = out->total_busy_ns - ch->before_ns;
		if (ch->hw)
			soft_turn_label(ch, out);
	}
	raw_spin_unlock(&queues->queue_lock);
	return out->enabled_ns;
}
