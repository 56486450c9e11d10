// SPDX-License-Identifier: GPL-2.0
/*
 * A timeline: which entity runs on the engine, and which is next. runqueue.c explains why no
 * wake-up is lost.
 *
 * A decision is made in the context where it is due: by the engine that has ended a run
 * (vgpu_timeline_done()), by the timer if the policy said until when no entity may run, by the
 * worker after a reset, and otherwise by the GPU's thread (vgpu_timeline_service()). All of them
 * call timeline_pick() under the lock.
 *
 * An engine that polls gets its answers without the lock (vgpu_timeline_poll()). Such an answer may
 * be slightly out of date: the engine asks again some us later, and ops->preempt() also tells it to
 * stop.
 */
#include <linux/bug.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/list_sort.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/rcuwait.h>
#include <linux/string.h>

#include "../compat.h"
#include "timeline.h"
#include "trace.h"

/*
 * Time after which a policy is asked again that picked no entity until a time that has passed, so
 * that it does not make the thread spin. A time in the future is kept to the ns: a slot that began
 * later each time would cost its owner part of the engine.
 */
#define VGPU_UNTIL_NS		(10 * 1000ULL)

/* Returns when to ask a policy again that picked no entity. */
static u64 timeline_until_ns(const struct vgpu_pick *pick, u64 now_ns)
{
	if (!pick->until_ns)
		return U64_MAX;
	return pick->until_ns > now_ns ? pick->until_ns : now_ns + VGPU_UNTIL_NS;
}

/* Asks the policy for the next entity, and makes it the running one of the idle engine. */
static struct vgpu_entity *timeline_pick(struct vgpu_timeline *tl, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity;
	struct vgpu_pick pick = {};
	u64 real_ns;

	lockdep_assert_held(&tl->lock);
	if (tl->resetting || !rq->nr_queued)
		return NULL;
	entity = rq->policy->pick(rq, now_ns, &pick);
	if (!entity) {
		tl->until_ns = timeline_until_ns(&pick, now_ns);
		real_ns = vgpu_clock_real(&tl->clock, tl->until_ns);
		if (real_ns < KTIME_MAX)
			hrtimer_start(&tl->timer, ns_to_ktime(real_ns), HRTIMER_MODE_ABS_HARD);
		trace_vgpu_sched_none(tl, now_ns);
		return NULL;
	}
	tl->wait_ns = vgpu_rq_unqueued(entity, now_ns);
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

/* Starts a run on an idle engine, if the policy has an entity for it now. */
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
 * Called by the GPU's thread, which serves all engines; does not sleep. Asks the engine to stop an
 * entity that is past its deadline or is preempted, queues a reset of an engine that did not stop
 * when asked to, wakes entities whose time has come, and starts a run on an idle engine. Returns
 * when to call this again without a kick, in real time; U64_MAX: never.
 */
u64 vgpu_timeline_service(struct vgpu_timeline *tl)
{
	unsigned long flags;
	u64 now_ns, check_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	vgpu_rq_preempt_due(tl, now_ns);
	if (vgpu_rq_hung(tl, now_ns)) {
		tl->resetting = tl->rq.running;
		vgpu_sched_queue(tl->thread, &tl->reset_work);
	}
	vgpu_entity_wake_due(tl, now_ns);
	timeline_feed(tl, now_ns);
	check_ns = vgpu_rq_due_ns(tl);
	tl->check_ns = check_ns;
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return check_ns;
}

/*
 * Called with the lock held, since a waiting thread may free the entity once it sees that the
 * entity is off the engine, and that thread takes the lock, too, to see that. It makes itself known
 * before it takes the lock, so that no barrier is needed here: either this function sees the
 * thread, or the thread sees that the entity is off.
 */
static void timeline_wake_stopped(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	lockdep_assert_held(&tl->lock);
	if (rcuwait_active(&entity->stopped))
		rcuwait_wake_up(&entity->stopped);
}

/* Charges the running entity, which is off the engine, and queues it if it is runnable. */
static void timeline_end(struct vgpu_timeline *tl, enum vgpu_run_end end, u64 idle_ns,
			 u64 linger_ns, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity = rq->running;
	u64 ran_ns = now_ns - tl->start_ns;

	lockdep_assert_held(&tl->lock);
	idle_ns = min(idle_ns, ran_ns);
	ran_ns -= idle_ns;
	vgpu_account_run(tl, end, ran_ns, idle_ns, min(linger_ns, ran_ns), now_ns);

	rq->running = NULL;
	/* A run in which the engine may linger ends early for no other reason. */
	rq->outlasted = end == VGPU_RUN_IDLE && tl->pick.linger_ns && !tl->preempting &&
			now_ns < tl->deadline_ns;
	WRITE_ONCE(tl->preempting, false);
	rq->policy->charge(rq, entity, ran_ns, now_ns);
	entity->has_work = end == VGPU_RUN_PREEMPTED || entity->rewoken;
	entity->rewoken = false;
	vgpu_rq_enqueue(entity, false, now_ns);

	timeline_wake_stopped(tl, entity);
}

/**
 * vgpu_timeline_done() - tell a timeline that a run has ended and the engine is free
 * @tl:          the engine's timeline
 * @end:         why the run ended
 * @idle_ns:     time of the run in which the engine polled without work; not charged
 * @linger_ns:   time in which it polled because vgpu_timeline_poll() returned VGPU_POLL_LINGER;
 *               charged
 * @deadline_ns: set to the end of the next entity's slice, if there is a next one
 *
 * The engine calls this once for each run, whether ops->run() or the return of this function began
 * the run. If this returns NULL, the engine waits for ops->run(), which may already have been
 * called.
 *
 * Context: any; takes the timeline's lock.
 * Return: the entity to run at once, perhaps the same one, or NULL.
 */
struct vgpu_entity *vgpu_timeline_done(struct vgpu_timeline *tl, enum vgpu_run_end end,
				       u64 idle_ns, u64 linger_ns, u64 *deadline_ns)
{
	struct vgpu_entity *next = NULL;
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	if (WARN_ON_ONCE(!tl->rq.running))
		goto out;
	now_ns = vgpu_timeline_now_ns(tl);
	timeline_end(tl, end, idle_ns, linger_ns, now_ns);
	vgpu_entity_wake_due(tl, now_ns);
	next = timeline_pick(tl, now_ns);
	if (next)
		*deadline_ns = tl->deadline_ns;
	/* A kick is rare here, and under the lock, after which the timeline may be gone. */
	vgpu_rq_kick(tl);
out:
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return next;
}

/**
 * vgpu_timeline_poll() - tell what an engine must do that finds no work
 * @tl:       the engine's timeline
 * @empty_ns: for how long the engine has found no work of the running entity
 *
 * The answer may change at any time, so the engine asks again and again. The answer does not take
 * the end of the run's slice into account, which the engine knows.
 *
 * Context: any; takes no lock.
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

/*
 * Asks the policy again in the interrupt, so that a slot need not wait until a thread has woken up.
 * A timer whose time the policy has changed since is harmless.
 */
static enum hrtimer_restart timeline_timer(struct hrtimer *timer)
{
	struct vgpu_timeline *tl = container_of(timer, struct vgpu_timeline, timer);
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	if (tl->until_ns <= now_ns)
		timeline_feed(tl, now_ns);
	vgpu_rq_kick(tl);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return HRTIMER_NORESTART;
}

/*
 * Resets the engine because of the entity tl->resetting, which cannot leave meanwhile, and then
 * starts a run. Only this engine waits for that.
 */
static void timeline_reset(struct work_struct *work)
{
	struct vgpu_timeline *tl = container_of(work, struct vgpu_timeline, reset_work);
	struct vgpu_entity *entity = tl->resetting;
	unsigned long flags;
	u64 now_ns;

	tl->ops->reset(tl, entity);
	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	tl->resets++;
	entity->stats.resets++;
	/* The run may have ended by itself meanwhile; no other run has begun. */
	if (tl->rq.running)
		timeline_end(tl, VGPU_RUN_PREEMPTED, 0, 0, now_ns);
	tl->resetting = NULL;
	timeline_wake_stopped(tl, entity);
	vgpu_entity_wake_due(tl, now_ns);
	timeline_feed(tl, now_ns);
	vgpu_rq_kick(tl);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_timeline_name() - tell whose timeline it is, for tracepoints
 * @tl: timeline
 *
 * Context: any.
 * Return: the name that vgpu_sched_create() was given: of the GPU, or of its partition.
 */
const char *vgpu_timeline_name(const struct vgpu_timeline *tl)
{
	return tl->name;
}

/**
 * vgpu_timeline_index() - tell which of its GPU's engines a timeline belongs to
 * @tl: timeline
 *
 * Context: any.
 * Return: the engine's number, from 0.
 */
unsigned int vgpu_timeline_index(const struct vgpu_timeline *tl)
{
	return tl->index;
}

/**
 * vgpu_timeline_data() - get the data for the ops of a timeline
 * @tl: timeline
 *
 * Context: any.
 * Return: the ops_data of vgpu_sched_create().
 */
void *vgpu_timeline_data(const struct vgpu_timeline *tl)
{
	return tl->ops_data;
}

static int timeline_longer_queued(void *priv, const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct vgpu_entity, node)->ready_ns >
	       list_entry(b, struct vgpu_entity, node)->ready_ns;
}

/*
 * Moves each entity from the old policy to the new one in its state: started, queued, running.
 * Entities are queued in the order in which they were queued before, so that none loses its place
 * if the host keeps changing the policy.
 */
static void timeline_set_policy(struct vgpu_timeline *tl, struct vgpu_rq *next, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity;

	if (rq->running) {
		/* The running entity loses what the old policy allowed it. */
		WRITE_ONCE(tl->pick.exclusive, false);
		WRITE_ONCE(tl->pick.linger_ns, 0);
		vgpu_rq_preempt(tl, VGPU_END_CHANGED, now_ns);
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
			vgpu_rq_give(entity, false, now_ns);
}

/*
 * Sets up in @next the run queue of a new policy. @params are checked. May sleep. Returns 0 or the
 * error of ->rq_init().
 */
int vgpu_timeline_prepare(struct vgpu_rq *next, const struct vgpu_sched_params *params)
{
	memset(next, 0, sizeof(*next));
	next->policy = params->policy;
	next->slice_ns = params->slice_ns;
	next->linger_ns = (u64)params->linger_us * 1000;
	next->nr_slots = params->nr_slots;
	return next->policy->rq_init ? next->policy->rq_init(next) : 0;
}

/* Undoes vgpu_timeline_prepare(). No entity is on @next. May sleep. */
void vgpu_timeline_release(struct vgpu_rq *next)
{
	if (next->policy->rq_exit)
		next->policy->rq_exit(next);
}

/*
 * Changes a timeline's settings. @params are checked, with unchanged nr_slots. @next is prepared
 * for another policy, and is set to the old policy's run queue; NULL: the policy stays. The current
 * run keeps its deadline, but is preempted at once for another policy.
 */
void vgpu_timeline_set_params(struct vgpu_timeline *tl, const struct vgpu_sched_params *params,
			      struct vgpu_rq *next)
{
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	tl->timeout_ns = (u64)params->preempt_timeout_us * 1000;
	tl->rq.slice_ns = params->slice_ns;
	tl->rq.linger_ns = (u64)params->linger_us * 1000;
	if (params->window_ns != tl->window_ns)
		vgpu_account_set_window(tl, params->window_ns, now_ns);
	if (next)
		timeline_set_policy(tl, next, now_ns);
	vgpu_due_change(tl);
	trace_vgpu_sched_set(tl, now_ns);
	vgpu_rq_ask_again(tl);
	vgpu_rq_unlock(tl, flags);
}

/*
 * Sets a timeline up. May sleep; returns 0 or what ->rq_init() returned. @tl is zeroed, @thread
 * need not run yet, @name is the GPU's and lives as long as @tl, @clock may be NULL for
 * CLOCK_MONOTONIC, @params are checked.
 */
int vgpu_timeline_init(struct vgpu_timeline *tl, struct vgpu_sched_thread *thread,
		       const char *name, unsigned int index, const struct vgpu_timeline_ops *ops,
		       void *ops_data, const struct vgpu_clock *clock,
		       const struct vgpu_sched_params *params)
{
	tl->thread = thread;
	tl->name = name;
	tl->index = index;
	tl->ops = ops;
	tl->ops_data = ops_data;
	if (clock)
		tl->clock = *clock;
	tl->timeout_ns = (u64)params->preempt_timeout_us * 1000;
	raw_spin_lock_init(&tl->lock);
	INIT_LIST_HEAD(&tl->entities);
	tl->sleepers = RB_ROOT_CACHED;
	tl->preempt_at_ns = U64_MAX;
	tl->until_ns = U64_MAX;
	tl->check_ns = U64_MAX;
	tl->due_window = U64_MAX;
	mutex_init(&tl->due_mutex);
	tl->created_ns = vgpu_timeline_now_ns(tl);
	INIT_WORK(&tl->reset_work, timeline_reset);
	hrtimer_setup(&tl->timer, timeline_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	vgpu_account_set_window(tl, params->window_ns, tl->created_ns);
	return vgpu_timeline_prepare(&tl->rq, params);
}

/* Ends all that the timeline does by itself, when all entities have left. May sleep. */
void vgpu_timeline_stop(struct vgpu_timeline *tl)
{
	WARN_ON(tl->nr_entities);
	hrtimer_cancel(&tl->timer);
}

/* Undoes vgpu_timeline_init(). The timeline was stopped, or never had an entity. */
void vgpu_timeline_fini(struct vgpu_timeline *tl)
{
	mutex_destroy(&tl->due_mutex);
	vgpu_timeline_release(&tl->rq);
}
