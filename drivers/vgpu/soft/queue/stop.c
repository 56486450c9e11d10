// SPDX-License-Identifier: GPL-2.0
/*
 * Decides when an engine must leave its work: while it works, it looks at the flags that other
 * threads set, and at the clock.
 */
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "queues.h"

/* Maximum engine time that counts from one look at the clock to the next. */
#define SOFT_GAP_NS		NSEC_PER_MSEC

/**
 * soft_stop_time() - read the clock, without a look at the deadline
 * @unit: of an engine in a run
 *
 * Notes how long the unit could work.
 *
 * Between two calls lie some 50 us of work. If it was much longer, another thread had the processor
 * (or, unknown to the accounts of this kernel, another machine of the host that runs this one), and
 * the unit could not work: at most SOFT_GAP_NS of it count. This also holds for a section of a
 * program, during which no other thread can have the processor, since it ends long before.
 *
 * Engine time only distinguishes an engine that hangs from one that is kept waiting. It does not
 * reduce any charge: the running vGPU is charged by the clock, for all of the time
 * (timeline_end()).
 *
 * Context: the unit's thread.
 * Return: the time, in ns of the engine's clock.
 */
u64 soft_stop_time(struct soft_unit *unit)
{
	u64 real_ns = ktime_get_ns(), gap_ns = real_ns - unit->real_ns;

	WRITE_ONCE(unit->ran_ns, unit->ran_ns + min_t(u64, gap_ns, SOFT_GAP_NS));
	unit->real_ns = real_ns;
	unit->now_ns = vgpu_clock_at(&unit->engine->clock, real_ns);
	return unit->now_ns;
}

/**
 * soft_stop_clock() - read the clock
 * @unit: of an engine in a run
 *
 * Like soft_stop_time(), and notes whether the run's deadline has passed, and whether the slot is
 * over.
 *
 * Context: the unit's thread.
 * Return: the time, in ns of the engine's clock.
 */
u64 soft_stop_clock(struct soft_unit *unit)
{
	if (soft_stop_time(unit) >= unit->engine->run.deadline_ns)
		unit->expired = true;
	soft_stop_look(unit);
	return unit->now_ns;
}

/* Flags that other threads set, and what the unit has seen of the clock. */
static bool soft_stop_flags(struct soft_unit *unit, const struct soft_channel *ch)
{
	return soft_stop_told(unit->engine) || unit->expired || unit->rests ||
	       (ch && READ_ONCE(ch->stop));
}

/* Lets other threads have the processor, and looks at the clock. */
static bool soft_stop_later(struct soft_unit *unit)
{
	unit->view.work = 0;
	/* With work that never ends the thread never sleeps: see soft_engine_thread(). */
	cond_resched_tasks_rcu_qs();
	soft_stop_clock(unit);
	return unit->expired || unit->rests;
}

/**
 * soft_stop_wanted() - tell whether to leave a channel, or the vGPU
 * @unit: of an engine in a run
 * @ch: the channel that the unit is working on, or NULL
 * @work: bytes done since the last call; other work is stated as so many bytes
 *
 * A translation that was made before the call may be invalid after it, see struct soft_place.
 *
 * Looks at flags in every call; at the clock, and for other threads that wait for the processor,
 * every 64 KiB: at least this much gets done however late a run begins.
 *
 * Context: the unit's thread; may reschedule.
 * Return: true to stop.
 */
bool soft_stop_wanted(struct soft_unit *unit, const struct soft_channel *ch, u32 work)
{
	if (unlikely(soft_invalidate_gen(unit->engine->queues) != unit->view.gen))
		soft_invalidate_look(unit);
	if (soft_stop_flags(unit, ch))
		return true;
	unit->view.work += work;
	return unit->view.work >= SOFT_STOP_BYTES && soft_stop_later(unit);
}

/**
 * soft_stop_in_section() - tell whether to close a section in which there are helpers
 * @unit: leads
 * @ch: the channel that the unit is working on
 *
 * Looks at all that soft_stop_wanted() looks at, which is called when the section is closed. An
 * invalidation is not noted before that: helpers use old translations.
 *
 * Context: the unit's thread; may reschedule.
 * Return: true to close it.
 */
bool soft_stop_in_section(struct soft_unit *unit, const struct soft_channel *ch)
{
	return soft_invalidate_gen(unit->engine->queues) != unit->view.gen ||
	       soft_stop_flags(unit, ch) || soft_stop_later(unit);
}

/**
 * soft_stop_hang() - fault injection: a packet that never ends
 * @engine: in a run
 *
 * Neither a deadline nor a preemption ends it, only a reset of the engine; and that reset lasts
 * as long as @engine->hold_reset says.
 *
 * Context: the engine's thread.
 */
void soft_stop_hang(struct soft_engine *engine)
{
	while (atomic_read(&engine->state) != SOFT_ENGINE_RESET) {
		soft_rest(engine);
		soft_stop_clock(&engine->lead);
		cpu_relax();
		cond_resched();
	}
	if (cmpxchg(&engine->hold_reset, SOFT_HOLD_RESET, SOFT_RESET_HELD) != SOFT_HOLD_RESET)
		return;
	while (READ_ONCE(engine->hold_reset))
		schedule_timeout_idle(1);
}
