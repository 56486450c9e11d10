/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the simulator: des.c (time, the kthread, what happens by the script),
 * des_engine.c (engines), des_client.c (loads).
 */
#ifndef _VGPU_DES_SIM_H
#define _VGPU_DES_SIM_H

#include <stdlib.h>
#include <ucontext.h>

#include <linux/bug.h>
#include <linux/kernel.h>

#include "des.h"

#define DES_MAX_DEPTH	64

#define des_push(vec) ({						\
	__typeof__(vec) __vec = (vec);					\
									\
	if (__vec->nr == __vec->room) {					\
		__vec->room = __vec->room ? 2 * __vec->room : 16;	\
		__vec->at = realloc(__vec->at,				\
				    __vec->room * sizeof(*__vec->at));	\
		BUG_ON(!__vec->at);					\
	}								\
	&__vec->at[__vec->nr++];					\
})
#define des_last(vec)	(&(vec)->at[(vec)->nr - 1])

/**
 * struct des_job - one job, at its present stage
 * @submit_ns: when
 * @first_ns:  when its first stage began; DES_NEVER: not yet
 * @due_ns:    a frame is to be done by then
 * @left_ns:   of this stage
 * @done_ns:   of this stage
 * @stage:     which
 * @endless:   of a client that is always busy
 * @hung:      it never ends nor stops
 * @to_stall_ns: work until it stalls next; DES_NEVER: it does not
 * @stalled:   it cannot go on now
 * @loads:     of which of its client's loads
 */
struct des_job {
	u64 submit_ns;
	u64 first_ns;
	u64 due_ns;
	u64 left_ns;
	u64 done_ns;
	unsigned int stage;
	bool endless;
	bool hung;
	u64 to_stall_ns;
	bool stalled;
	unsigned int loads;
};

/**
 * struct des_entity - a client on an engine
 * @jobs:     a ring of @room, @nr from @head on
 * @runnable: as last recorded
 * @waits:    its last wait has not ended
 * @held_ns:  when it was last seen held
 * @go_on_ns: when its first job can go on; DES_NEVER: it is not stalled
 */
struct des_entity {
	struct vgpu_entity entity;
	struct des_client *client;
	struct des_engine *engine;
	struct des_track *track;
	struct des_job *jobs;
	unsigned int head;
	unsigned int nr;
	unsigned int room;
	bool runnable;
	bool waits;
	u64 held_ns;
	u64 go_on_ns;
};

/**
 * struct des_client - a vGPU
 * @random:    state
 * @started:   its device is open
 * @hold:      VGPU_HOLD_*
 * @in_flight: jobs at any stage
 * @began_ns:  when the load began
 * @due_ns:    when jobs are to be submitted, in no order
 * @next_ns:   when the next burst or frame comes, without its jitter
 * @loads:     how often it got another load
 * @hold_ns:   when its device is to be held; DES_NEVER: it is not
 * @unhold_ns: when that ends
 */
struct des_client {
	struct des_sim *sim;
	unsigned int index;
	struct des_load load;
	struct des_record *record;
	u64 random;
	bool started;
	unsigned int hold;
	unsigned int in_flight;
	u64 began_ns;
	u64 due_ns[DES_MAX_DEPTH];
	unsigned int nr_due;
	u64 next_ns;
	unsigned int loads;
	u64 hold_ns;
	u64 unhold_ns;
	struct des_entity entity[DES_MAX_ENGINES];
};

enum des_phase {
	DES_OFF,	/* no run */
	DES_SWITCH,	/* restoring */
	DES_WORK,
	DES_IDLE,	/* polls, not charged */
	DES_LINGER,	/* polls, charged */
	DES_IN_RESET,
};

/**
 * struct des_engine - an engine
 * @ran:       who ran last
 * @mark_ns:   @phase is accounted until then
 * @span_ns:   service not recorded yet begins then
 * @switch_ns: left to restore
 * @empty_ns:  since when there is nothing to do; DES_NEVER: there is
 * @stop_ns:   asked to stop then; DES_NEVER: it was not
 * @end_ns:    it stops then; DES_NEVER: not known yet
 * @run:       record of the run under way
 * @worker:    where its worker goes on
 * @stack:     the worker's; NULL: it never had anything to do
 * @working:   the worker has something to do
 * @fake:      AddressSanitizer's, for the worker
 */
struct des_engine {
	struct vgpu_timeline tl;
	struct des_sim *sim;
	unsigned int index;
	struct des_engine_record *record;
	enum des_phase phase;
	struct des_entity *entity;
	struct des_entity *ran;
	u64 mark_ns;
	u64 span_ns;
	u64 switch_ns;
	u64 empty_ns;
	u64 stop_ns;
	u64 end_ns;
	struct des_run run;
	ucontext_t worker;
	void *stack;
	bool working;
	void *fake;
};

/**
 * struct des_sim - the simulator
 * @now_ns:   time, from DES_EPOCH_NS on
 * @due_ns:   by source: engines, clients, the script, the kthread, timers,
 *            workers
 * @tie:      by source: who is first at the same time
 * @heap:     sources by @due_ns
 * @place:    by source: in @heap
 * @serving:  the kthread is at it
 * @loop:     where the worker that goes on returns to
 * @loop_stack: and that one's stack
 * @loop_size: and its size
 * @loop_fake: AddressSanitizer's
 * @at_work:  whose worker goes on; NULL: none
 * @kicked:   meanwhile it was kicked
 * @recording: the end is not yet
 */
struct des_sim {
	struct des *des;
	const struct des_config *config;
	u64 now_ns;
	u64 random;
	unsigned int nr_sources;
	u64 *due_ns;
	u64 *tie;
	unsigned int *heap;
	unsigned int *place;
	unsigned int next_action;
	bool serving;
	ucontext_t loop;
	const void *loop_stack;
	size_t loop_size;
	void *loop_fake;
	struct des_engine *at_work;
	bool kicked;
	bool recording;
	struct des_engine engine[DES_MAX_ENGINES];
	struct des_client *client;
};

/* The clock does not begin with 0. Records do. */
#define DES_EPOCH_NS	(1000 * DES_SEC)

/* Beside VGPU_HOLD_*: a client's own doing. */
#define DES_HOLD_OWN	0x100

u64 des_random(u64 *state, u64 lo, u64 hi);
u64 des_random_upto(u64 *state, u64 lo, u64 hi);
u64 des_at(const struct des_sim *sim);
void des_due_at(struct des_sim *sim, unsigned int source, u64 due_ns);
void des_poke_pollers(struct des_sim *sim);
void des_sleep_ns(struct des_sim *sim, u64 ns);

extern const struct vgpu_timeline_ops des_engine_ops;
void des_engine_event(struct des_engine *engine);
void des_engine_poke(struct des_engine *engine);
void des_engine_flush(struct des_engine *engine);

struct des_job *des_job(struct des_entity *entity);
void des_client_event(struct des_client *client);
void des_client_begin(struct des_client *client);
void des_client_load(struct des_client *client, const struct des_load *load);
void des_client_drop(struct des_client *client);
void des_client_drain(struct des_client *client);
void des_client_runnable(struct des_client *client);
void des_entity_runnable(struct des_entity *entity);
void des_job_done(struct des_entity *entity);
void des_job_fault(struct des_entity *entity);
void des_job_stall(struct des_entity *entity);

#endif /* _VGPU_DES_SIM_H */
