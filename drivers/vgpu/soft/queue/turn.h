/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: what of a vGPU's service each channel gets.
 *
 * The core charges the vGPU for a run by its own clock, from the start to the engine's report. The
 * engine divides that: a channel's turn lasts from when the engine begins to work on it until it
 * begins to work on another one. So the engine reads the clock once more where one channel follows
 * another, and a channel that works alone costs no read at all. The last turn of a run gets what is
 * left of the charge, so that the channels' sum is the vGPU's service. The charge is not known yet
 * when the engine leaves the run. So the queue keeps the last turn, and whoever looks next gives it
 * the rest: a reader, or the next run when it begins.
 *
 * A turn is of one enabling of its channel. When the channel is enabled anew, by another process
 * perhaps, the engine may still have the old turn, and the charge of its run may still be to come:
 * what such a turn gets is the channel's, but from before it was enabled.
 *
 * The guest is told of a channel's service in the channel's page: when the engine leaves the
 * channel or finds no packet any more, when the turn is over, when the run ends, and when the
 * channel is disabled. It is told what the engine has measured, which is less than the charge by
 * what begins and ends a run, and then the charge.
 *
 * - Time in which the engine lingers belongs to the channel that has worked last, time without work
 *   to nobody.
 * - Where units of an engine work for several channels at a time (work/beside.h), the time is that
 *   of the channel with which the leader is. It goes from one to the other.
 * - Waiting for guest memory is a turn of the channel that has waited for longest.
 * - A look at a channel that has no packet is a turn of that channel, as its doorbell may be rung
 *   for nothing all the time. When the engine has found no packet on any channel, it goes on with
 *   the turn of the channel that has worked last.
 * - What begins and ends a run belongs to the last turn of the run; a run that finds no channel at
 *   all belongs to the last turn of the runs before it.
 */
#ifndef _VGPU_SOFT_TURN_H
#define _VGPU_SOFT_TURN_H

#include <linux/types.h>

struct soft_channel;
struct soft_engine;
struct soft_queue;
struct soft_queues;
struct vgpu_ctl_channel;

/**
 * struct soft_turn - a turn
 * @ch:       whose turn it is; NULL: nobody's
 * @enabling: of @ch, in the turn
 */
struct soft_turn {
	struct soft_channel *ch;
	u32 enabling;
};

/**
 * struct soft_turns - how the service of an engine's run is divided
 * @now:      the turn that the engine is in; nobody's: the run has had no turn yet
 * @worked:   the last turn of the run in which a channel had work; nobody's: none has had any
 * @over:     the turn before @now, which must get @over_ns yet; nobody's: it has got that
 * @over_ns:  service of @over
 * @begin_ns: when the engine has begun the run
 * @given_ns: service of the run up to @now
 * @ran_ns:   service of the run up to the last soft_turn_note()
 * @untold:   the guest has not been told of @ran_ns
 *
 * Written by the engine's thread.
 */
struct soft_turns {
	struct soft_turn now;
	struct soft_turn worked;
	struct soft_turn over;
	u64 over_ns;
	u64 begin_ns;
	u64 given_ns;
	u64 ran_ns;
	bool untold;
};

static inline void soft_turn_begin_run(struct soft_turns *turns, u64 now_ns)
{
	turns->now.ch = NULL;
	turns->worked.ch = NULL;
	turns->begin_ns = now_ns;
	turns->given_ns = 0;
	turns->untold = false;
}

bool soft_turn_ends(const struct soft_turns *turns, const struct soft_channel *ch);
void soft_turn_next(struct soft_turns *turns, struct soft_channel *ch, u64 now_ns, u64 idle_ns);
void soft_turn_look(struct soft_turns *turns, struct soft_channel *ch, u64 now_ns, u64 idle_ns);
void soft_turn_idle(struct soft_turns *turns, u64 now_ns, u64 idle_ns);
void soft_turn_give_over(struct soft_turns *turns);
void soft_turn_note(struct soft_turns *turns, u64 now_ns, u64 idle_ns);
void soft_turn_tell(struct soft_turns *turns);
void soft_turn_wait(struct soft_engine *engine, u64 now_ns, u64 idle_ns);
void soft_turn_settle(struct soft_queues *queues, unsigned int engine);
void soft_turn_end_run(struct soft_engine *engine);
void soft_turn_enable(struct soft_channel *ch, u64 now_ns);
u64 soft_turn_told_ns(struct soft_channel *ch);
void soft_turn_move(struct soft_channel *ch, u64 told_ns);
void soft_turn_forget(struct soft_queues *queues);
bool soft_turn_report(struct soft_channel *ch, struct vgpu_ctl_channel *out);

#endif /* _VGPU_SOFT_TURN_H */
