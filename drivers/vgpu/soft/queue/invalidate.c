// SPDX-License-Identifier: GPL-2.0
/*
 * Invalidation of address spaces.
 *
 * A translation carries the generation of the vGPU's translations that the engine had seen when it
 * was made, and is of no use when the engine has seen another one: whatever makes a page or a
 * request of it refuses it. The engine looks for another one in soft_stop_wanted(), and notes that
 * it has. So an invalidation counts up the vGPU's generation, and waits until each engine that is
 * in a turn of the vGPU has noted it, or its turn is over. A request to guest memory, which lasts
 * longer, is cancelled then, and the channel does that step of its packet again. A picture that is
 * shown is a place in the partition, and stays shown.
 */
#include <linux/string.h>

#include "queues.h"

/* Drops what the engine has kept of another turn. In the engine's thread, at a turn's begin. */
void soft_invalidate_turn(struct soft_engine *engine)
{
	engine->view.mem = engine->queues->mem;
	memset(&engine->view.tlb, 0, sizeof(engine->view.tlb));
	engine->view.gen = engine->queues->queue[engine->index].space_gen;
}

/**
 * soft_invalidate_look() - note that translations were invalidated
 * @engine: in a turn; none of the translations that it has made is valid from now on
 * Context: the engine's thread; does not sleep.
 */
void soft_invalidate_look(struct soft_engine *engine)
{
	struct soft_queues *queues = engine->queues;
	struct soft_queue *queue = &queues->queue[engine->index];
	u32 gen = soft_invalidate_gen(queues);

	engine->view.gen = gen;
	/* After all that was done by old translations. */
	smp_store_release(&queue->space_gen, gen);
	rcuwait_wake_up(&queues->wait);
}

static bool soft_invalidate_all_looked(struct soft_queues *queues)
{
	bool all = true;
	unsigned int i;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < SOFT_ENGINES; i++) {
		/* Pairs with soft_invalidate_look(). */
		if (smp_load_acquire(&queues->queue[i].space_gen) != queues->space_gen)
			all &= !queues->queue[i].in_turn;
	}
	raw_spin_unlock(&queues->queue_lock);
	return all;
}

/* Counts up the generation, and returns when no engine uses a translation of an older one. */
static void soft_invalidate_sync(struct soft_queues *queues)
{
	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	/* Who sees it sees what the guest has written to its tables, see soft_invalidate_gen(). */
	smp_store_release(&queues->space_gen, queues->space_gen + 1);
	raw_spin_unlock(&queues->queue_lock);
	rcuwait_wait_event(&queues->wait, soft_invalidate_all_looked(queues), TASK_UNINTERRUPTIBLE);
}

/* Has a channel that waits for guest memory do its step again, with new translations. */
static void soft_invalidate_redo(struct soft_channel *ch)
{
	struct soft_queues *queues = ch->queues;
	struct vgpu_dma *dma = NULL;
	bool ready;

	lockdep_assert_held(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	/* A request for pages is about a place in the partition, wherever that is mapped. */
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
 * soft_invalidate() - drop what engines keep of an address space
 * @queues: the vGPU's
 * @root: the address space, as VGPU_HW_CHAN_ROOT
 *
 * Returns when nothing works by what page tables said before. That takes as long as it may take to
 * disable a channel.
 *
 * Context: sleeps.
 */
void soft_invalidate(struct soft_queues *queues, u32 root)
{
	u32 i;

	mutex_lock(&queues->config_lock);
	soft_invalidate_sync(queues);
	for (i = 0; root && i < queues->nr_channels; i++)
		if (queues->channel[i].space == root)
			soft_invalidate_redo(&queues->channel[i]);
	mutex_unlock(&queues->config_lock);
}
