// SPDX-License-Identifier: GPL-2.0
/*
 * Entities: the calls by which the core tells a timeline that a vGPU's device is opened or closed,
 * that the vGPU may not run for a while, has work, or has another share. runqueue.c queues the
 * entity, and explains why no wake-up is lost.
 */
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/rcuwait.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "timeline.h"
#include "trace.h"

/**
 * vgpu_entity_init() - add an entity to a timeline
 * @entity: memory of the entity, need not be zeroed
 * @tl:     the timeline
 * @id:     the vGPU's UUID, VGPU_ENTITY_ID_LEN bytes; copied
 * @share:  the vGPU's share; checked, copied
 *
 * The entity is not started, is held by VGPU_HOLD_STOPPED and has statistics of 0.
 *
 * Context: process; may sleep.
 */
void vgpu_entity_init(struct vgpu_entity *entity, struct vgpu_timeline *tl, const u8 *id,
		      const struct vgpu_share *share)
{
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;

	memset(entity, 0, sizeof(*entity));
	entity->tl = tl;
	memcpy(entity->id, id, sizeof(entity->id));
	entity->hold = VGPU_HOLD_STOPPED;
	entity->share = *share;
	rcuwait_init(&entity->stopped);

	raw_spin_lock_irqsave(&tl->lock, flags);
	rq->policy->init(rq, entity, vgpu_timeline_now_ns(tl));
	list_add_tail(&entity->node, &tl->entities);
	tl->nr_entities++;
	vgpu_due_forget(entity);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

static void entity_forget_wake(struct vgpu_entity *entity)
{
	if (!entity->wake_ns)
		return;
	rb_erase_cached(&entity->wake_rb, &entity->tl->sleepers);
	entity->wake_ns = 0;
}

/**
 * vgpu_entity_exit() - remove an entity from its timeline
 * @entity: the entity; no other call about it may follow
 *
 * Waits until the entity is off the engine.
 *
 * Context: process; sleeps.
 */
void vgpu_entity_exit(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;

	vgpu_entity_stop(entity);
	raw_spin_lock_irqsave(&tl->lock, flags);
	entity_forget_wake(entity);
	vgpu_account_retire(tl, entity);
	tl->rq.policy->exit(&tl->rq, entity);
	list_del(&entity->node);
	tl->nr_entities--;
	vgpu_due_change(tl);
	/* The next run still counts as a switch, since tl->runs is not 0. */
	if (tl->last == entity)
		tl->last = NULL;
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_entity_start() - tell a timeline that the vGPU's device was opened
 * @entity: held by VGPU_HOLD_STOPPED, which the caller removes afterwards
 *
 * From now on, policies that divide time among started vGPUs count the entity.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_start(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	if (entity->started || WARN_ON_ONCE(entity->queued))
		goto out;
	now_ns = vgpu_timeline_now_ns(tl);
	entity->started = true;
	if (rq->policy->start)
		rq->policy->start(rq, entity, now_ns);
	vgpu_due_forget(entity);
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_rq_ask_again(tl);
out:
	vgpu_rq_unlock(tl, flags);
}

/**
 * vgpu_entity_stop() - tell a timeline that the vGPU's device was closed
 * @entity: on a timeline; held by VGPU_HOLD_STOPPED afterwards
 *
 * Waits until the entity is off the engine.
 *
 * Context: process; sleeps. Not from the engine or ops->reset().
 */
void vgpu_entity_stop(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	vgpu_entity_hold_sync(entity, VGPU_HOLD_STOPPED);
	raw_spin_lock_irqsave(&tl->lock, flags);
	if (!entity->started)
		goto out;
	now_ns = vgpu_timeline_now_ns(tl);
	entity->started = false;
	if (rq->policy->stop)
		rq->policy->stop(rq, entity, now_ns);
	vgpu_due_change(tl);
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_rq_ask_again(tl);
out:
	vgpu_rq_unlock(tl, flags);
}

/**
 * vgpu_entity_set_share() - change a vGPU's share
 * @entity: on a timeline
 * @share:  checked, copied
 *
 * The share holds from now on; the current run keeps its deadline.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_set_share(struct vgpu_entity *entity, const struct vgpu_share *share)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	if (entity->queued)
		rq->policy->dequeue(rq, entity, now_ns);
	if (rq->policy->reshare)
		rq->policy->reshare(rq, entity, share, now_ns);
	entity->share = *share;
	vgpu_due_change(tl);
	trace_vgpu_sched_share(tl, entity, now_ns);
	if (entity->queued)
		vgpu_rq_give(entity, false, now_ns);
	vgpu_rq_ask_again(tl);
	vgpu_rq_unlock(tl, flags);
}

/**
 * vgpu_entity_hold() - keep an entity from running
 * @entity: on a timeline
 * @hold:   reasons, VGPU_HOLD_*; added to the present reasons
 *
 * If the entity is running, this asks the engine to stop it; vgpu_entity_hold_sync() also waits for
 * that. The entity keeps its work.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_hold(struct vgpu_entity *entity, unsigned int hold)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	entity->hold |= hold;
	if (entity->hold && entity->queued) {
		rq->policy->dequeue(rq, entity, now_ns);
		vgpu_rq_unqueued(entity, now_ns);
	} else if (entity->hold && rq->running == entity) {
		vgpu_rq_preempt(tl, VGPU_END_HELD, now_ns);
	}
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_rq_unlock(tl, flags);
}

static bool entity_is_off(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	bool off;

	raw_spin_lock_irqsave(&tl->lock, flags);
	off = tl->rq.running != entity && tl->resetting != entity;
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return off;
}

/**
 * vgpu_entity_hold_sync() - keep an entity from running, and wait until it has stopped
 * @entity: on a timeline
 * @hold:   reasons, VGPU_HOLD_*; added to the present reasons
 *
 * When this returns, and until @hold is removed, @entity is neither queued nor on the engine, and
 * no reset because of it is in progress. Takes at most the preemption timeout plus a reset, in the
 * engine's time.
 *
 * Context: process; sleeps. Not from the engine or ops->reset(). One thread at a time waits for an
 * entity, in this function, vgpu_entity_stop() or vgpu_entity_exit().
 */
void vgpu_entity_hold_sync(struct vgpu_entity *entity, unsigned int hold)
{
	vgpu_entity_hold(entity, hold);
	rcuwait_wait_event(&entity->stopped, entity_is_off(entity), TASK_UNINTERRUPTIBLE);
}

/**
 * vgpu_entity_unhold() - remove reasons to hold an entity
 * @entity: on a timeline
 * @hold:   the reasons to remove, VGPU_HOLD_*
 *
 * If the entity has work and no reason is left, it is runnable again.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_unhold(struct vgpu_entity *entity, unsigned int hold)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	entity->hold &= ~hold;
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_rq_enqueue(entity, true, now_ns);
	vgpu_rq_unlock(tl, flags);
}

static void entity_wake(struct vgpu_entity *entity, u64 now_ns)
{
	entity->has_work = true;
	if (entity->tl->rq.running == entity)
		entity->rewoken = true;
	else
		vgpu_rq_enqueue(entity, true, now_ns);
}

/**
 * vgpu_entity_wake() - tell a timeline that an entity has, or may have, work
 * @entity: on a timeline
 *
 * Calling this twice, or without work, is harmless. Work that the timeline is not told of waits for
 * ever.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_wake(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;

	raw_spin_lock_irqsave(&tl->lock, flags);
	entity_wake(entity, vgpu_timeline_now_ns(tl));
	vgpu_rq_unlock(tl, flags);
}

static bool entity_wakes_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_entity, wake_rb)->wake_ns <
	       rb_entry(b, struct vgpu_entity, wake_rb)->wake_ns;
}

/**
 * vgpu_entity_wake_at() - wake an entity at some time
 * @entity:  on a timeline
 * @wake_ns: when, CLOCK_MONOTONIC; a time that has passed means now
 *
 * The same as vgpu_entity_wake() at that time. The earliest of several times counts, and the others
 * are forgotten when it comes: when the engine then runs the entity, it finds the packets that
 * still wait and sets their times again. A wake, a run or a hold before that time does not cancel
 * it; an entity that is held at that time waits for the end of the hold. A time at which the
 * timeline's clock stands still is that from which it goes on.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_wake_at(struct vgpu_entity *entity, u64 wake_ns)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	wake_ns = vgpu_clock_at(&tl->clock, wake_ns);
	if (wake_ns <= now_ns) {
		entity_wake(entity, now_ns);
	} else if (!entity->wake_ns || wake_ns < entity->wake_ns) {
		entity_forget_wake(entity);
		entity->wake_ns = wake_ns;
		rb_add_cached(&entity->wake_rb, &tl->sleepers, entity_wakes_before);
	}
	vgpu_rq_unlock(tl, flags);
}

/* Wakes the entities whose time has come. The timeline's lock is held. */
void vgpu_entity_wake_due(struct vgpu_timeline *tl, u64 now_ns)
{
	struct vgpu_entity *entity;
	struct rb_node *first;

	lockdep_assert_held(&tl->lock);
	while ((first = rb_first_cached(&tl->sleepers))) {
		entity = rb_entry(first, struct vgpu_entity, wake_rb);
		if (entity->wake_ns > now_ns)
			break;
		entity_forget_wake(entity);
		entity_wake(entity, now_ns);
	}
}
