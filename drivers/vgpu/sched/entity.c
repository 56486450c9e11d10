// SPDX-License-Identifier: GPL-2.0
/*
 * Entities: what may put one on its timeline's queue or take it off, and what
 * others want to know of it. timeline.c says how nothing is lost.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "timeline.h"
#include "trace.h"

/**
 * vgpu_entity_give() - give a queued entity to the policy
 * @entity: which; the policy does not have it
 * @woken:  it was not runnable before
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_entity_give(struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	bool preempt;

	lockdep_assert_held(&tl->lock);
	preempt = rq->policy->enqueue(rq, entity, woken, now_ns);
	trace_vgpu_sched_wake(tl, entity, woken, preempt, now_ns);
	if (preempt)
		vgpu_timeline_preempt_for(tl, now_ns);
}

/**
 * vgpu_entity_enqueue() - queue an entity if it is runnable and is not yet
 * @entity: which
 * @woken:  it was not runnable before
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_entity_enqueue(struct vgpu_entity *entity, bool woken, u64 now_ns)
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
	vgpu_timeline_ask_again(tl);
	vgpu_entity_give(entity, woken, now_ns);
}

/**
 * vgpu_entity_unqueued() - it is off the policy's queue, by dequeue or pick
 * @entity: which
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 * Return: how long it was on it.
 */
u64 vgpu_entity_unqueued(struct vgpu_entity *entity, u64 now_ns)
{
	struct vgpu_entity_stats *stats = &entity->stats;
	struct vgpu_rq *rq = &entity->tl->rq;
	u64 waited_ns = now_ns - entity->ready_ns;

	lockdep_assert_held(&entity->tl->lock);
	entity->queued = false;
	WRITE_ONCE(rq->nr_queued, rq->nr_queued - 1);
	stats->wait_ns += waited_ns;
	stats->max_wait_ns = max(stats->max_wait_ns, waited_ns);
	return waited_ns;
}

/* Ends a section; what changed may be due before the kthread looks again. */
static void entity_unlock(struct vgpu_timeline *tl, unsigned long flags)
	__releases(&tl->lock)
{
	bool kick = vgpu_timeline_needs_kick(tl);

	spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->sched);
}

/**
 * vgpu_entity_init() - let an entity join
 * @entity: its memory, need not be zeroed
 * @tl:     where
 * @id:     whose it is, VGPU_ENTITY_ID_LEN bytes
 * @share:  what it is to get
 *
 * It is not started, held by VGPU_HOLD_STOPPED, with all its statistics 0.
 *
 * Context: process; may sleep.
 */
void vgpu_entity_init(struct vgpu_entity *entity, struct vgpu_timeline *tl,
		      const u8 *id, const struct vgpu_share *share)
{
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;

	memset(entity, 0, sizeof(*entity));
	entity->tl = tl;
	memcpy(entity->id, id, sizeof(entity->id));
	entity->hold = VGPU_HOLD_STOPPED;
	entity->share = *share;

	spin_lock_irqsave(&tl->lock, flags);
	rq->policy->init(rq, entity, ktime_get_ns());
	list_add_tail(&entity->node, &tl->entities);
	tl->nr_entities++;
	spin_unlock_irqrestore(&tl->lock, flags);
}

static void entity_forget_wake(struct vgpu_entity *entity)
{
	if (!entity->wake_ns)
		return;
	rb_erase_cached(&entity->wake_rb, &entity->tl->sleepers);
	entity->wake_ns = 0;
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

	vgpu_entity_stop(entity);
	spin_lock_irqsave(&tl->lock, flags);
	entity_forget_wake(entity);
	tl->rq.policy->exit(&tl->rq, entity);
	list_del(&entity->node);
	tl->nr_entities--;
	/* The next run is a switch nevertheless, as tl->runs is not 0. */
	if (tl->last == entity)
		tl->last = NULL;
	spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_entity_start() - its vGPU's device was opened
 * @entity: held by VGPU_HOLD_STOPPED, which is taken back after
 *
 * From now on policies that share out time to what is started count it.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_start(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	if (entity->started || WARN_ON_ONCE(entity->queued))
		goto out;
	now_ns = ktime_get_ns();
	entity->started = true;
	if (rq->policy->start)
		rq->policy->start(rq, entity, now_ns);
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_timeline_ask_again(tl);
out:
	entity_unlock(tl, flags);
}

/**
 * vgpu_entity_stop() - and closed
 * @entity: which; held by VGPU_HOLD_STOPPED after
 *
 * Waits until it is off the engine.
 *
 * Context: process; sleeps. Not from the engine or ops->reset.
 */
void vgpu_entity_stop(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	vgpu_entity_hold_sync(entity, VGPU_HOLD_STOPPED);
	spin_lock_irqsave(&tl->lock, flags);
	if (!entity->started)
		goto out;
	now_ns = ktime_get_ns();
	entity->started = false;
	if (rq->policy->stop)
		rq->policy->stop(rq, entity, now_ns);
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_timeline_ask_again(tl);
out:
	entity_unlock(tl, flags);
}

/**
 * vgpu_entity_set_share() - change what an entity is to get
 * @entity: which
 * @share:  checked
 *
 * Holds from now on; a run under way keeps its deadline.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_set_share(struct vgpu_entity *entity,
			   const struct vgpu_share *share)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	if (entity->queued)
		rq->policy->dequeue(rq, entity, now_ns);
	if (rq->policy->reshare)
		rq->policy->reshare(rq, entity, share, now_ns);
	entity->share = *share;
	trace_vgpu_sched_share(tl, entity, now_ns);
	if (entity->queued)
		vgpu_entity_give(entity, false, now_ns);
	vgpu_timeline_ask_again(tl);
	entity_unlock(tl, flags);
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

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	entity->hold |= hold;
	if (entity->hold && entity->queued) {
		rq->policy->dequeue(rq, entity, now_ns);
		vgpu_entity_unqueued(entity, now_ns);
	} else if (entity->hold && rq->running == entity) {
		vgpu_timeline_preempt(tl, VGPU_END_HELD, now_ns);
	}
	trace_vgpu_sched_state(tl, entity, now_ns);
	entity_unlock(tl, flags);
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
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	entity->hold &= ~hold;
	trace_vgpu_sched_state(tl, entity, now_ns);
	vgpu_entity_enqueue(entity, true, now_ns);
	entity_unlock(tl, flags);
}

static void entity_wake(struct vgpu_entity *entity, u64 now_ns)
{
	entity->has_work = true;
	if (entity->tl->rq.running == entity)
		entity->rewoken = true;
	else
		vgpu_entity_enqueue(entity, true, now_ns);
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

	spin_lock_irqsave(&tl->lock, flags);
	entity_wake(entity, ktime_get_ns());
	entity_unlock(tl, flags);
}

static bool entity_wakes_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct vgpu_entity, wake_rb)->wake_ns <
	       rb_entry(b, struct vgpu_entity, wake_rb)->wake_ns;
}

/**
 * vgpu_entity_wake_at() - there will be something to do for it at some time
 * @entity:  which
 * @wake_ns: when; if that has passed, now
 *
 * Like vgpu_entity_wake() then, not before. Of several times the earliest
 * counts, and the others are forgotten when it comes: who gave them looks, as the
 * entity runs, what it still waits for. Neither a wake, a run nor a hold before
 * makes a difference to it; a hold that lasts makes the work wait, as always.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_wake_at(struct vgpu_entity *entity, u64 wake_ns)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	if (wake_ns <= now_ns) {
		entity_wake(entity, now_ns);
	} else if (!entity->wake_ns || wake_ns < entity->wake_ns) {
		entity_forget_wake(entity);
		entity->wake_ns = wake_ns;
		rb_add_cached(&entity->wake_rb, &tl->sleepers,
			      entity_wakes_before);
	}
	entity_unlock(tl, flags);
}

/**
 * vgpu_entity_wake_due() - wake those whose time has come
 * @tl:     timeline
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
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
