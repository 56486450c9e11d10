// SPDX-License-Identifier: GPL-2.0
/*
 * The run queue of a timeline: how an entity gets onto the policy's queue, when the engine is asked
 * to stop the running entity, and when the GPU's thread is kicked.
 *
 * Everything happens in short sections under tl->lock, so only the order of these sections matters.
 * Why no wake-up is lost:
 *
 * - An entity with work and without a hold is, at the end of every section, queued or running. A
 *   wake while it runs sets rewoken, which the end of the run turns into work left, whatever the
 *   engine said. A change of policy or share takes queued entities off one queue and puts them on
 *   the other within a section.
 * - If an entity is queued at the end of a section, the engine is busy (and vgpu_timeline_done()
 *   will pick), or is being reset (and the worker picks after that), or the policy said until when
 *   no entity may run (and tl->timer is armed for that, if it is a time); or the thread is kicked.
 *   Whatever may change the policy's mind forgets what it said (vgpu_rq_ask_again()).
 * - An entity that wakes at a time is in tl->sleepers until then, whether it is held, running or
 *   neither: its time counts among the things due.
 * - From the decision to reset an engine until the worker has done it, tl->resetting is the entity,
 *   no entity is put on the engine, nothing of the timeline is due, and the entity cannot leave: a
 *   thread that waits until the entity is off the engine also waits for the reset. Only the worker
 *   ends this state, and then checks all that was not due meanwhile. One reset waits at a time.
 *
 * When the thread is kicked. The thread looks at the timeline by itself at tl->check_ns, which it
 * sets at the end of each of its own sections to when the next thing is due. Any other section
 * may make something due earlier, such as an entity for an idle engine; it ends with
 * vgpu_rq_unlock() or vgpu_rq_kick(), which compare what is due now with check_ns and kick the
 * thread if it would look too late. So code that changes a timeline need not know what the thread
 * has to do about it.
 */
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "timeline.h"
#include "trace.h"

/* An engine that goes on for this long past a run's deadline is asked to stop. */
#define VGPU_GRACE_NS		(500 * 1000ULL)

/* Minimum time between two looks of the thread at an engine that was asked to stop. */
#define VGPU_RECHECK_NS		(500 * 1000ULL)

static u64 rq_engine_due_ns(struct vgpu_timeline *tl)
{
	if (tl->rq.running && tl->preempting)
		return tl->preempt_due_ns;
	if (tl->rq.running)
		return vgpu_clock_real(&tl->clock,
				       min(tl->deadline_ns + VGPU_GRACE_NS, tl->preempt_at_ns));
	/* If the policy said until when no entity may run, tl->timer takes care of that. */
	return tl->rq.nr_queued && !tl->until_ns ? 0 : U64_MAX;
}

/*
 * Returns when the thread must look at a timeline, in real time, perhaps in the past; U64_MAX:
 * never.
 */
u64 vgpu_rq_due_ns(struct vgpu_timeline *tl)
{
	const struct vgpu_entity *entity;
	struct rb_node *first;
	u64 due_ns;

	lockdep_assert_held(&tl->lock);
	if (tl->resetting)
		return U64_MAX;
	due_ns = rq_engine_due_ns(tl);
	first = rb_first_cached(&tl->sleepers);
	if (!first)
		return due_ns;
	entity = rb_entry(first, struct vgpu_entity, wake_rb);
	return min(due_ns, vgpu_clock_real(&tl->clock, entity->wake_ns));
}

/*
 * Kicks the thread if it would look too late. For sections after which the timeline may be freed;
 * otherwise vgpu_rq_unlock() is cheaper, since the thread does not have to wait for the lock.
 */
void vgpu_rq_kick(struct vgpu_timeline *tl)
{
	if (vgpu_rq_due_ns(tl) < tl->check_ns)
		vgpu_sched_kick(tl->thread);
}

/* Ends a section of a timeline that stays, and kicks the thread if it would look too late. */
void vgpu_rq_unlock(struct vgpu_timeline *tl, unsigned long flags) __releases(&tl->lock)
{
	bool kick = vgpu_rq_due_ns(tl) < tl->check_ns;

	raw_spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->thread);
}

/*
 * Called when the policy may decide otherwise than before: forgets a time until which the policy
 * said that no entity may run.
 */
void vgpu_rq_ask_again(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	if (!tl->rq.running)
		tl->until_ns = 0;
}

/* Returns the time between two looks at an engine that was asked to stop. */
static u64 rq_look_ns(struct vgpu_timeline *tl)
{
	return max(tl->timeout_ns / 4, VGPU_RECHECK_NS);
}

/* Asks the engine to stop the running entity, unless it was asked. @why: for the log. */
void vgpu_rq_preempt(struct vgpu_timeline *tl, enum vgpu_ctl_switch_end why, u64 now_ns)
{
	lockdep_assert_held(&tl->lock);
	if (tl->preempting || tl->resetting)
		return;
	WRITE_ONCE(tl->preempting, true);
	tl->preempts++;
	tl->end = why;
	tl->stop_ns = now_ns;
	tl->late_ns = 0;
	tl->preempt_ran_ns = vgpu_timeline_ran_ns(tl, now_ns);
	tl->preempt_due_ns = vgpu_timeline_real_ns(tl, now_ns) + rq_look_ns(tl);
	trace_vgpu_sched_preempt(tl, tl->rq.running, why, now_ns);
	tl->ops->preempt(tl, tl->rq.running);
}

/* Preempts a run that has lasted VGPU_PREEMPT_MIN_NS; else the thread does so at that time. */
static void rq_preempt_for(struct vgpu_timeline *tl, u64 now_ns)
{
	if (!tl->rq.running)
		return;
	if (now_ns >= tl->start_ns + VGPU_PREEMPT_MIN_NS)
		vgpu_rq_preempt(tl, VGPU_END_PREEMPTED, now_ns);
	else
		tl->preempt_at_ns = tl->start_ns + VGPU_PREEMPT_MIN_NS;
}

/*
 * Asks the engine to stop if it went on past the run's deadline, or if the run must be preempted
 * for another entity and has lasted VGPU_PREEMPT_MIN_NS.
 */
void vgpu_rq_preempt_due(struct vgpu_timeline *tl, u64 now_ns)
{
	if (!tl->rq.running)
		return;
	if (now_ns >= tl->deadline_ns + VGPU_GRACE_NS) {
		vgpu_rq_preempt(tl, VGPU_END_SLICE, now_ns);
	} else if (now_ns >= tl->preempt_at_ns) {
		tl->preempt_at_ns = U64_MAX;
		/* The entity that should run may have been held since. */
		if (tl->rq.nr_queued)
			vgpu_rq_preempt(tl, VGPU_END_PREEMPTED, now_ns);
	}
}

/*
 * Whether the engine must be reset: it was asked to stop, was able to work for the timeout and has
 * not stopped. The time is added up from several looks at the engine, each of which counts at most
 * a third of the timeout. Reason: when a software engine gets back a processor that was taken away,
 * it updates its time just before it goes on and stops, and then seems to have worked all the
 * while: in a single look that would seem to be a hang.
 */
bool vgpu_rq_hung(struct vgpu_timeline *tl, u64 now_ns)
{
	u64 real_ns, ran_ns;

	if (!tl->rq.running || tl->resetting || !tl->preempting)
		return false;
	real_ns = vgpu_timeline_real_ns(tl, now_ns);
	if (real_ns < tl->preempt_due_ns)
		return false;
	ran_ns = vgpu_timeline_ran_ns(tl, now_ns);
	tl->late_ns += min(ran_ns - tl->preempt_ran_ns, tl->timeout_ns / 3 + 1);
	tl->preempt_ran_ns = ran_ns;
	tl->preempt_due_ns = real_ns + rq_look_ns(tl);
	return tl->late_ns >= tl->timeout_ns;
}

/* Gives the policy a queued entity that it does not have yet. @woken: it was not runnable. */
void vgpu_rq_give(struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;
	bool preempt;

	lockdep_assert_held(&tl->lock);
	preempt = rq->policy->enqueue(rq, entity, woken, now_ns);
	trace_vgpu_sched_wake(tl, entity, woken, preempt, now_ns);
	if (preempt)
		rq_preempt_for(tl, now_ns);
}

/* Queues an entity if it is runnable and not yet queued. @woken: it was not runnable before. */
void vgpu_rq_enqueue(struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_timeline *tl = entity->tl;
	struct vgpu_rq *rq = &tl->rq;

	lockdep_assert_held(&tl->lock);
	if (entity->queued || entity->hold || !entity->has_work || rq->running == entity)
		return;
	entity->queued = true;
	entity->ready_ns = now_ns;
	WRITE_ONCE(rq->nr_queued, rq->nr_queued + 1);
	vgpu_rq_ask_again(tl);
	vgpu_rq_give(entity, woken, now_ns);
}

/* Records that ->dequeue() or ->pick() took an entity off the queue. Returns its wait in ns. */
u64 vgpu_rq_unqueued(struct vgpu_entity *entity, u64 now_ns)
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
