// SPDX-License-Identifier: GPL-2.0
/* Rest: an engine whose partition shares CPUs by slots sleeps outside of them. */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "queues.h"

static bool soft_rest_ends(struct soft_engine *engine)
{
	return soft_stop_told(engine) ||
	       soft_invalidate_gen(engine->queues) != engine->lead.view.gen;
}

/* Sleeps until @real_ns, or until somebody wants something of the engine. */
static void soft_rest_sleep(struct soft_engine *engine, u64 real_ns)
{
	ktime_t until = ns_to_ktime(real_ns);

	prepare_to_rcuwait(&engine->lead.wake);
	/* A barrier; pairs with that of rcuwait_wake_up(). */
	set_current_state(TASK_IDLE);
	if (!soft_rest_ends(engine))
		schedule_hrtimeout(&until, HRTIMER_MODE_ABS_HARD);
	finish_rcuwait(&engine->lead.wake);
}

/**
 * soft_rest() - sleep while the engine's clock stands still
 * @engine: in a run, and at work on no channel, or its packet hangs
 *
 * Returns at once when the engine is asked to stop, and notes at once that translations were
 * invalidated: nobody waits for a slot. For the run no time passes meanwhile.
 *
 * Context: the engine's thread; sleeps.
 */
void soft_rest(struct soft_engine *engine)
{
	struct soft_unit *unit = &engine->lead;

	while (unit->rests && !soft_stop_told(engine)) {
		if (soft_rest_ends(engine))
			soft_invalidate_look(unit);
		soft_rest_sleep(engine, vgpu_clock_real(&engine->clock, unit->now_ns));
		soft_stop_resume(unit);
	}
}
