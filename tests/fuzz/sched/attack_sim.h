/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients that do what a hostile guest can, on one engine of the simulated host of sim/host.h:
 * stall, reset and close the device, run past deadlines, ring doorbells without work, end just
 * before the slice does. These clients can say what those of sim/des.h cannot, and nothing but
 * service is recorded, so that a search can run thousands of simulations.
 */
#ifndef BENCH_ATTACK_SIM_H
#define BENCH_ATTACK_SIM_H

#include "bench_sched.h"
#include "sched/timeline.h"

#define ATTACK_PHASES	3
#define ATTACK_CHANNELS	4
#define ATTACK_CLIENTS	34
#define ATTACK_NEVER	U64_MAX

/* What a client does between a piece of work and the next one. */
enum attack_move {
	ATTACK_THINK,	/* nothing; then it rings the doorbell */
	ATTACK_STALL,	/* its packets wait for guest memory */
	ATTACK_FRAME,	/* its packets wait for a time, as those of the frame rate limit do */
	ATTACK_RESET,	/* it resets the device, then thinks */
	ATTACK_CLOSE,	/* it closes the device, and opens the device again */
	ATTACK_ABORT,	/* it resets the device at a time, whether the work is done or not */
	ATTACK_SLEEP,	/* there is no work in all of the phase */
	ATTACK_MOVES
};

/**
 * struct attack_phase - what a client does for some time; all is 64 bits wide for attack_text.c
 * @length_ns: length of the phase; 0: it is left out, or lasts for ever if all have length 0
 * @move:      enum attack_move: what follows a piece of work
 * @job_ns:    length of a piece of work; 0: to the end of the phase. ATTACK_ABORT: time from the
 *             submission to the reset
 * @gap_ns:    time from the end of a piece of work to the next
 * @tail_ns:   a piece of work ends so long before the deadline of its run; 0: wherever it does
 * @overrun_ns: a run goes on for so long past a deadline or a request to stop
 * @overrun_every: every so many stops; 0: never
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
 * struct attack_plan - the behaviour of a client: its phases, again and again
 * @start_ns:   the first phase begins so late
 * @spread_ns:  for each further client that follows the plan so much later
 * @channels:   number of channels, each of which goes through the phases by itself
 * @stagger_ns: each further channel begins so much later
 * @ring_ns:    the client rings the doorbell so often, work or not; 0: only for work
 * @phase:      the phases
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

/**
 * struct attack_sim_client - a client
 * @group: group in whose record its service is counted
 * @share: its share of the engine
 * @plan:  its behaviour
 */
struct attack_sim_client {
	enum attack_group group;
	struct vgpu_share share;
	struct attack_plan plan;
};

/**
 * struct attack_machine - latencies of the machine, in ns
 * @late_ns:   the engine stops so late, whichever client runs
 * @kick_ns:   the kthread comes up to so late
 * @timer_ns:  a timer's interrupt comes up to so late
 * @switch_ns: restoring a client other than the one before takes so long
 * @poll_ns:   the engine looks for work for so long before it reports that it is idle
 * @stall_ns:  the engine waits for guest memory for so long before another client may have it
 */
struct attack_machine {
	u64 late_ns;
	u64 kick_ns;
	u64 timer_ns;
	u64 switch_ns;
	u64 poll_ns;
	u64 stall_ns;
};

/**
 * struct attack_sim_config - all there is to a simulation
 * @params:    parameters of the timeline
 * @seed:      seed of the latenesses
 * @length_ns: length of the simulation
 * @max_events: it ends before that if more things than this have happened; 0: any number may
 * @machine:   latencies
 * @nr:        length of @client
 * @client:    the clients
 */
struct attack_sim_config {
	struct vgpu_sched_params params;
	u64 seed;
	u64 length_ns;
	u64 max_events;
	struct attack_machine machine;
	unsigned int nr;
	struct attack_sim_client client[ATTACK_CLIENTS];
};

/* Service: the engine was occupied by a client of a group. */
struct attack_span {
	u64 start_ns;
	u64 end_ns;
};

/**
 * struct attack_record - service of a group of clients
 * @span:       spans in order of time; two that touch are one
 * @nr:         number of spans
 * @room:       number of spans for which there is memory
 * @service_ns: sum of the spans
 * @debts_ns:   how much of overruns can be outstanding at any time, by T1: of each client a slice
 *              and its largest overrun, or the sum of its overruns if that is less
 */
struct attack_record {
	struct attack_span *span;
	size_t nr;
	size_t room;
	u64 service_ns;
	u64 debts_ns;
};

/**
 * struct attack_sim_result - what came of a simulation
 * @record:     by group, its service
 * @overrun_ns: by group, the longest time past a deadline or a request to stop
 * @events:     number of things that happened
 * @resets:     number of resets of the engine
 * @ended:      the simulation reached its length
 */
struct attack_sim_result {
	struct attack_record record[ATTACK_GROUPS];
	u64 overrun_ns[ATTACK_GROUPS];
	u64 events;
	u64 resets;
	bool ended;
};

void attack_sim_run(const struct attack_sim_config *config, struct attack_sim_result *result);
void attack_sim_free(struct attack_sim_result *result);

#endif /* BENCH_ATTACK_SIM_H */
