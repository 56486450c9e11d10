// SPDX-License-Identifier: GPL-2.0
/*
 * Invalidation of address spaces.
 *
 * A translation carries the generation of the vGPU's translations that the unit had seen when it
 * was made. It is invalid once the unit has seen another generation: functions that turn it into a
 * page or a request refuse it. The unit looks for a new generation in soft_stop_wanted(), and notes
 * the one that it has seen. So an invalidation increments the vGPU's generation, and waits until
 * each engine that is in a run of the vGPU has noted it, or has ended the run. Then it
 * cancels requests to guest memory, which last longer, and the channel does that step of its packet
 * again. A picture that is shown is a place in the vGPU's framebuffer, and stays shown.
 */
#include <linux/string.h>

#include "queues.h"

/* Drops the translations of another run. Called in the unit's thread when a run begins. */
void soft_invalidate_begin_run(struct soft_unit *unit)
{
	unit->view.mem = unit->engine->queues->mem;
	memset(&unit->view.tlb, 0, sizeof(unit->view.tlb));
	unit->view.gen = unit->space_gen;
}

/**
 * soft_invalidate_look() - note that translations were invalidated
 * @unit: of an engine in a run; all translations that it has made become invalid
 * Context: the unit's thread; does not sleep.
 */
void soft_invalidate_look(struct soft_unit *unit)
{
	struct soft_queues *queues = unit->engine->queues;
	u32 gen = soft_invalidate_gen(queues);

	unit->view.gen = gen;
	/* Orders all accesses by old translations before the note. */
	smp_store_release(&unit->space_gen, gen);
	rcuwait_wake_up(&queues->wait);
}

/* Outside of a run of the vGPU, what the unit has noted is of another one. With queue_lock held. */
static bool soft_invalidate_looked(struct soft_queues *queues, unsigned int engine)
{
	struct soft_unit *unit = &queues->engine[engine].lead;

	lockdep_assert_held(&queues->queue_lock);
	if (!queues->queue[engine].in_run)
		return true;
	/* Pairs with soft_invalidate_look(). */
	return smp_load_acquire(&unit->space_gen) == queues->space_gen;
}

static bool soft_invalidate_all_looked(struct soft_queues *queues)
{
	bool all = true;
	unsigned int i;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++)
		all &= soft_invalidate_looked(queues, i);
	raw_spin_unlock(&queues->queue_lock);
	return all;
}

/* Increments the generation, and returns when no engine uses a translation of an older one. */
static void soft_invalidate_sync(struct soft_queues *queues)
{
	unsigned int i;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	/* An engine that sees it sees the guest's writes to its tables: soft_invalidate_gen(). */
	smp_store_release(&queues->space_gen, queues->space_gen + 1);
	raw_spin_unlock(&queues->queue_lock);
	/* Engines that rest. */
	for (i = 0; i < SOFT_ENGINES; i++)
		rcuwait_wake_up(&queues->engine[i].lead.wake);
	rcuwait_wait_event(&queues->wait, soft_invalidate_all_looked(queues), TASK_UNINTERRUPTIBLE);
}

/* Makes a channel that waits for guest memory do its step again, with new translations. */
static void soft_invalidate_redo(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	struct vgpu_dma *dma = NULL;
	bool ready;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	/* A request for pages is about a place in the framebuffer, wherever that is mapped. */
	if (ch->stalled && ch->dma && !ch->dma->work) {
		dma = ch->dma;
		ch->dma = NULL;
	}
	raw_spin_unlock(&queues->queue_lock);
	if (!dma)
		return;

	/* Nobody wakes the channel meanwhile, unless the vGPU is being stopped. */
	vgpu_dma_forget(dma);
	raw_spin_lock(&queues->queue_lock);
	ready = soft_queue_unstall(ch);
	raw_spin_unlock(&queues->queue_lock);
	if (ready)
		soft_queue_announce(queues, ch->engine);
}

/**
 * soft_invalidate() - drop the engines' translations of an address space
 * @queues: queues of the vGPU
 * @root: the address space, as in VGPU_HW_CHAN_ROOT
 *
 * Returns when no old translation is in use. That may take as long as disabling a channel.
 *
 * Context: sleeps; killable while a channel is being disabled, which can wait for a lock that the
 * VM's process holds.
 * Return: 0, or -EINTR if the task was killed: nothing was dropped.
 */
int soft_invalidate(struct soft_queues *queues, u32 root)
{
	int ret;
	u32 i;

	ret = mutex_lock_killable(&queues->config_lock);
	if (ret)
		return ret;
	soft_invalidate_sync(queues);
	for (i = 0; root && i < queues->nr_channels; i++)
		if (queues->channel[i].space == root)
			soft_invalidate_redo(&queues->channel[i]);
	mutex_unlock(&queues->config_lock);
	return 0;
}
