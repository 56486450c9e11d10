// SPDX-License-Identifier: GPL-2.0
/*
 * A timeline: which entity has the engine, who waits for it, what each got.
 *
 * Everything happens in short sections under tl->lock, so the order of those
 * is all there is to interleavings. What keeps wake-ups from being lost:
 *
 * - An entity with work and no hold is, at the end of every section, queued or
 *   running. A wake while it runs sets rewoken, which the end of the run turns
 *   into work left, whatever the engine said.
 * - If somebody is queued at the end of a section, the engine is busy (its
 *   vgpu_timeline_done() picks), or being reset (the kthread picks after), or
 *   the policy said until when nobody may run, or the kthread is kicked.
 * - check_ns is not later than the next thing due, or the kthread is kicked. It
 *   writes check_ns under the lock before it sleeps until then.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>

#include "timeline.h"

/* An engine that runs so long past its deadline is asked to stop. */
#define VGPU_GRACE_NS		(500 * 1000ULL)

/* What stops within this is not counted as an overrun. */
#define VGPU_OVERRUN_NS		(100 * 1000ULL)

/* The kthread looks no more often than this at what is late. */
#define VGPU_RECHECK_NS		(500 * 1000ULL)

/* A policy is not asked again sooner than this after it chose nobody. */
#define VGPU_UNTIL_NS		(10 * 1000ULL)

static u64 timeline_ran_ns(struct vgpu_timeline *tl, u64 now_ns)
{
	return tl->ops->ran_ns ? tl->ops->ran_ns(tl) : now_ns;
}

static u64 timeline_due_ns(struct vgpu_timeline *tl)
{
	lockdep_assert_held(&tl->lock);
	if (tl->resetting)
		return U64_MAX;
	if (tl->rq.running)
		return tl->preempting ? tl->preempt_due_ns :
					tl->deadline_ns + VGPU_GRACE_NS;
	return tl->rq.nr_queued ? tl->until_ns : U64_MAX;
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

/* How often to look at an engine that was asked to stop. */
static u64 timeline_look_ns(struct vgpu_timeline *tl)
{
	return max(tl->timeout_ns / 4, VGPU_RECHECK_NS);
}

/**
 * vgpu_timeline_preempt() - ask the running entity to stop, unless it was asked
 * @tl:     timeline, on which one runs
 * @now_ns: the time
 *
 * Context: any; the timeline's lock is held.
 */
void vgpu_timeline_preempt(struct vgpu_timeline *tl, u64 now_ns)
{
	lockdep_assert_held(&tl->lock);
	if (tl->preempting || tl->resetting)
		return;
	WRITE_ONCE(tl->preempting, true);
	tl->preempts++;
	tl->late_ns = 0;
	tl->preempt_ran_ns = timeline_ran_ns(tl, now_ns);
	tl->preempt_due_ns = now_ns + timeline_look_ns(tl);
	tl->ops->preempt(tl, tl->rq.running);
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
	ran_ns = timeline_ran_ns(tl, now_ns);
	tl->late_ns += min(ran_ns - tl->preempt_ran_ns, tl->timeout_ns / 3 + 1);
	tl->preempt_ran_ns = ran_ns;
	tl->preempt_due_ns = now_ns + timeline_look_ns(tl);
	return tl->late_ns >= tl->timeout_ns;
}

/* Puts the policy's choice on the idle engine, as far as the timeline goes. */
static struct vgpu_entity *timeline_pick(struct vgpu_timeline *tl, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity;
	u64 slice_ns = 0, until_ns = 0;

	lockdep_assert_held(&tl->lock);
	if (tl->resetting || !rq->nr_queued)
		return NULL;
	entity = rq->policy->pick(rq, now_ns, &slice_ns, &until_ns);
	if (!entity) {
		tl->until_ns = until_ns ? max(until_ns, now_ns + VGPU_UNTIL_NS) :
					  U64_MAX;
		return NULL;
	}
	vgpu_entity_unqueued(entity, now_ns);

	tl->runs++;
	entity->stats.runs++;
	if (tl->last != entity && tl->runs > 1) {
		tl->switches++;
		entity->stats.switches++;
	}
	tl->last = entity;

	rq->running = entity;
	tl->start_ns = now_ns;
	tl->start_ran_ns = timeline_ran_ns(tl, now_ns);
	tl->deadline_ns = now_ns + slice_ns;
	return entity;
}

static void timeline_count_overrun(struct vgpu_timeline *tl, u64 ran_ns,
				   u64 idle_ns, u64 now_ns)
{
	struct vgpu_entity *entity = tl->rq.running;
	struct vgpu_entity_stats *stats = &entity->stats;
	u64 over_ns, engine_ns;

	/* If it did nothing past its deadline it did not run over it. */
	over_ns = now_ns > tl->deadline_ns ? now_ns - tl->deadline_ns : 0;
	over_ns = min(over_ns, ran_ns);
	if (over_ns <= VGPU_OVERRUN_NS)
		return;
	stats->overruns++;
	stats->overrun_ns += over_ns;
	stats->max_overrun_ns = max(stats->max_overrun_ns, over_ns);

	/* What is reset has faulted already. */
	if (over_ns <= tl->timeout_ns || tl->resetting || !tl->ops->overrun)
		return;
	engine_ns = timeline_ran_ns(tl, now_ns) - tl->start_ran_ns;
	engine_ns -= min(idle_ns, engine_ns);
	if (engine_ns > tl->deadline_ns - tl->start_ns + tl->timeout_ns)
		tl->ops->overrun(tl, entity, over_ns);
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
static void timeline_end(struct vgpu_timeline *tl, enum vgpu_sched_end end,
			 u64 idle_ns, u64 now_ns)
{
	struct vgpu_rq *rq = &tl->rq;
	struct vgpu_entity *entity = rq->running;
	struct vgpu_entity_stats *stats = &entity->stats;
	u64 ran_ns = now_ns - tl->start_ns;

	lockdep_assert_held(&tl->lock);
	ran_ns -= min(idle_ns, ran_ns);
	stats->busy_ns += ran_ns;
	tl->busy_ns += ran_ns;
	timeline_count_overrun(tl, ran_ns, idle_ns, now_ns);
	if (end == VGPU_SCHED_PREEMPTED)
		stats->preemptions++;
	else if (end == VGPU_SCHED_STALLED)
		stats->stalls++;

	rq->running = NULL;
	WRITE_ONCE(tl->preempting, false);
	rq->policy->charge(rq, entity, ran_ns, now_ns);
	entity->has_work = end == VGPU_SCHED_PREEMPTED || entity->rewoken;
	entity->rewoken = false;
	vgpu_entity_enqueue(entity, now_ns);

	timeline_wake_stopped(tl);
}

/**
 * vgpu_timeline_done() - an engine is free
 * @tl:          its timeline
 * @end:         how the run ended
 * @idle_ns:     of the run, spent polling with nothing to do: not charged
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
				       enum vgpu_sched_end end, u64 idle_ns,
				       u64 *deadline_ns)
{
	struct vgpu_entity *next = NULL;
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	if (WARN_ON_ONCE(!tl->rq.running))
		goto out;
	now_ns = ktime_get_ns();
	timeline_end(tl, end, idle_ns, now_ns);
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
 * vgpu_timeline_wanted() - whether an engine that polls should give up
 * @tl: its timeline
 *
 * A hint, from one moment to the next; takes no lock.
 *
 * Context: any.
 * Return: whether another entity waits, or the running one is to stop.
 */
bool vgpu_timeline_wanted(struct vgpu_timeline *tl)
{
	return READ_ONCE(tl->rq.nr_queued) || READ_ONCE(tl->preempting);
}

/**
 * vgpu_timeline_service() - do what is due
 * @tl: timeline
 *
 * Gives an idle engine work, asks one that is past its deadline to stop, resets
 * one that was asked and did not.
 *
 * Context: the GPU's kthread only; sleeps in ops->reset.
 * Return: when to call it again if it is not kicked before; U64_MAX for never.
 */
u64 vgpu_timeline_service(struct vgpu_timeline *tl)
{
	struct vgpu_entity *entity;
	unsigned long flags;
	u64 now_ns, check_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	entity = tl->rq.running;
	if (entity && now_ns >= tl->deadline_ns + VGPU_GRACE_NS)
		vgpu_timeline_preempt(tl, now_ns);
	if (entity && timeline_hung(tl, now_ns)) {
		tl->resetting = entity;
		spin_unlock_irqrestore(&tl->lock, flags);
		tl->ops->reset(tl, entity);
		spin_lock_irqsave(&tl->lock, flags);
		now_ns = ktime_get_ns();
		tl->resets++;
		entity->stats.resets++;
		/* Unless it ended by itself meanwhile; nobody was put on since. */
		if (tl->rq.running)
			timeline_end(tl, VGPU_SCHED_PREEMPTED, 0, now_ns);
		tl->resetting = NULL;
		timeline_wake_stopped(tl);
	}
	if (!tl->rq.running) {
		entity = timeline_pick(tl, now_ns);
		if (entity)
			tl->ops->run(tl, entity, tl->deadline_ns);
	}
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

/**
 * vgpu_timeline_busy_ns() - service so far
 * @tl: timeline
 *
 * Context: any; takes the timeline's lock.
 * Return: ns of all runs that have ended, of gone entities too.
 */
u64 vgpu_timeline_busy_ns(struct vgpu_timeline *tl)
{
	unsigned long flags;
	u64 busy_ns;

	spin_lock_irqsave(&tl->lock, flags);
	busy_ns = tl->busy_ns;
	spin_unlock_irqrestore(&tl->lock, flags);
	return busy_ns;
}

/**
 * vgpu_timeline_set_slice() - another slice, from the next run on
 * @tl:       timeline
 * @slice_ns: checked
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_timeline_set_slice(struct vgpu_timeline *tl, u64 slice_ns)
{
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&tl->lock, flags);
	tl->rq.slice_ns = slice_ns;
	if (!tl->rq.running)
		tl->until_ns = 0;
	kick = vgpu_timeline_needs_kick(tl);
	spin_unlock_irqrestore(&tl->lock, flags);
	if (kick)
		vgpu_sched_kick(tl->sched);
}

/**
 * vgpu_timeline_show() - for debugfs
 * @tl:   timeline
 * @m:    where to
 * @name: prints an entity's name; must not sleep
 *
 * Context: process; takes the timeline's lock.
 */
void vgpu_timeline_show(struct vgpu_timeline *tl, struct seq_file *m,
			void (*name)(struct seq_file *m,
				     struct vgpu_entity *entity))
{
	unsigned long flags;
	u64 now_ns;

	spin_lock_irqsave(&tl->lock, flags);
	now_ns = ktime_get_ns();
	seq_printf(m, "policy: %s\n", tl->rq.policy->name);
	seq_printf(m, "slice_ns: %llu\n", tl->rq.slice_ns);
	seq_printf(m, "preempt_timeout_ns: %llu\n", tl->timeout_ns);
	seq_printf(m, "entities: %u\n", tl->nr_entities);
	seq_printf(m, "queued: %u\n", tl->rq.nr_queued);
	seq_puts(m, "running: ");
	if (tl->rq.running) {
		name(m, tl->rq.running);
		seq_printf(m, "\nrunning_ns: %llu\n", now_ns - tl->start_ns);
		seq_printf(m, "left_ns: %lld\n",
			   (s64)(tl->deadline_ns - now_ns));
	} else {
		seq_puts(m, "none\n");
	}
	seq_printf(m, "state: %s\n", tl->resetting ? "resetting" :
		   tl->preempting ? "preempting" :
		   tl->rq.running ? "running" : "idle");
	seq_printf(m, "wall_ns: %llu\n", now_ns - tl->created_ns);
	seq_printf(m, "busy_ns: %llu\n", tl->busy_ns);
	seq_printf(m, "runs: %llu\n", tl->runs);
	seq_printf(m, "switches: %llu\n", tl->switches);
	seq_printf(m, "preempt_requests: %llu\n", tl->preempts);
	seq_printf(m, "resets: %llu\n", tl->resets);
	spin_unlock_irqrestore(&tl->lock, flags);
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
	tl->until_ns = U64_MAX;
	tl->check_ns = U64_MAX;
	tl->created_ns = ktime_get_ns();
	tl->rq.policy = params->policy;
	tl->rq.slice_ns = params->slice_ns;
	INIT_LIST_HEAD(&tl->rq.queue);
	return tl->rq.policy->rq_init ? tl->rq.policy->rq_init(&tl->rq) : 0;
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
	if (tl->rq.policy->rq_exit)
		tl->rq.policy->rq_exit(&tl->rq);
}
