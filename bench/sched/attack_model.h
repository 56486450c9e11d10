/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the simulator of attack_sim.h: attack_sim.c (time and what the kernel does),
 * attack_client.c (what clients do), attack_engine.c (the engine).
 */
#ifndef BENCH_ATTACK_MODEL_H
#define BENCH_ATTACK_MODEL_H

#include <linux/bug.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/workqueue.h>

#include "attack_sim.h"

#define SIM_EPOCH_NS	(1000 * SEC)	/* the clock does not begin with 0 */
#define SIM_ENDLESS_NS	BIT_ULL(60)
#define SIM_RESET_NS	(200 * US)	/* an engine reset takes */
#define SIM_LOOK_NS	(10 * US)	/* how often an engine looks that may go on waiting */
#define SIM_STRIKES	3		/* then the host quarantines the client */

enum sim_phase {
	SIM_OFF,	/* no run */
	SIM_SWITCH,	/* restoring */
	SIM_WORK,
	SIM_IDLE,	/* polls, not charged */
	SIM_LINGER,	/* polls, charged */
	SIM_STALL,	/* waits for guest memory, charged */
	SIM_RESETTING,
};

/**
 * struct sim_channel - a channel of a client
 * @phase:    of the piece of work it has, or had
 * @active:   it is to be done
 * @left_ns:  of it
 * @cut_ns:   then it is over, done or not
 * @wake_ns:  the next one begins
 * @stalled:  until then its packets wait
 * @framed:   likewise, and for a time
 * @origin_ns: its phases began
 */
struct sim_channel {
	const struct attack_phase *phase;
	bool active;
	u64 left_ns;
	u64 cut_ns;
	u64 wake_ns;
	bool stalled;
	bool framed;
	u64 origin_ns;
};

enum sim_state {
	SIM_UP,
	SIM_GOING,	/* to be reset or closed, on the engine still */
	SIM_DOWN,
};

/**
 * struct sim_client - a vGPU
 * @state:    of its device
 * @move:     why it is not up: ATTACK_RESET or ATTACK_CLOSE
 * @gap_ns:   so long it thinks, or stays closed, after
 * @up_ns:    it is opened
 * @abort_ns: it is reset
 * @ring_ns:  its next doorbell without reason
 * @stops:    times it was to stop
 * @strikes:  hangs and gross overruns
 * @quarantine: wanted, as it has too many
 * @overran_ns: sum
 * @overrun_ns: largest
 */
struct sim_client {
	struct vgpu_entity entity;
	const struct attack_sim_client *config;
	struct sim *sim;
	unsigned int index;
	enum sim_state state;
	enum attack_move move;
	u64 gap_ns;
	u64 up_ns;
	u64 abort_ns;
	u64 ring_ns;
	unsigned int stops;
	unsigned int strikes;
	bool quarantine;
	u64 overran_ns;
	u64 overrun_ns;
	struct sim_channel channel[ATTACK_CHANNELS];
};

/**
 * struct sim - one engine, its kthread, its clients
 * @due_ns:   of each client, the engine, the kthread, the timer and the worker
 * @timer:    the timeline's, while it is armed
 * @work:     what the worker is to do
 * @phase:    the engine's
 * @client_on: whose run it is; NULL: none
 * @ran:      whose was the last
 * @mark_ns:  @phase is accounted until then
 * @span_ns:  service not recorded yet begins then
 * @start_ns: of the run
 * @deadline_ns: of the run
 * @stop_ns:  asked to stop then
 * @end_ns:   it stops then; ATTACK_NEVER: not known yet
 * @switch_ns: left to restore
 * @empty_ns: since when there is nothing to do
 * @wait_ns:  since when it waits for guest memory
 * @serving:  the kthread is at it
 * @kicked:   meanwhile it was kicked
 * @ending:   no more work comes
 */
struct sim {
	const struct attack_sim_config *config;
	struct attack_sim_result *result;
	struct vgpu_timeline tl;
	u64 now_ns;
	u64 random;
	unsigned int nr;
	u64 due_ns[ATTACK_CLIENTS + 4];
	struct hrtimer *timer;
	struct work_struct *work;
	struct sim_client client[ATTACK_CLIENTS];
	enum sim_phase phase;
	struct sim_client *client_on;
	struct sim_client *ran;
	u64 mark_ns;
	u64 span_ns;
	u64 start_ns;
	u64 deadline_ns;
	u64 stop_ns;
	u64 end_ns;
	u64 switch_ns;
	u64 empty_ns;
	u64 wait_ns;
	u64 idle_ns;
	u64 linger_ns;
	bool serving;
	bool kicked;
	bool ending;
};

static inline u64 *sim_engine_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr];
}

static inline u64 *sim_kthread_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr + 1];
}

static inline u64 *sim_timer_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr + 2];
}

static inline u64 *sim_worker_due(struct sim *sim)
{
	return &sim->due_ns[sim->nr + 3];
}

static inline void sim_poke(struct sim *sim)
{
	*sim_engine_due(sim) = sim->now_ns;
}

static inline struct sim_client *to_client(struct vgpu_entity *entity)
{
	return container_of(entity, struct sim_client, entity);
}

/* attack_sim.c: one simulation at a time, as the kernel's calls do not say of which */
extern struct sim *the_sim;

bool sim_step(struct sim *sim, u64 limit_ns);

/* attack_client.c */
struct sim_channel *client_ready(struct sim_client *client);
bool client_stalled(const struct sim_client *client);
unsigned int client_channels(const struct sim_client *client);
void client_due(struct sim_client *client);
void channel_done(struct sim_client *client, struct sim_channel *ch);
const struct attack_phase *channel_phase(const struct sim_client *client,
					 const struct sim_channel *ch,
					 u64 *end_ns);
void client_off(struct sim_client *client);
void client_event(struct sim_client *client);

/* attack_engine.c */
extern const struct vgpu_timeline_ops sim_ops;
void sim_account(struct sim *sim);
void sim_span(struct sim *sim);
void sim_engine_event(struct sim *sim);

#endif /* BENCH_ATTACK_MODEL_H */
