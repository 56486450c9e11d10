/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One engine in virtual time around the driver's own timeline.c, entity.c and
 * policies, and clients that do what a hostile guest can: stall, reset and close the
 * device, run past deadlines, ring doorbells without work, end just before the slice
 * does. It is a model of its own, independent of sim/des.h, and records
 * nothing but service, so that a search can run it thousands of times.
 */
#ifndef BENCH_ATTACK_SIM_H
#define BENCH_ATTACK_SIM_H

#include "bench_sched.h"
#include "sched/timeline.h"

#define ATTACK_PHASES	3
#define ATTACK_CHANNELS	4
#define ATTACK_CLIENTS	34
#define ATTACK_NEVER	U64_MAX

/* What a client does after a piece of work, until the next one. */
enum attack_move {
	ATTACK_THINK,	/* nothing; then a doorbell */
	ATTACK_STALL,	/* its packets wait for guest memory */
	ATTACK_FRAME,	/* its packets wait for a time, as those of the FRL do */
	ATTACK_RESET,	/* resets the device, then thinks */
	ATTACK_CLOSE,	/* closes the device, and opens it again */
	ATTACK_ABORT,	/* resets the device so long after submitting, done or not */
	ATTACK_SLEEP,	/* no work in all of the phase */
	ATTACK_MOVES
};

/**
 * struct attack_phase - what a client does for some time
 * @length_ns: that; 0: there is no such phase, or if it is the only one, for ever
 * @move:      enum attack_move
 * @job_ns:    work of a piece; 0: to the end of the phase. ATTACK_ABORT: time until
 *             the reset
 * @gap_ns:    from the end of a piece to the next
 * @tail_ns:   a piece ends so long before the deadline of its run; 0: it does not care
 * @overrun_ns: runs so long past a deadline or a request to stop
 * @overrun_every: each so many stops; 0: never
 */
struct attack_phase {
	u64 length_ns;
	u64 move;
	u64 job_ns;
	u64 gap_ns;
	u64 tail_ns;
	u64 overrun_ns;
	u64 overrun_every;
};

/**
 * struct attack_plan - a client's behaviour: its phases again and again
 * @start_ns:   begins so late
 * @spread_ns:  each further client that follows the plan begins so much later
 * @channels:   each goes through the phases by itself
 * @stagger_ns: each so much later than the one before
 * @ring_ns:    a doorbell so often, work or not; 0: only for work
 * @phase:      see there
 */
struct attack_plan {
	u64 start_ns;
	u64 spread_ns;
	u64 channels;
	u64 stagger_ns;
	u64 ring_ns;
	struct attack_phase phase[ATTACK_PHASES];
};

enum attack_group {
	ATTACK_ATTACKER,
	ATTACK_VICTIM,
	ATTACK_OTHER,
	ATTACK_GROUPS
};

struct attack_sim_client {
	enum attack_group group;
	struct vgpu_share share;
	struct attack_plan plan;
};

/**
 * struct attack_sim_config - all there is to a run
 * @params:    the scheduler's
 * @seed:      of the kthread's lateness
 * @length_ns: so long
 * @max_events: or until so many were simulated; 0: any number
 * @late_ns:   everybody's engine stops so late
 * @kick_ns:   the kthread comes up to so late
 * @timer_ns:  a timer's interrupt comes up to so late
 * @switch_ns: to restore a client other than the one before
 * @poll_ns:   the engine looks so long for work before it says idle
 * @stall_ns:  the engine waits so long for guest memory before it says stalled
 * @nr:        clients
 * @client:    these
 */
struct attack_sim_config {
	struct vgpu_sched_params params;
	u64 seed;
	u64 length_ns;
	u64 max_events;
	u64 late_ns;
	u64 kick_ns;
	u64 timer_ns;
	u64 switch_ns;
	u64 poll_ns;
	u64 stall_ns;
	unsigned int nr;
	struct attack_sim_client client[ATTACK_CLIENTS];
};

struct attack_span {
	u64 start_ns;
	u64 end_ns;
};

/**
 * struct attack_record - service of a group of clients
 * @span:       in order, neighbouring ones are one
 * @nr:         of them
 * @service_ns: their sum
 * @debts_ns:   what can be outstanding of overruns at any time, by T1: of each
 *              client a slice and its largest overrun, or all that it overran
 */
struct attack_record {
	struct attack_span *span;
	size_t nr;
	size_t room;
	u64 service_ns;
	u64 debts_ns;
};

/**
 * struct attack_sim_result - what came of a run
 * @record:     by group
 * @overrun_ns: by group, the largest past a deadline or a request to stop
 * @events:     simulated
 * @resets:     of the engine
 * @ended:      @length_ns was reached
 */
struct attack_sim_result {
	struct attack_record record[ATTACK_GROUPS];
	u64 overrun_ns[ATTACK_GROUPS];
	u64 events;
	u64 resets;
	bool ended;
};

void attack_sim_run(const struct attack_sim_config *config,
		    struct attack_sim_result *result);
void attack_sim_free(struct attack_sim_result *result);

#endif /* BENCH_ATTACK_SIM_H */
