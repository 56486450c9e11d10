/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: what of a run's service each channel gets.
 *
 * The core charges the vGPU for a run by its own clock, from the start to the engine's report. The
 * engine divides that: a channel's turn lasts from when the engine begins to work on it until it
 * begins to work on another one. So the engine reads the clock once more where one channel follows
 * another, and a channel that works alone costs no read at all. The last turn of a run gets what is
 * left of the charge, so that the channels' sum is the vGPU's service.
 *
 * - Time in which the engine lingers belongs to the turn before it, time without work to nobody.
 * - Waiting for guest memory is a turn of the channel that has waited for longest.
 * - A look at a channel that has no packet belongs to the turn before it. If there is none, as the
 *   channel's doorbell was rung for nothing, it is the channel's turn.
 * - What begins and ends a run, and a run that finds no channel at all, belong to the last turn.
 */
#ifndef _VGPU_SOFT_TURN_H
#define _VGPU_SOFT_TURN_H

#include <linux/types.h>

struct soft_channel;
struct soft_queue;
struct soft_queues;
struct vgpu_ctl_channel;

/**
 * struct soft_turn - how the service of an engine's run is divided
 * @ch:       whose turn it is; NULL: the run has had no turn yet
 * @begin_ns: when the engine has begun the run
 * @given_ns: service of the run that earlier turns have got
 *
 * Written by the engine's thread. Valid until the run has been charged.
 */
struct soft_turn {
	struct soft_channel *ch;
	u64 begin_ns;
	u64 given_ns;
};

static inline void soft_turn_begin_run(struct soft_turn *turn, u64 now_ns)
{
	turn->ch = NULL;
	turn->begin_ns = now_ns;
	turn->given_ns = 0;
}

/* Whether work on @ch would end the turn of another channel, so that the time must be known. */
static inline bool soft_turn_ends(const struct soft_turn *turn, const struct soft_channel *ch)
{
	return turn->ch && turn->ch != ch;
}

void soft_turn_next(struct soft_turn *turn, struct soft_channel *ch, u64 now_ns, u64 idle_ns);
void soft_turn_charge(const struct soft_turn *turn, struct soft_queue *queue, u64 ran_ns);
void soft_turn_enable(struct soft_channel *ch, u64 now_ns);
void soft_turn_forget(struct soft_queues *queues);
bool soft_turn_report(struct soft_channel *ch, struct vgpu_ctl_channel *out);

#endif /* _VGPU_SOFT_TURN_H */
