// SPDX-License-Identifier: GPL-2.0
/*
 * The accounts of a timeline: service, overruns, windows of statistics and the log of runs; and the
 * functions by which the core reads them.
 *
 * Service and idle time add up to wall time. A run's service is charged when the run ends; readers
 * before that also get the time of the current run as service. If a part of that turns out to have
 * been idle, the entity's counter stands still until it is correct again, since a counter must not
 * go back. The engine's reported service is the sum of its entities' reported service, so that
 * readers can add it up at any time. It may exceed the charged service by idle time that was
 * reported, but never wall time.
 */
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "timeline.h"
#include "trace.h"

/* A run that ends at most this long after its deadline does not count as an overrun. */
#define VGPU_OVERRUN_NS		(100 * 1000ULL)

/* Advances tl->window to the window that contains @now_ns. */
static void account_roll(struct vgpu_timeline *tl, u64 now_ns)
{
	if (now_ns < tl->window_end_ns)
		return;
	tl->window = div64_u64(now_ns, tl->window_ns);
	tl->window_end_ns = (tl->window + 1) * tl->window_ns;
}

/*
 * Sets the length of the windows of statistics, and forgets the counts of windows of another
 * length. The timeline's lock is held, or the timeline is being set up.
 */
void vgpu_account_set_window(struct vgpu_timeline *tl, u64 window_ns, u64 now_ns)
{
	struct vgpu_entity *entity;

	tl->window_ns = window_ns;
	tl->window_end_ns = 0;
	account_roll(tl, now_ns);
	list_for_each_entry(entity, &tl->entities, node) {
		entity->window = tl->window;
		entity->window_ns = 0;
		entity->stats.window_ns = 0;
	}
}

/*
 * Counts service of @ran_ns that ended at @now_ns: its last part belongs to the current window, the
 * rest to earlier ones. This assumes that a run's idle time was at its begin, so a window's service
 * may be wrong by that idle time.
 */
static void account_window(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 ran_ns,
			   u64 now_ns)
{
	u64 last_ns = 0, part_ns;

	account_roll(tl, now_ns);
	part_ns = min(ran_ns, now_ns - (tl->window_end_ns - tl->window_ns));
	if (entity->window != tl->window) {
		if (entity->window + 1 == tl->window)
			last_ns = entity->window_ns;
		last_ns += ran_ns - part_ns;
		entity->stats.window_ns = min(last_ns, tl->window_ns);
		entity->window = tl->window;
		entity->window_ns = 0;
	}
	entity->window_ns += part_ns;
}

static u64 account_overrun(struct vgpu_timeline *tl, u64 ran_ns, u64 idle_ns, u64 now_ns)
{
	struct vgpu_entity *entity = tl->rq.running;
	struct vgpu_entity_stats *stats = &entity->stats;
	u64 over_ns, engine_ns;

	/* An entity that was idle past its deadline did not overrun it. */
	over_ns = now_ns > tl->deadline_ns ? now_ns - tl->deadline_ns : 0;
	over_ns = min(over_ns, ran_ns);
	if (over_ns)
		vgpu_hist_add(&stats->overrun_hist, over_ns);
	if (over_ns <= VGPU_OVERRUN_NS)
		return over_ns;
	stats->overruns++;
	stats->overrun_ns += over_ns;
	stats->max_overrun_ns = max(stats->max_overrun_ns, over_ns);

	/* If the engine was reset, the reset has already made the channel fault. */
	if (over_ns <= tl->timeout_ns || tl->resetting || !tl->ops->overrun)
		return over_ns;
	engine_ns = vgpu_timeline_ran_ns(tl, now_ns) - tl->start_ran_ns;
	engine_ns -= min(idle_ns, engine_ns);
	if (engine_ns > tl->deadline_ns - tl->start_ns + tl->timeout_ns)
		tl->ops->overrun(tl, entity, over_ns);
	return over_ns;
}

static enum vgpu_ctl_switch_end account_end(struct vgpu_timeline *tl, enum vgpu_run_end end,
					    u64 now_ns)
{
	if (tl->resetting)
		return VGPU_END_RESET;
	if (end == VGPU_RUN_IDLE)
		return VGPU_END_IDLE;
	if (end == VGPU_RUN_STALLED)
		return VGPU_END_STALLED;
	if (tl->preempting)
		return tl->end;
	return now_ns >= tl->deadline_ns ? VGPU_END_SLICE : VGPU_END_PREEMPTED;
}

/* Returns for how long the running entity went on after it had to stop; 0: it did not have to. */
static u64 account_preempt(struct vgpu_timeline *tl, enum vgpu_run_end end, u64 now_ns)
{
	u64 stop_ns = tl->deadline_ns;

	if (tl->preempting)
		stop_ns = min(stop_ns, tl->stop_ns);
	else if (end != VGPU_RUN_PREEMPTED || now_ns < stop_ns)
		return 0;
	vgpu_hist_add(&tl->rq.running->stats.preempt_hist, now_ns - stop_ns);
	return now_ns - stop_ns;
}

/*
 * Raises the reported service of an entity to @busy_ns, never lowers it, and updates the timeline's
 * sum. Returns the reported service.
 */
static u64 account_report(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 busy_ns)
{
	if (busy_ns > entity->seen_ns) {
		tl->seen_ns += busy_ns - entity->seen_ns;
		entity->seen_ns = busy_ns;
	}
	return entity->seen_ns;
}

/* Returns the reported service of an entity, including the current run. */
static u64 account_busy(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 now_ns)
{
	u64 busy_ns = entity->stats.busy_ns;

	if (tl->rq.running == entity)
		busy_ns += now_ns - tl->start_ns;
	return account_report(tl, entity, busy_ns);
}

/*
 * Accounts for the run of rq.running, which is off the engine: @ran_ns of service, of which the
 * engine was held without work for @linger_ns, and @idle_ns of idle time. @end is the engine's
 * reason for the end of the run. The timeline's lock is held.
 */
void vgpu_account_run(struct vgpu_timeline *tl, enum vgpu_run_end end, u64 ran_ns, u64 idle_ns,
		      u64 linger_ns, u64 now_ns)
{
	struct vgpu_entity *entity = tl->rq.running;
	struct vgpu_entity_stats *stats = &entity->stats;
	struct vgpu_ctl_switch *entry;
	u64 over_ns;

	lockdep_assert_held(&tl->lock);
	WRITE_ONCE(stats->busy_ns, stats->busy_ns + ran_ns);
	tl->busy_ns += ran_ns;
	account_report(tl, entity, stats->busy_ns);
	stats->linger_ns += linger_ns;
	tl->linger_ns += linger_ns;
	account_window(tl, entity, ran_ns, now_ns);
	over_ns = account_overrun(tl, ran_ns, idle_ns, now_ns);
	if (end == VGPU_RUN_PREEMPTED)
		stats->preemptions++;
	else if (end == VGPU_RUN_STALLED)
		stats->stalls++;

	entry = vgpu_sched_log_next(&tl->log);
	memcpy(entry->uuid, entity->id, sizeof(entry->uuid));
	entry->time_ns = vgpu_clock_real(&tl->clock, tl->start_ns);
	entry->wait_ns = tl->wait_ns;
	entry->slice_ns = tl->pick.slice_ns;
	entry->ran_ns = ran_ns;
	entry->idle_ns = idle_ns;
	entry->linger_ns = linger_ns;
	entry->preempt_ns = account_preempt(tl, end, now_ns);
	entry->end = account_end(tl, end, now_ns);
	entry->pad = 0;
	trace_vgpu_sched_charge(tl, entry, over_ns, now_ns);
}

/**
 * vgpu_entity_account() - count completed packets
 * @entity:  the vGPU to which they belong, on the engine that completed them
 * @packets: number of packets
 * @bytes:   number of bytes that they wrote
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_account(struct vgpu_entity *entity, u64 packets, u64 bytes)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&entity->tl->lock, flags);
	entity->stats.packets += packets;
	entity->stats.bytes += bytes;
	raw_spin_unlock_irqrestore(&entity->tl->lock, flags);
}

/**
 * vgpu_entity_account_fault() - count a channel's fault
 * @entity: the vGPU that the channel belongs to, on the channel's engine
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_account_fault(struct vgpu_entity *entity)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&entity->tl->lock, flags);
	entity->stats.faults++;
	raw_spin_unlock_irqrestore(&entity->tl->lock, flags);
}

/* Service in the last whole window, in which the current run may have begun. The lock is held. */
u64 vgpu_account_last_window(struct vgpu_timeline *tl, struct vgpu_entity *entity, u64 now_ns)
{
	bool runs = tl->rq.running == entity;
	u64 begin_ns, last_ns = 0;

	account_roll(tl, now_ns);
	if (entity->window == tl->window)
		last_ns = entity->stats.window_ns;
	else if (entity->window + 1 == tl->window)
		last_ns = entity->window_ns;
	begin_ns = tl->window_end_ns - tl->window_ns;
	if (runs && tl->start_ns < begin_ns)
		last_ns += min(begin_ns - tl->start_ns, tl->window_ns);
	return min(last_ns, tl->window_ns);
}

/* Fills in an entity's statistics, without the histograms. */
static void account_entity(struct vgpu_timeline *tl, struct vgpu_entity *entity,
			   struct vgpu_entity_stats *stats, u64 now_ns)
{
	u64 waits_ns;

	memcpy(stats, &entity->stats, offsetof(struct vgpu_entity_stats, wait_hist));
	if (entity->queued) {
		waits_ns = now_ns - entity->ready_ns;
		stats->wait_ns += waits_ns;
		stats->max_wait_ns = max(stats->max_wait_ns, waits_ns);
	}
	stats->busy_ns = account_busy(tl, entity, now_ns);
	stats->window_ns = vgpu_account_last_window(tl, entity, now_ns);
}

/**
 * vgpu_entity_stats() - read an entity's statistics
 * @entity: on a timeline
 * @stats:  set to the statistics, including the current run or wait
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_stats(struct vgpu_entity *entity, struct vgpu_entity_stats *stats)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;

	raw_spin_lock_irqsave(&tl->lock, flags);
	*stats = entity->stats;
	account_entity(tl, entity, stats, vgpu_timeline_now_ns(tl));
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_entity_busy_ns() - read an entity's service
 * @entity: on a timeline
 *
 * Context: any; takes the timeline's lock.
 * Return: busy_ns of vgpu_entity_stats().
 */
u64 vgpu_entity_busy_ns(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;
	u64 busy_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	busy_ns = account_busy(tl, entity, vgpu_timeline_now_ns(tl));
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return busy_ns;
}

/**
 * vgpu_entity_charged_ns() - read the service that an entity was charged
 * @entity: an entity
 *
 * Unlike vgpu_entity_busy_ns(), without the run under way: the charge of a run is added as a whole
 * when the run has ended, before another one begins.
 *
 * Context: any; takes no lock.
 * Return: service of all runs that are over, in ns.
 */
u64 vgpu_entity_charged_ns(const struct vgpu_entity *entity)
{
	return READ_ONCE(entity->stats.busy_ns);
}

/* Adds an entity's reported service to tl->gone_ns, once. The lock is held. */
void vgpu_account_retire(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	lockdep_assert_held(&tl->lock);
	if (!entity->retired)
		tl->gone_ns += entity->seen_ns;
	entity->retired = true;
}

/**
 * vgpu_entity_retire() - add an entity's service to the service of entities that have left
 * @entity: on a timeline; off the engine and held, for good
 *
 * For callers of vgpu_timeline_read() that do not name the entity any more. vgpu_entity_exit() does
 * the same for an entity that has not been retired.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_entity_retire(struct vgpu_entity *entity)
{
	struct vgpu_timeline *tl = entity->tl;
	unsigned long flags;

	raw_spin_lock_irqsave(&tl->lock, flags);
	vgpu_account_retire(tl, entity);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

static void account_stats(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats, u64 now_ns)
{
	if (tl->rq.running)
		account_busy(tl, tl->rq.running, now_ns);
	stats->wall_ns = (tl->held_ns ?: tl->retired_ns ?: now_ns) - tl->created_ns - tl->away_ns;
	stats->busy_ns = tl->seen_ns;
	stats->gone_ns = tl->gone_ns;
	stats->linger_ns = tl->linger_ns;
	stats->runs = tl->runs;
	stats->switches = tl->switches;
	stats->preempts = tl->preempts;
	stats->resets = tl->resets;
}

/**
 * vgpu_timeline_stats() - read an engine's statistics
 * @tl:    the engine's timeline
 * @stats: set to the statistics, including the current run
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_timeline_stats(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tl->lock, flags);
	account_stats(tl, stats, vgpu_timeline_now_ns(tl));
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_timeline_retire() - read an engine's statistics when they do not change any more
 * @tl:    the engine's timeline, without entities, and there will be none
 * @stats: set to the statistics, which readers find from now on
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_timeline_retire(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&tl->lock, flags);
	WARN_ON(tl->nr_entities);
	tl->retired_ns = vgpu_timeline_now_ns(tl);
	account_stats(tl, stats, tl->retired_ns);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_timeline_hold() - let an engine's wall time stand still, or go on
 * @tl:   the engine's timeline; without entities, if @hold
 * @hold: the engine is not there for anybody from now on; else it is again
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_timeline_hold(struct vgpu_timeline *tl, bool hold)
{
	unsigned long flags;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	if (hold && !tl->held_ns) {
		tl->held_ns = now_ns;
	} else if (!hold && tl->held_ns) {
		tl->away_ns += now_ns - tl->held_ns;
		tl->held_ns = 0;
	}
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_timeline_read() - read the statistics of an engine and all its entities, at one time
 * @tl:       the engine's timeline
 * @stats:    set to the statistics of the engine
 * @entities: the entities that are not retired, of which those that have never run may be missing;
 *            entities that were retired a moment ago may be included
 * @nr:       length of @entities
 * @each:     called for each of them with its index and its statistics, which have no histograms;
 *            with the timeline's lock held
 * @arg:      for @each
 *
 * stats->busy_ns is the sum of stats->gone_ns and the busy_ns of all @entities: stats->gone_ns does
 * not include any of @entities.
 *
 * Context: any; takes the timeline's lock.
 */
void vgpu_timeline_read(struct vgpu_timeline *tl, struct vgpu_timeline_stats *stats,
			struct vgpu_entity *const *entities, unsigned int nr,
			void (*each)(void *arg, unsigned int index,
				     const struct vgpu_entity_stats *stats), void *arg)
{
	struct vgpu_entity_stats entity_stats;
	unsigned long flags;
	unsigned int i;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	account_stats(tl, stats, now_ns);
	for (i = 0; i < nr; i++) {
		account_entity(tl, entities[i], &entity_stats, now_ns);
		if (entities[i]->retired)
			stats->gone_ns -= entities[i]->seen_ns;
		each(arg, i, &entity_stats);
	}
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}

/**
 * vgpu_timeline_log() - read the last runs that have ended
 * @tl:      timeline
 * @entries: kernel memory, set to the runs, the oldest first
 * @room:    length of @entries
 * @total:   set to the number of runs that have ended so far
 *
 * Context: any; takes the timeline's lock.
 * Return: the number of entries written, VGPU_SCHED_LOG at most.
 */
unsigned int vgpu_timeline_log(struct vgpu_timeline *tl, struct vgpu_ctl_switch *entries,
			       unsigned int room, u64 *total)
{
	unsigned long flags;
	unsigned int count;

	raw_spin_lock_irqsave(&tl->lock, flags);
	count = vgpu_sched_log_copy(&tl->log, entries, room);
	*total = tl->log.total;
	raw_spin_unlock_irqrestore(&tl->lock, flags);
	return count;
}

/* Shows the time left until @at_ns, unless that is never. */
static void account_show_left(struct seq_file *m, const char *what, u64 at_ns, u64 now_ns)
{
	if (at_ns == U64_MAX)
		return;
	seq_printf(m, "%s: %lld\n", what, (s64)(at_ns - now_ns));
}

/**
 * vgpu_timeline_show() - print a timeline's state for debugfs
 * @tl:   timeline
 * @m:    file; one line is printed for each value
 * @name: prints an entity's name; must not sleep
 *
 * Context: process; takes the timeline's lock.
 */
void vgpu_timeline_show(struct vgpu_timeline *tl, struct seq_file *m,
			void (*name)(struct seq_file *m, struct vgpu_entity *entity))
{
	struct vgpu_timeline_stats stats;
	struct vgpu_rq *rq = &tl->rq;
	struct rb_node *sleeper;
	unsigned long flags;
	unsigned int nr = 0;
	u64 now_ns;

	raw_spin_lock_irqsave(&tl->lock, flags);
	now_ns = vgpu_timeline_now_ns(tl);
	account_stats(tl, &stats, now_ns);
	seq_printf(m, "policy: %s\n", rq->policy->name);
	seq_printf(m, "slice_ns: %llu\n", rq->slice_ns);
	seq_printf(m, "window_ns: %llu\n", tl->window_ns);
	seq_printf(m, "linger_ns: %llu\n", rq->linger_ns);
	seq_printf(m, "preempt_timeout_ns: %llu\n", tl->timeout_ns);
	seq_printf(m, "entities: %u\n", tl->nr_entities);
	seq_printf(m, "queued: %u\n", rq->nr_queued);
	sleeper = rb_first_cached(&tl->sleepers);
	if (sleeper)
		account_show_left(m, "next_wake_ns",
				  rb_entry(sleeper, struct vgpu_entity, wake_rb)->wake_ns, now_ns);
	for (; sleeper; sleeper = rb_next(sleeper))
		nr++;
	seq_printf(m, "sleepers: %u\n", nr);
	seq_puts(m, "running: ");
	if (rq->running) {
		name(m, rq->running);
		seq_printf(m, "\nrunning_ns: %llu\n", now_ns - tl->start_ns);
		account_show_left(m, "left_ns", tl->deadline_ns, now_ns);
		account_show_left(m, "preempt_in_ns", tl->preempt_at_ns, now_ns);
		seq_printf(m, "may_linger_ns: %llu\n", tl->pick.linger_ns);
		seq_printf(m, "exclusive: %d\n", tl->pick.exclusive);
	} else {
		seq_puts(m, "none\n");
		if (rq->nr_queued)
			account_show_left(m, "until_ns", tl->until_ns, now_ns);
	}
	seq_printf(m, "state: %s\n", tl->resetting ? "resetting" : tl->preempting ? "preempting" :
		   rq->running ? "running" :
		   rq->nr_queued ? "throttled" : "idle");
	seq_printf(m, "wall_ns: %llu\n", stats.wall_ns);
	seq_printf(m, "busy_ns: %llu\n", stats.busy_ns);
	seq_printf(m, "linger_busy_ns: %llu\n", stats.linger_ns);
	seq_printf(m, "runs: %llu\n", stats.runs);
	seq_printf(m, "switches: %llu\n", stats.switches);
	seq_printf(m, "preempt_requests: %llu\n", stats.preempts);
	seq_printf(m, "resets: %llu\n", stats.resets);
	raw_spin_unlock_irqrestore(&tl->lock, flags);
}
