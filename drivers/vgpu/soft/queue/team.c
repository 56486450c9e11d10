// SPDX-License-Identifier: GPL-2.0
/* Teams of units: see team.h. */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "queues.h"

/* A helper polls for the next section for so long: after one that it has joined, or has missed. */
#define SOFT_TEAM_POLL_NS	(50 * NSEC_PER_USEC)
#define SOFT_TEAM_MISS_NS	(5 * NSEC_PER_USEC)

/*
 * Where no helper comes, because other threads have the processors, waking them costs time and is
 * of no use: after so many sections one is left out, after as many more two, then four and so on,
 * and at last 256, about 13 ms. They are called in several sections in a row, since a processor
 * that sleeps deeply takes longer to wake than a section lasts.
 */
#define SOFT_TEAM_MISSES	4
#define SOFT_TEAM_SKIP_SHIFT	8

/* A section that was shorter says nothing about who might have come. */
#define SOFT_TEAM_FAIR_NS	(25 * NSEC_PER_USEC)

static struct soft_team *soft_team(struct soft_unit *unit)
{
	return &unit->engine->team;
}

/* Whether a section is open, or was just now, that the helper has not looked at. */
static bool soft_team_called(struct soft_unit *unit)
{
	return READ_ONCE(soft_team(unit)->number) != unit->section_number;
}

/* Whether this thread keeps no processor from the leader, which could do the work as well. */
static bool soft_team_apart(const struct soft_team *team)
{
	return READ_ONCE(team->cpu) != raw_smp_processor_id();
}

/*
 * Returns how many channels the section has if the helper takes part in it, else 0. With preemption
 * off.
 */
static unsigned int soft_team_join(struct soft_unit *unit)
{
	struct soft_team *team = soft_team(unit);
	u64 now_ns = ktime_get_ns();
	unsigned int nr_ch = 0;

	raw_spin_lock(&team->lock);
	unit->section_number = team->number;
	/* One that comes too late would only keep the leader waiting. */
	if (team->nr_on < team->most && soft_team_apart(team) && now_ns < team->end_ns &&
	    !READ_ONCE(team->leave))
		nr_ch = team->nr_ch;
	if (nr_ch) {
		unit->until_ns = min(now_ns + SOFT_TEAM_PIECE_NS, team->end_ns);
		team->nr_on++;
		team->joined++;
	}
	raw_spin_unlock(&team->lock);
	return nr_ch;
}

/* @again: the helper has more to do, and only its piece was over. */
static void soft_team_leave(struct soft_unit *unit, bool again)
{
	struct soft_team *team = soft_team(unit);

	raw_spin_lock(&team->lock);
	if (again)
		unit->section_number = team->number - 1;
	/* Orders all that the helper has done before what follows soft_team_close(). */
	smp_store_release(&team->nr_on, team->nr_on - 1);
	raw_spin_unlock(&team->lock);
}

/* Sees the vGPU's memory as the leader does, which waits. */
static void soft_team_view(struct soft_unit *unit, const struct soft_channel *ch)
{
	const struct soft_view *lead = &unit->engine->lead.view;
	struct soft_view *view = &unit->view;

	if (view->mem != lead->mem || view->gen != lead->gen || unit->run != unit->engine->runs)
		memset(&view->tlb, 0, sizeof(view->tlb));
	view->mem = lead->mem;
	view->root = ch->space;
	view->gen = lead->gen;
	view->work = 0;
	unit->run = unit->engine->runs;
}

/*
 * Works on the channels of a section, each as long as it has work. Helpers begin with different
 * ones, and come to the leader's last: it may have work for the leader only.
 */
static void soft_team_channels(struct soft_unit *unit, unsigned int nr_ch)
{
	struct soft_team *team = soft_team(unit);
	unsigned int index = unit - team->helper, i;

	for (i = 1; i <= nr_ch; i++) {
		unsigned int k = i < nr_ch ? 1 + (index + i - 1) % (nr_ch - 1) : 0;
		struct soft_channel *ch = team->ch[k];

		soft_team_view(unit, ch);
		ch->exec.packet.desc->help(unit, ch);
	}
}

/* Works for a piece in the open section, if there is one. Returns false if there is not. */
static bool soft_team_help(struct soft_unit *unit)
{
	unsigned int nr_ch;

	soft_unit_pin(unit);
	/* The leader may wait for the end of what begins here. */
	preempt_disable();
	nr_ch = soft_team_join(unit);
	if (nr_ch) {
		soft_team_channels(unit, nr_ch);
		soft_team_leave(unit, ktime_get_ns() >= unit->until_ns);
	}
	preempt_enable();
	return nr_ch;
}

/* Works in sections, until there was none for a while or others want the processor. */
static void soft_team_work(struct soft_unit *unit)
{
	const struct soft_team *team = soft_team(unit);
	u64 until_ns = ktime_get_ns() + SOFT_TEAM_MISS_NS;

	do {
		if (!soft_team_called(unit)) {
			cpu_relax();
		} else if (soft_team_help(unit)) {
			until_ns = ktime_get_ns() + SOFT_TEAM_POLL_NS;
			/* With work that never ends it never sleeps: see soft_engine_thread(). */
			cond_resched_tasks_rcu_qs();
		}
	} while (soft_team_apart(team) && !need_resched() && !kthread_should_stop() &&
		 ktime_get_ns() < until_ns);
}

static int soft_team_thread(void *data)
{
	struct soft_unit *unit = data;

	soft_unit_place(unit);
	while (!kthread_should_stop()) {
		rcuwait_wait_event(&unit->wake, soft_team_called(unit) || kthread_should_stop(),
				   TASK_IDLE);
		cond_resched_tasks_rcu_qs();
		soft_team_work(unit);
	}
	return 0;
}

/**
 * soft_team_init() - start the helpers of an engine
 * @engine: with @team.helper and @team.nr; all else of @team is zero
 * @gpu_name: part of the threads' names
 * Context: may sleep.
 * Return: 0, or -errno and none is left.
 */
int soft_team_init(struct soft_engine *engine, const char *gpu_name)
{
	struct soft_team *team = &engine->team;
	unsigned int i;
	int ret;

	raw_spin_lock_init(&team->lock);
	for (i = 0; i < team->nr; i++) {
		ret = soft_unit_start(&team->helper[i], engine, i + 1, soft_team_thread, gpu_name);
		if (ret) {
			while (i--)
				soft_unit_stop(&team->helper[i]);
			return ret;
		}
	}
	return 0;
}

/* Stops the helpers of an engine whose leader has stopped. Sleeps. */
void soft_team_exit(struct soft_engine *engine)
{
	unsigned int i;

	for (i = 0; i < engine->team.nr; i++)
		soft_unit_stop(&engine->team.helper[i]);
}

/**
 * soft_team_ready() - tell how many helpers the next section may have
 * @engine: the engine
 * Context: the leader's thread; called once for each section that may have helpers.
 * Return: their number; 0: the section is to be the leader's alone.
 */
unsigned int soft_team_ready(struct soft_engine *engine)
{
	struct soft_team *team = &engine->team;
	unsigned int most = min(team->nr, soft_unit_cpus(engine) - 1);

	if (most && team->skip) {
		team->skip--;
		return 0;
	}
	return most;
}

static void soft_team_call(struct soft_team *team)
{
	unsigned int i;

	for (i = 0; i < team->most; i++)
		rcuwait_wake_up(&team->helper[i].wake);
}

/**
 * soft_team_open() - have helpers work on packets
 * @engine: the engine
 * @ch: busy, with packets whose type has help; the leader's is the first
 * @nr_ch: their number, from 1 to SOFT_UNITS_MAX
 * @most: how many helpers there is work for: from 1 to what soft_team_ready() has returned
 * @end_ns: when helpers are to have left, if soft_team_extend() is not called before
 * Context: the leader's thread; does not sleep. soft_team_close() must follow.
 */
void soft_team_open(struct soft_engine *engine, struct soft_channel *const *ch, unsigned int nr_ch,
		    unsigned int most, u64 end_ns)
{
	struct soft_team *team = &engine->team;

	raw_spin_lock(&team->lock);
	memcpy(team->ch, ch, nr_ch * sizeof(*ch));
	team->nr_ch = nr_ch;
	team->most = most;
	team->joined = 0;
	team->seen = 0;
	team->end_ns = end_ns;
	WRITE_ONCE(team->leave, false);
	WRITE_ONCE(team->cpu, raw_smp_processor_id());
	team->fair_ns = ktime_get_ns() + SOFT_TEAM_FAIR_NS;
	WRITE_ONCE(team->number, team->number + 1);
	raw_spin_unlock(&team->lock);
	soft_team_call(team);
}

/**
 * soft_team_extend() - go on with an open section
 * @engine: the engine
 * @end_ns: as for soft_team_open(), later than before
 *
 * Calls helpers that have found no work, or have not come: there may be work now, or time.
 *
 * Context: the leader's thread; does not sleep.
 * Return: false if no helper has taken part since the section was opened, or was extended last: to
 * close it costs nothing.
 */
bool soft_team_extend(struct soft_engine *engine, u64 end_ns)
{
	struct soft_team *team = &engine->team;
	bool some, call;

	raw_spin_lock(&team->lock);
	some = team->nr_on || team->joined != team->seen;
	call = some && team->nr_on < team->most;
	team->helped += team->joined - team->seen;
	team->seen = team->joined;
	if (some)
		team->end_ns = end_ns;
	WRITE_ONCE(team->cpu, raw_smp_processor_id());
	if (call)
		WRITE_ONCE(team->number, team->number + 1);
	raw_spin_unlock(&team->lock);
	if (call)
		soft_team_call(team);
	return some;
}

/**
 * soft_team_close() - end what soft_team_open() has begun
 * @engine: the engine
 *
 * Waits for the helpers that have joined, which leave after the few instructions that they are at.
 * A processor that has one does nothing else.
 *
 * Context: the leader's thread; may reschedule.
 */
void soft_team_close(struct soft_engine *engine)
{
	struct soft_team *team = &engine->team;
	unsigned int joined;

	WRITE_ONCE(team->leave, true);
	raw_spin_lock(&team->lock);
	team->nr_ch = 0;
	joined = team->joined;
	raw_spin_unlock(&team->lock);
	/* Pairs with soft_team_leave(). */
	while (smp_load_acquire(&team->nr_on)) {
		cpu_relax();
		cond_resched();
	}
	team->helped += joined - team->seen;
	if (joined)
		team->missed = 0;
	else if (ktime_get_ns() >= team->fair_ns && !(++team->missed % SOFT_TEAM_MISSES))
		team->skip = 1U << min(team->missed / SOFT_TEAM_MISSES - 1, SOFT_TEAM_SKIP_SHIFT);
}
