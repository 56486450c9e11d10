// SPDX-License-Identifier: GPL-2.0
/*
 * Entities: what may put one on its timeline's queue or take it off, and what
 * others want to know of it. timeline.c says how nothing is lost.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "timeline.h"

/**
 * vgpu_entity_enqueue() - queue an entity if it is runnable and is not yet
 * @entity: which
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_entity_enqueue(struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;

	lockdep_assert_held(&tl->lock);
	if (entity->queued || entity->hold || !entity->has_work ||
	    rq->running == entity)
		return;
	entity->queued = true;
	entity->ready_ns = now_ns;
	WRITE_ONCE(rq->nr_queued, rq->nr_queued + 1);
	if (!rq->running)
		tl->until_ns = 0;
	if (rq->policy->enqueue(rq, entity, now_ns) && rq->running)
		vgpu_timeline_preempt(tl, now_ns);
}

/**
 * vgpu_entity_unqueued() - it is off the policy's queue, by dequeue or pick
 * @entity: which
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_entity_unqueued(struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_entity_stats *stats = &entity->stats;
	struct vgpu_rq *rq = &entity->tl->rq;
	u64 waited_ns = now_ns - entity->ready_ns;

	entity->queued = false;
	WRITE_ONCE(rq->nr_queued, rq->nr_queued - 1);
	stats->wait_ns += waited_ns;
	stats->max_wait_ns = max(stats->max_wait_ns, waited_ns);
}

/**
 * vgpu_entity_init() - let an entity join
 * @entity: its memory, need not be zeroed
 * @tl:     where
 *
 * It starts held by VGPU_HOLD_STOPPED, with all its statistics 0.
 *
 * Context: process; may sleep.
 * Return: 0, or the policy's refusal: @entity has not joined then.
 */
int vgpu_entity_init(struct vgpu_entity *entity, struct vgpu_timeline *tl)
{
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	int ret = 0;

	memset(entity, 0, sizeof(*entity));
	entity->tl = tl;
	entity->hold = VGPU_HOLD_STOPPED;
	INIT_LIST_HEAD(&entity->node);
	RB_CLEAR_NODE(&entity->rb);

	spin_lock_irqsave(&tl->lock, flags);
	if (rq->policy->check)
		ret = rq->policy->check(rq, entity);
	if (!ret) {
		rq->policy->init(rq, entity);
		tl->nr_entities++;
	}
	spin_unlock_irqrestore(&tl->lock, flags);
	return ret;
}

/**
 * vgpu_entity_exit() - an entity leaves
 * @entity: on which no other call is made any more
 *
 * Waits until it is off the engine.
 *
 * Context: process; sleeps.
 */
void vgpu_entity_exit(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;

	vgpu_entity_hold_sync(entity, VGPU_HOLD_STOPPED);
	spin_lock_irqsave(&tl->lock, flags);
	tl->rq.policy->exit(&tl->rq, entity);
	tl->nr_entities--;
	/* The next run is a switch nevertheless, as tl->runs is not 0. */
	if (tl->last == entity)
		tl->last = NULL;
	spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_entity_hold() - keep an entity from running
 * @entity: which
 * @hold:   why, VGPU_HOLD_*; added to the reasons there are
 *
 * If it runs it is asked to stop; see vgpu_entity_hold_sync(). What work it has
 * is not forgotten.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_hold(struct vgpu_entity *entity, unsigned int hold)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;
	bool kick;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	entity->hold |= hold;
	if (entity->hold && entity->queued) {
		rq->policy->dequeue(rq, entity, now_ns);
		vgpu_entity_unqueued(entity, now_ns);
	} else if (entity->hold && rq->running == entity) {
		vgpu_timeline_preempt(tl, now_ns);
	}
	kick = vgpu_timeline_needs_kick(tl);
	spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->sched);
}

static bool entity_is_off(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	bool off;

	spin_lock_irqsave(&tl->lock, flags);
	off = tl->rq.running != entity && tl->resetting != entity;
	spin_unlock_irqrestore(&tl->lock, flags);
	return off;
}

/**
 * vgpu_entity_hold_sync() - keep an entity from running, and wait until it does
 *			     not
 * @entity: which
 * @hold:   why, VGPU_HOLD_*
 *
 * When this returns, and as long as @hold is not taken back, @entity is neither
 * queued nor on the engine, and no reset on its account is going on. Any number
 * of callers may wait at once. Takes as long as the preemption timeout and a
 * reset at most, in the engine's time.
 *
 * Context: process; sleeps. Not from the engine or ops->reset.
 */
void vgpu_entity_hold_sync(struct vgpu_entity *entity, unsigned int hold)
{
	vgpu_entity_hold(entity, hold);
	wait_event(entity->tl->stopped, entity_is_off(entity));
}

/**
 * vgpu_entity_unhold() - take back reasons to hold an entity
 * @entity: which
 * @hold:   VGPU_HOLD_*
 *
 * If it has work and no reason is left it is runnable again.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_unhold(struct vgpu_entity *entity, unsigned int hold)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&tl->lock, flags);
	entity->hold &= ~hold;
	vgpu_entity_enqueue(entity, ktime_get_ns());
	kick = vgpu_timeline_needs_kick(tl);
	spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->sched);
}

/**
 * vgpu_entity_wake() - the engine has, or may have, something to do for it
 * @entity: which
 *
 * Harmless if it is known or not true; must not be left out if it is true.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_wake(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&tl->lock, flags);
	entity->has_work = true;
	if (tl->rq.running == entity)
		entity->rewoken = true;
	else
		vgpu_entity_enqueue(entity, ktime_get_ns());
	kick = vgpu_timeline_needs_kick(tl);
	spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->sched);
}

/**
 * vgpu_entity_account() - work was completed
 * @entity:  whose
 * @packets: how many
 * @bytes:   written by them
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_account(struct vgpu_entity *entity, u64 packets, u64 bytes)
{
	unsigned long flags;

	spin_lock_irqsave(&entity->tl->lock, flags);
	entity->stats.packets += packets;
	entity->stats.bytes += bytes;
	spin_unlock_irqrestore(&entity->tl->lock, flags);
}

/**
 * vgpu_entity_account_fault() - a channel of it has faulted
 * @entity: whose
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_account_fault(struct vgpu_entity *entity)
{
	unsigned long flags;

	spin_lock_irqsave(&entity->tl->lock, flags);
	entity->stats.faults++;
	spin_unlock_irqrestore(&entity->tl->lock, flags);
}

/**
 * vgpu_entity_stats() - what an entity did
 * @entity: which
 * @stats:  set to that, with what it waits now included
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_stats(struct vgpu_entity *entity,
		       struct vgpu_entity_stats *stats)
{
	unsigned long flags;
	u64 waits_ns;

	spin_lock_irqsave(&entity->tl->lock, flags);
	*stats = entity->stats;
	if (entity->queued) {
		waits_ns = ktime_get_ns() - entity->ready_ns;
		stats->wait_ns += waits_ns;
		stats->max_wait_ns = max(stats->max_wait_ns, waits_ns);
	}
	spin_unlock_irqrestore(&entity->tl->lock, flags);
}
