/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines of a software GPU, and the decision when an engine leaves its work.
 *
 * The core calls soft_engine_run() and soft_engine_preempt() with a timeline's lock held. They take
 * no lock.
 */
#ifndef _VGPU_SOFT_ENGINE_H
#define _VGPU_SOFT_ENGINE_H

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/rcuwait.h>
#include <linux/types.h>
#include <linux/vgpu.h>
#include <linux/vgpu_clock.h>

#include "team.h"
#include "turn.h"
#include "unit.h"

struct cpumask;
struct soft_channel;
struct soft_packet_desc;
struct soft_queues;

#define SOFT_ENGINES		3
#define SOFT_HIST		24

/*
 * An engine reads the clock at least once per this number of bytes of work, which stands for 50 us.
 * No work may take longer: work that takes time besides the bytes is stated in bytes, too.
 */
#define SOFT_STOP_BYTES		65536

/* Fault injection: values of struct soft_engine.hold_reset. */
#define SOFT_HOLD_RESET		1
#define SOFT_RESET_HELD		2

enum soft_engine_state {
	SOFT_ENGINE_IDLE,
	SOFT_ENGINE_RUNNING,
	SOFT_ENGINE_RESET,	/* the thread must leave its run without a report */
	SOFT_ENGINE_ENDING,	/* the thread is reporting the end of its run */
};

/**
 * struct soft_engine - an engine
 * @index:    number of the engine on its GPU; constant
 * @desc:     name and class; constant
 * @poll_ns:  how long the engine polls an empty channel before the channel sleeps; constant
 * @types:    the packet types, VGPU_HW_PKT_END rows; constant
 * @cpus:     the CPUs on which the engine's threads run; empty: all CPUs; constant
 * @clock:    the partition's clock, which deadlines and service are by; constant
 * @lead:     the unit whose thread is the engine's
 * @team:     units that help it
 * @part:     the core's structure of the partition that it is an engine of; set with @run
 * @run:      the run; written by the thread that sets @state to RUNNING
 * @state:    enum soft_engine_state
 * @preempt:  the run must stop; read without a lock
 * @hang:     enum vgpu_hw_packet_type: the next packet of this type never ends (fault
 *            injection); 0: none
 * @hold_reset: SOFT_HOLD_RESET: the engine reset that ends a hang does not end before 0 is
 *            written here; SOFT_RESET_HELD: such a reset has begun and waits
 * @idle:     soft_engine_reset() waits here for the thread to leave its run
 * @queues:   queues of the run's vGPU; valid during a run. This and the following fields are
 *            written by the engine's thread only
 * @turns:    which channels get the service of the run
 * @runs:     number of runs that have begun
 * @since_ns: time since which the last run's vGPU has had no work, if that run ended while the
 *            engine lingered on it; else 0
 * @left_ns:  end of the last packet of the vGPU that ran before, until the vGPU of this run begins
 *            a packet; 0: no switch is being measured
 * @switches: number of direct switches from one vGPU to another
 * @switch_ns: time from the last packet of the one to the first packet of the other, summed over
 *            all switches
 * @switch_hist: switches by that time: [0] below 1 us, [i] from 2^(i-1) us to less than 2^i us
 * @switch_array: @switch_hist as debugfs shows it
 */
struct soft_engine {
	unsigned int index;
	const struct vgpu_engine_desc *desc;
	u64 poll_ns;
	const struct soft_packet_desc *types;
	const struct cpumask *cpus;
	struct vgpu_clock clock;
	struct soft_unit lead;
	struct soft_team team;
	struct vgpu_partition *part;
	struct vgpu_run run;
	atomic_t state;
	bool preempt;
	u32 hang;
	u32 hold_reset;
	struct rcuwait idle;
	struct soft_queues *queues;
	struct soft_turns turns;
	u64 runs;
	u64 since_ns;
	u64 left_ns;
	u64 switches;
	u64 switch_ns;
	u32 switch_hist[SOFT_HIST];
	struct debugfs_u32_array switch_array;
};

/* Whether the run must stop: it is preempted, or the engine is being reset. */
static inline bool soft_stop_told(struct soft_engine *engine)
{
	return READ_ONCE(engine->preempt) || atomic_read(&engine->state) != SOFT_ENGINE_RUNNING;
}

/* engine.c */
int soft_engine_init(struct soft_engine *engine, const char *gpu_name);
void soft_engine_exit(struct soft_engine *engine);
void soft_engine_run(struct soft_engine *engine, struct vgpu_partition *part,
		     const struct vgpu_run *run);
void soft_engine_preempt(struct soft_engine *engine);
void soft_engine_reset(struct soft_engine *engine);
u64 soft_engine_ran_ns(const struct soft_engine *engine);

/* stop.c */
bool soft_stop_wanted(struct soft_unit *unit, const struct soft_channel *ch, u32 work);
bool soft_stop_in_section(struct soft_unit *unit, const struct soft_channel *ch);
u64 soft_stop_time(struct soft_unit *unit);
u64 soft_stop_clock(struct soft_unit *unit);
void soft_stop_hang(struct soft_engine *engine);

/* Notes whether the engine's slot is over. Context: the unit's thread. */
static inline void soft_stop_look(struct soft_unit *unit)
{
	const struct vgpu_clock *clock = &unit->engine->clock;

	unit->rests = vgpu_clock_stands_at(clock, unit->real_ns) == unit->real_ns;
}

/**
 * soft_stop_resume() - read the clock when a unit goes on, that has had nothing to do or has slept
 * @unit: of an engine in a run
 *
 * Context: the unit's thread.
 * Return: the time, in ns of the engine's clock.
 */
static inline u64 soft_stop_resume(struct soft_unit *unit)
{
	unit->real_ns = ktime_get_ns();
	unit->now_ns = vgpu_clock_at(&unit->engine->clock, unit->real_ns);
	soft_stop_look(unit);
	return unit->now_ns;
}

/* rest.c */
void soft_rest(struct soft_engine *engine);

#endif /* _VGPU_SOFT_ENGINE_H */
