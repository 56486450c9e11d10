/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside attack_sim.h: attack_client.c (clients that follow a plan), attack_sim.c (what the host of
 * sim/host.h asks of them, and what is recorded).
 */
#ifndef BENCH_ATTACK_MODEL_H
#define BENCH_ATTACK_MODEL_H

#include "attack_sim.h"
#include "host.h"

#define ATTACK_ENDLESS_NS	BIT_ULL(60)
#define ATTACK_STRIKES		3	/* then the host quarantines the client */

/**
 * struct attack_channel - a channel of a client; times are of the host's clock
 * @phase:    phase of the present piece of work, or of the last one
 * @active:   a piece of work is to be done
 * @left_ns:  work left of it
 * @cut_ns:   the piece of work is over then, done or not; ATTACK_NEVER: when it is done
 * @wake_ns:  the next piece of work begins; ATTACK_NEVER: not planned
 * @stalled:  the channel's packets wait until @wake_ns
 * @framed:   and what they wait for is that time
 * @origin_ns: begin of the first phase
 */
struct attack_channel {
	const struct attack_phase *phase;
	bool active;
	u64 left_ns;
	u64 cut_ns;
	u64 wake_ns;
	bool stalled;
	bool framed;
	u64 origin_ns;
};

/**
 * enum attack_state - the state of a client's device
 * @ATTACK_UP:    open
 * @ATTACK_GOING: to be reset or closed, on the engine still
 * @ATTACK_DOWN:  being reset, or closed
 */
enum attack_state {
	ATTACK_UP,
	ATTACK_GOING,
	ATTACK_DOWN,
};

/**
 * struct attack_client - a vGPU; times are of the host's clock, ATTACK_NEVER: not planned
 * @entity:   what the host knows of it
 * @config:   the caller's
 * @sim:      the simulation
 * @index:    of it in the configuration
 * @state:    of its device
 * @move:     why the device is not open: ATTACK_RESET or ATTACK_CLOSE
 * @gap_ns:   the client thinks for so long after a reset, or keeps its device closed
 * @up_ns:    the device is opened
 * @abort_ns: the device is reset or closed
 * @ring_ns:  the next doorbell without reason
 * @stops:    how often its runs were to stop
 * @strikes:  hangs and overruns beyond the preemption timeout
 * @quarantine: the client has too many of these and is to be held
 * @overran_ns: sum of its overruns
 * @overrun_ns: the largest one
 * @channel:  of which plan.channels are used
 */
struct attack_client {
	struct host_entity entity;
	const struct attack_sim_client *config;
	struct attack_sim *sim;
	unsigned int index;
	enum attack_state state;
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
	struct attack_channel channel[ATTACK_CHANNELS];
};

/**
 * struct attack_sim - a simulation
 * @host:   the host and its one engine
 * @config: the caller's
 * @result: the caller's
 * @client: by index of the configuration
 * @ending: the record is complete, and no more work comes
 */
struct attack_sim {
	struct host host;
	const struct attack_sim_config *config;
	struct attack_sim_result *result;
	struct attack_client client[ATTACK_CLIENTS];
	bool ending;
};

static inline struct attack_sim *to_attack_sim(struct host *host)
{
	return container_of(host, struct attack_sim, host);
}

static inline struct attack_client *to_attack_client(struct host_entity *entity)
{
	return container_of(entity, struct attack_client, entity);
}

/* Whether it is @client's run. */
static inline bool attack_runs(const struct attack_client *client)
{
	return client->entity.engine->entity == &client->entity;
}

/* attack_client.c */
void attack_client_begin(struct attack_client *client, u64 now_ns);
unsigned int attack_client_channels(const struct attack_client *client);
struct attack_channel *attack_client_ready(struct attack_client *client);
bool attack_client_stalled(const struct attack_client *client);
void attack_client_due(struct attack_client *client);
const struct attack_phase *attack_channel_phase(const struct attack_client *client,
						const struct attack_channel *ch, u64 *end_ns);
void attack_channel_done(struct attack_client *client, struct attack_channel *ch);
void attack_client_off(struct attack_client *client);
void attack_client_idle(struct attack_client *client);
void attack_client_event(struct host *host, unsigned int index);

#endif /* BENCH_ATTACK_MODEL_H */
