/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Units: the threads of an engine. One leads: it takes runs and channels, executes packets, and
 * reports to the core. Others help it (team.h).
 */
#ifndef _VGPU_SOFT_UNIT_H
#define _VGPU_SOFT_UNIT_H

#include <linux/rcuwait.h>
#include <linux/types.h>

#include "../memory/space.h"

struct soft_engine;
struct soft_section;
struct task_struct;

/**
 * struct soft_unit - a thread of an engine, and what is that thread's own
 * @engine:  the engine; constant
 * @section: data of the packet types for the unit, or NULL; constant
 * @task:    the thread
 * @wake:    the thread waits here for a run, and in a run for guest memory; a helper for a section
 * @now_ns:  the engine's clock when the thread last read it. This and the following fields are
 *           written by the thread only
 * @real_ns: CLOCK_MONOTONIC then
 * @ran_ns:  how long the unit has been able to work so far (other threads also read it)
 * @expired: the run's deadline has passed
 * @rests:   the engine's clock stood still when the thread last looked at it: the unit must leave
 *           its channel
 * @space_gen: soft_invalidate_gen() of the run's vGPU when the unit last looked at it (other
 *           threads also read it, with that vGPU's queue_lock held and soft_queue.in_run set)
 * @view:    how the unit looks at the vGPU's memory; valid during a run, a helper's in a section
 * @run:     of a helper: struct soft_engine.runs when it last set @view
 * @section_number: of a helper: struct soft_team.number when it last looked at the section
 * @until_ns: of a helper in a section: when to leave it, by ktime_get_ns()
 */
struct soft_unit {
	struct soft_engine *engine;
	struct soft_section *section;
	struct task_struct *task;
	struct rcuwait wake;
	u64 now_ns;
	u64 real_ns;
	u64 ran_ns;
	bool expired;
	bool rests;
	u32 space_gen;
	struct soft_view view;
	u64 run;
	u32 section_number;
	u64 until_ns;
};

/* Begins a run. In the unit's thread. */
static inline void soft_unit_begin_run(struct soft_unit *unit, u64 now_ns)
{
	unit->now_ns = now_ns;
	unit->expired = false;
	unit->view.work = 0;
}

int soft_unit_start(struct soft_unit *unit, struct soft_engine *engine, unsigned int index,
		    int (*thread)(void *unit), const char *gpu_name);
void soft_unit_stop(struct soft_unit *unit);
void soft_unit_place(const struct soft_unit *unit);
void soft_unit_pin(const struct soft_unit *unit);
unsigned int soft_unit_cpus(const struct soft_engine *engine);

#endif /* _VGPU_SOFT_UNIT_H */
