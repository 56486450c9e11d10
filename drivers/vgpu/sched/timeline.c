// SPDX-License-Identifier: GPL-2.0
/*
 * A timeline: which entity has the engine, and who is next.
 *
 * Everything happens in short sections under tl->lock, so the order of those
 * is all there is to interleavings. What keeps wake-ups from being lost:
 *
 * - An entity with work and no hold is, at the end of every section, queued or
 *   running. A wake while it runs sets rewoken, which the end of the run turns
 *   into work left, whatever the engine said. A change of policy or share takes
 *   what is queued off one queue and puts it on the other within a section.
 * - If somebody is queued at the end of a section, the engine is busy (its
 *   vgpu_timeline_done() picks), or being reset (the worker picks after), or
 *   the policy said until when nobody may run, and @timer is armed for
 *   that if it is a time; or the kthread is kicked.
 *   Whatever may change the policy's mind forgets what it said
 *   (vgpu_timeline_ask_again()).
 * - An entity that is to be woken at a time is in tl->sleepers until then, held
 *   or not, running or not: its time counts among the things due.
 * - From the moment that an engine is to be reset until the worker is done with
 *   that, tl->resetting is the entity, nobody is put on the engine, nothing of the
 *   timeline is due, and the entity cannot leave: who waits until it is off waits
 *   for that, too. Only the worker ends it, and then looks at all that was not
 *   due. One reset is queued at a time.
 * - check_ns is not later than the next thing due, or the kthread is kicked. It
 *   writes check_ns under the lock before it sleeps until then.
 *
 * What an engine asks while it polls (vgpu_timeline_poll()) is answered without
 * the lock. Such an answer is of a moment ago at worst: the next one, some us
 * later, is of now, and a request to stop reaches the engine by ops->preempt,
 * too.
 */
#include <linux/bug.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list_sort.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../compat.h"
#include "timeline.h"
#include "trace.h"

/* An engine that runs so long past its deadline is asked to stop. */
#define VGPU_GRACE_NS		(500 * 1000ULL)

/* The kthread looks no more often than this at what is late. */
#define VGPU_RECHECK_NS		(500 * 1000ULL)

/*
 * When a policy is asked again that chose nobody until a time that is not to
 * come: it must not make the kthread spin. What is to come is waited for to the
 * ns: a slot that began later each time would cost its owner part of the engine.
 */
#define VGPU_UNTIL_NS		(10 * 1000ULL)

static u64 timeline_engine_due_ns(struct vgpu_timeline *tl)
{
	if (tl->rq.running)
		return tl->preempting ? tl->preempt_due_ns :
					min(tl->deadline_ns + VGPU_GRACE_NS,
					    tl->preempt_at_ns);
	/* A time to come is the timer's. */
	return tl->rq.nr_queued && !tl->until_ns ? 0 : U64_MAX;
}

static u64 timeline_due_ns(struct vgpu_timeline *tl)
{
	u64 due_ns;
	struct rb_node *first;

	lockdep_assert_held(&tl->lock);
	if (tl->resetting)
		return U64_MAX;
	due_ns = timeline_engine_due_ns(tl);
	first = rb_first_cached(&tl->sleepers);
	if (first)
		due_ns = min(due_ns, rb_entry(first, struct vgpu_entity,
					      wake_rb)->wake_ns);
	return due_ns;
}

/**
 * vgpu_timeline_needs_kick() - whether the kthread would look too late
 * @tl: timeline
 *
 * Context: any; the timeline's lock is held.
 * Return: whether to call vgpu_sched_kick().
 */
bool vgpu_timeline_needs_kick(struct vgpu_timeline *tl)
{
	return timeline_due_ns(tl) < tl->check_ns;
}

/**
 * vgpu_timeline_ask_again() - the policy may have changed its mind
 * @tl: timeline
 *
 * If it said that nobody may run until some time, that is forgotten.
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_timeline_ask_again(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	if (!tl->rq.running)
		tl->until_ns = 0;
}

/* How often to look at an engine that was asked to stop. */
static u64 timeline_look_ns(struct vgpu_timeline *tl)
{
	return max(tl->timeout_ns / 4, VGPU_RECHECK_NS);
}

/**
 * vgpu_timeline_preempt() - ask the running entity to stop, unless it was asked
 * @tl:     timeline, on which one runs
 * @why:    for the log
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_timeline_preempt(struct vgpu_timeline *tl,
			   enum vgpu_ctl_switch_end why, u64 now_ns)
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
	tl->preempt_due_ns = now_ns + timeline_look_ns(tl);
	trace_vgpu_sched_preempt(tl, tl->rq.running, why, now_ns);
	tl->ops->preempt(tl, tl->rq.running);
}

/**
 * vgpu_timeline_preempt_for() - the policy wants another one to run
 * @tl:     timeline
 * @now_ns: the time
 *
 * What runs has VGPU_PREEMPT_MIN_NS first; the kthread sees to it then.
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_timeline_preempt_for(struct vgpu_timeline *tl, u64 now_ns)
{
	lockdep_assert_held(&tl->lock);
	if (!tl->rq.running)
		return;
	if (now_ns >= tl->start_ns + VGPU_PREEMPT_MIN_NS)
		vgpu_timeline_preempt(tl, VGPU_END_PREEMPTED, now_ns);
	else
		tl->preempt_at_ns = tl->start_ns + VGPU_PREEMPT_MIN_NS;
}

/* Asks the engine to stop if it is past its deadline, or one is to make way. */
static void timeline_preempt_due(struct vgpu_timeline *tl, u64 now_ns)
{
	if (!tl->rq.running)
		return;
	if (now_ns >= tl->deadline_ns + VGPU_GRACE_NS) {
		vgpu_timeline_preempt(tl, VGPU_END_SLICE, now_ns);
	} else if (now_ns >= tl->preempt_at_ns) {
		tl->preempt_at_ns = U64_MAX;
		/* Who was to run may have been held since. */
		if (tl->rq.nr_queued)
			vgpu_timeline_preempt(tl, VGPU_END_PREEMPTED, now_ns);
	}
}

/*
 * Was it asked to stop and has not, in as much time as it had to work?
 *
 * That time is added up from looks at the engine, of which none counts for more
 * than a third of the timeout. A software engine whose processor was taken away
 * seems to have worked all the while when the account is brought up to date,
 * just before it goes on and stops: once that may look like a hang.
 */
static bool timeline_hung(struct vgpu_timeline *tl, u64 now_ns)
{
	u64 ran_ns;

	if (!tl->preempting || now_ns < tl->preempt_due_ns)
		return false;
	ran_ns = vgpu_timeline_ran_ns(tl, now_ns);
	tl->late_ns += min(ran_ns - tl->preempt_ran_ns, tl->timeout_ns / 3 + 1);
	tl->preempt_ran_ns = ran_ns;
	tl->preempt_due_ns = now_ns + timeline_look_ns(tl);
	return tl->late_ns >= tl->timeout_ns;
}

/* When to ask a policy again that chose nobody. */
static u64 timeline_until_ns(const struct vgpu_pick *pick, u64 now_ns)
{
	if (!pick->until_ns)
		return U64_MAX;
	return pick->until_ns > now_ns ? pick->until_ns : now_ns + VGPU_UNTIL_NS;
}

/* Puts the policy's choice on the idle engine, as far as the timeline goes. */
static struct vgpu_entity *timeline_pick(struct vgpu_timeline *tl, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity;
	struct vgpu_pick pick = {};

	lockdep_assert_held(&tl->lock);
	if (tl->resetting || !rq->nr_queued)
		return NULL;
	entity = rq->policy->pick(rq, now_ns, &pick);
	if (!entity) {
		tl->until_ns = timeline_until_ns(&pick, now_ns);
		if (tl->until_ns < KTIME_MAX)
			hrtimer_start(&tl->timer, ns_to_ktime(tl->until_ns),
				      HRTIMER_MODE_ABS);
		trace_vgpu_sched_none(tl, now_ns);
		return NULL;
	}
	tl->wait_ns = vgpu_entity_unqueued(entity, now_ns);
	vgpu_hist_add(&entity->stats.wait_hist, tl->wait_ns);

	tl->runs++;
	entity->stats.runs++;
	if (tl->last != entity && tl->runs > 1) {
		tl->switches++;
		entity->stats.switches++;
	}
	tl->last = entity;

	rq->running = entity;
	tl->pick.slice_ns = pick.slice_ns;
	WRITE_ONCE(tl->pick.linger_ns, pick.linger_ns);
	WRITE_ONCE(tl->pick.exclusive, pick.exclusive);
	tl->preempt_at_ns = U64_MAX;
	tl->start_ns = now_ns;
	tl->start_ran_ns = vgpu_timeline_ran_ns(tl, now_ns);
	tl->deadline_ns = now_ns + pick.slice_ns;
	trace_vgpu_sched_pick(tl, entity, now_ns);
	return entity;
}

/*
 * With the lock held, as who waits may free the timeline once it has found its
 * entity off it. That takes the lock, too, so who is on the queue too late for
 * waitqueue_active() to see it finds the entity off.
 */
static void timeline_wake_stopped(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	/* No barrier: see above. */
	if (waitqueue_active(&tl->stopped))
		wake_up_all(&tl->stopped);
}

/* The running entity is off the engine: charge it, and queue it if it can. */
static void timeline_end(struct vgpu_timeline *tl, enum vgpu_run_end end,
			 u64 idle_ns, u64 linger_ns, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity = rq->running;
	u64 ran_ns = now_ns - tl->start_ns;

	lockdep_assert_held(&tl->lock);
	idle_ns = min(idle_ns, ran_ns);
	ran_ns -= idle_ns;
	vgpu_account_run(tl, end, ran_ns, idle_ns, min(linger_ns, ran_ns),
			 now_ns);

	rq->running = NULL;
	/* Nothing else ends a run early in which the engine may linger. */
	rq->outlasted = end == VGPU_RUN_IDLE && tl->pick.linger_ns &&
			!tl->preempting && now_ns < tl->deadline_ns;
	WRITE_ONCE(tl->preempting, false);
	rq->policy->charge(rq, entity, ran_ns, now_ns);
	entity->has_work = end == VGPU_RUN_PREEMPTED || entity->rewoken;
	entity->rewoken = false;
	vgpu_entity_enqueue(entity, false, now_ns);

	timeline_wake_stopped(tl);
}

/**
 * vgpu_timeline_done() - an engine is free
 * @tl:          its timeline
 * @end:         how the run ended
 * @idle_ns:     of the run, spent polling with nothing to do: not charged
 * @linger_ns:   of the run, too, but because vgpu_timeline_poll() said so:
 *               charged
 * @deadline_ns: set to the next entity's deadline, if there is one
 *
 * Called by the engine, once for each run, whether it was begun by ops->run or
 * by the return of this. If it says NULL the engine waits for ops->run, which
 * may have come already.
 *
 * Context: any; takes the timeline's lock.
 * Return: the entity to run at once, perhaps the same, or NULL.
 */
struct vgpu_entity *vgpu_timeline_done(struct vgpu_timeline *tl,
				       enum vgpu_run_end end, u64 idle_ns,
				       u64 linger_ns, u64 *deadline_ns)
{
	struct vgpu_entity *next = NULL;
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	if (WARN_ON_ONCE(!tl->rq.running))
		goto out;
	now_ns = ktime_get_ns();
	timeline_end(tl, end, idle_ns, linger_ns, now_ns);
	vgpu_entity_wake_due(tl, now_ns);
	next = timeline_pick(tl, now_ns);
	if (next)
		*deadline_ns = tl->deadline_ns;
	/* Rare, and under the lock: after it the timeline may be gone. */
	if (vgpu_timeline_needs_kick(tl))
		vgpu_sched_kick(tl->sched);
out:
	spin_unlock_irqrestore(&tl->lock, flags);
	return next;
}

/**
 * vgpu_timeline_poll() - what an engine that finds nothing to do is to do
 * @tl:       its timeline
 * @empty_ns: for how long it has found nothing by now
 *
 * Of the moment, so to be asked again and again; takes no lock. Of the run's
 * deadline, which the engine knows, it says nothing.
 *
 * Context: any.
 * Return: enum vgpu_poll.
 */
enum vgpu_poll vgpu_timeline_poll(struct vgpu_timeline *tl, u64 empty_ns)
{
	u64 linger_ns = READ_ONCE(tl->pick.linger_ns);
	bool stay = linger_ns && empty_ns <= linger_ns;

	if (READ_ONCE(tl->preempting))
		return VGPU_POLL_STOP;
	if (!READ_ONCE(tl->rq.nr_queued) || READ_ONCE(tl->pick.exclusive))
		return stay ? VGPU_POLL_WAIT : VGPU_POLL_IDLE;
	return stay ? VGPU_POLL_LINGER : VGPU_POLL_STOP;
}

/* Gives an idle engine work, if the policy has any for it now. */
static void timeline_feed(struct vgpu_timeline *tl, u64 now_ns)
{
	struct vgpu_entity *entity;

	if (tl->rq.running)
		return;
	entity = timeline_pick(tl, now_ns);
	if (entity)
		tl->ops->run(tl, entity, tl->deadline_ns);
}

/*
 * What the policy put off until now begins now, in the interrupt: a slot does not
 * wait until a thread has been woken. A timer that was armed before the policy
 * changed its mind does no harm.
 */
static enum hrtimer_restart timeline_timer(struct hrtimer *timer)
{
	struct vgpu_timeline *tl = container_of(timer, struct vgpu_timeline,
						timer);
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	if (tl->until_ns <= now_ns)
		timeline_feed(tl, now_ns);
	if (vgpu_timeline_needs_kick(tl))
		vgpu_sched_kick(tl->sched);
	spin_unlock_irqrestore(&tl->lock, flags);
	return HRTIMER_NORESTART;
}

/*
 * Resets the engine for @resetting, which stays there meanwhile, and begins what
 * comes after. That takes its time: the timeline's own, and no other's.
 */
static void timeline_reset(struct work_struct *work)
{
	struct vgpu_timeline *tl = container_of(work, struct vgpu_timeline,
						reset_work);
	struct vgpu_entity *entity = tl->resetting;
	unsigned long flags;
	u64 now_ns;

	tl->ops->reset(tl, entity);
	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	tl->resets++;
	entity->stats.resets++;
	/* Unless it ended by itself meanwhile; nobody was put on since. */
	if (tl->rq.running)
		timeline_end(tl, VGPU_RUN_PREEMPTED, 0, 0, now_ns);
	tl->resetting = NULL;
	timeline_wake_stopped(tl);
	vgpu_entity_wake_due(tl, now_ns);
	timeline_feed(tl, now_ns);
	if (vgpu_timeline_needs_kick(tl))
		vgpu_sched_kick(tl->sched);
	spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_timeline_service() - do what is due
 * @tl: timeline
 *
 * Gives an idle engine work, asks one to stop that is past its deadline or to
 * make way, has one reset that was asked and did not, wakes entities.
 *
 * Context: the GPU's kthread only, which serves all engines: does not sleep.
 * Return: when to call it again if it is not kicked before; U64_MAX for never.
 */
u64 vgpu_timeline_service(struct vgpu_timeline *tl)
{
	unsigned long flags;
	u64 now_ns, check_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	timeline_preempt_due(tl, now_ns);
	if (tl->rq.running && !tl->resetting && timeline_hung(tl, now_ns)) {
		tl->resetting = tl->rq.running;
		vgpu_sched_queue(tl->sched, &tl->reset_work);
	}
	vgpu_entity_wake_due(tl, now_ns);
	timeline_feed(tl, now_ns);
	check_ns = timeline_due_ns(tl);
	tl->check_ns = check_ns;
	spin_unlock_irqrestore(&tl->lock, flags);
	return check_ns;
}

/**
 * vgpu_timeline_index() - which of its GPU's timelines
 * @tl: timeline
 *
 * Context: any.
 * Return: the index.
 */
unsigned int vgpu_timeline_index(const struct vgpu_timeline *tl)
{
	return tl->index;
}

/**
 * vgpu_timeline_data() - the ops_data of vgpu_sched_create()
 * @tl: timeline
 *
 * Context: any.
 * Return: that.
 */
void *vgpu_timeline_data(const struct vgpu_timeline *tl)
{
	return tl->ops_data;
}

static int timeline_longer_queued(void *priv, const struct list_head *a,
				  const struct list_head *b)
{
	return list_entry(a, struct vgpu_entity, node)->ready_ns >
	       list_entry(b, struct vgpu_entity, node)->ready_ns;
}

/*
 * Everybody leaves the old policy and joins the new one, as what it is: started,
 * queued, running. They are queued in the order in which they were before, so
 * that nobody loses its turn to a host that changes its mind all the time.
 */
static void timeline_set_policy(struct vgpu_timeline *tl, struct vgpu_rq *next,
				u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity;

	if (rq->running) {
		/* What the old policy let it do is over. */
		WRITE_ONCE(tl->pick.exclusive, false);
		WRITE_ONCE(tl->pick.linger_ns, 0);
		vgpu_timeline_preempt(tl, VGPU_END_CHANGED, now_ns);
	}
	list_for_each_entry(entity, &tl->entities, node)
		if (entity->queued)
			rq->policy->dequeue(rq, entity, now_ns);
	list_for_each_entry(entity, &tl->entities, node) {
		if (entity->started && rq->policy->stop)
			rq->policy->stop(rq, entity, now_ns);
		rq->policy->exit(rq, entity);
	}

	swap(rq->policy, next->policy);
	swap(rq->data, next->data);

	list_sort(NULL, &tl->entities, timeline_longer_queued);
	list_for_each_entry(entity, &tl->entities, node) {
		memset(entity->part, 0, sizeof(entity->part));
		rq->policy->init(rq, entity, now_ns);
		if (entity->started && rq->policy->start)
			rq->policy->start(rq, entity, now_ns);
	}
	list_for_each_entry(entity, &tl->entities, node)
		if (entity->queued)
			vgpu_entity_give(entity, false, now_ns);
}

/**
 * vgpu_timeline_prepare() - get ready for a policy
 * @next:   set up; for vgpu_timeline_set_params() or vgpu_timeline_release()
 * @params: checked
 *
 * Context: process; may sleep.
 * Return: 0 or what the policy says.
 */
int vgpu_timeline_prepare(struct vgpu_rq *next,
			  const struct vgpu_sched_params *params)
{
	memset(next, 0, sizeof(*next));
	next->policy = params->policy;
	next->slice_ns = params->slice_ns;
	next->linger_ns = (u64)params->linger_us * 1000;
	next->nr_slots = params->nr_slots;
	return next->policy->rq_init ? next->policy->rq_init(next) : 0;
}

/**
 * vgpu_timeline_release() - undo vgpu_timeline_prepare()
 * @next: without entities
 *
 * Context: process; may sleep.
 */
void vgpu_timeline_release(struct vgpu_rq *next)
{
	if (next->policy->rq_exit)
		next->policy->rq_exit(next);
}

/**
 * vgpu_timeline_set_params() - other settings
 * @tl:     timeline
 * @params: checked; its nr_slots is that of vgpu_timeline_init()
 * @next:   prepared for another policy, gets the old one's; NULL: the policy
 *          stays
 *
 * What runs keeps its deadline, but makes way for another policy at once.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_timeline_set_params(struct vgpu_timeline *tl,
			      const struct vgpu_sched_params *params,
			      struct vgpu_rq *next)
{
	unsigned long flags;
	u64 now_ns;
	bool kick;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	tl->timeout_ns = (u64)params->preempt_timeout_us * 1000;
	tl->rq.slice_ns = params->slice_ns;
	tl->rq.linger_ns = (u64)params->linger_us * 1000;
	if (params->window_ns != tl->window_ns)
		vgpu_account_set_window(tl, params->window_ns, now_ns);
	if (next)
		timeline_set_policy(tl, next, now_ns);
	trace_vgpu_sched_set(tl, now_ns);
	vgpu_timeline_ask_again(tl);
	kick = vgpu_timeline_needs_kick(tl);
	spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->sched);
}

/**
 * vgpu_timeline_init() - set a timeline up
 * @tl:       zeroed
 * @sched:    whose
 * @index:    which
 * @ops:      the engine
 * @ops_data: its owner's
 * @params:   checked
 *
 * Context: process; may sleep.
 * Return: 0 or what the policy says.
 */
int vgpu_timeline_init(struct vgpu_timeline *tl, struct vgpu_sched *sched,
		       unsigned int index, const struct vgpu_timeline_ops *ops,
		       void *ops_data, const struct vgpu_sched_params *params)
{
	tl->sched = sched;
	tl->index = index;
	tl->ops = ops;
	tl->ops_data = ops_data;
	tl->timeout_ns = (u64)params->preempt_timeout_us * 1000;
	spin_lock_init(&tl->lock);
	init_waitqueue_head(&tl->stopped);
	INIT_LIST_HEAD(&tl->entities);
	tl->sleepers = RB_ROOT_CACHED;
	tl->preempt_at_ns = U64_MAX;
	tl->until_ns = U64_MAX;
	tl->check_ns = U64_MAX;
	tl->created_ns = ktime_get_ns();
	INIT_WORK(&tl->reset_work, timeline_reset);
	hrtimer_setup(&tl->timer, timeline_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
	vgpu_account_set_window(tl, params->window_ns, tl->created_ns);
	return vgpu_timeline_prepare(&tl->rq, params);
}

/**
 * vgpu_timeline_fini() - undo vgpu_timeline_init()
 * @tl: without entities
 *
 * Context: process; may sleep.
 */
void vgpu_timeline_fini(struct vgpu_timeline *tl)
{
	WARN_ON(tl->nr_entities);
	hrtimer_cancel(&tl->timer);
	vgpu_timeline_release(&tl->rq);
}
