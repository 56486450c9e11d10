/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the simulation of des.h, on the host of host.h: des.c (the script, begin and end),
 * des_client.c (loads), des_record.c (what is recorded).
 */
#ifndef _SIM_DES_SIM_H
#define _SIM_DES_SIM_H

#include "des.h"
#include "host.h"

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
 * struct des_job - one job, at its present stage; times are of the host's clock or of the record
 * @submit_ns: when the client submitted it (record)
 * @first_ns:  when its first stage began (record); DES_NEVER: not yet
 * @due_ns:    when a frame is to be done (clock); DES_NEVER: the job is no frame
 * @left_ns:   work left of this stage
 * @done_ns:   work done of this stage
 * @stage:     index of the stage
 * @endless:   the client is always busy: @left_ns does not get less
 * @hung:      the job never ends nor stops
 * @to_stall_ns: work until the job stalls next; DES_NEVER: it does not
 * @stalled:   the job cannot go on now
 * @loads:     client->loads when the client submitted it
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
 * @host:     what the host knows of it
 * @client:   the client
 * @track:    its record
 * @jobs:     a ring of @room jobs, of which @nr from @head on are there
 * @head:     index of the first job, which is the one that the engine works on
 * @nr:       number of jobs
 * @room:     size of the ring
 * @runnable: as last recorded
 * @waits:    the last wait in the record has not ended
 * @held_ns:  when the device was last seen closed or held (record)
 * @go_on_ns: when the first job can go on (clock); DES_NEVER: it is not stalled
 */
struct des_entity {
	struct host_entity host;
	struct des_client *client;
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
 * struct des_client - a vGPU; times are of the host's clock
 * @sim:       the simulation
 * @index:     of it in config->client
 * @load:      present load
 * @record:    its record
 * @random:    state of its random numbers
 * @started:   its device is open
 * @hold:      reasons for which its device is held, VGPU_HOLD_* and DES_HOLD_OWN
 * @in_flight: its jobs at any stage
 * @began_ns:  when the load began
 * @due_ns:    when jobs are to be submitted, in no order
 * @nr_due:    length of that
 * @next_ns:   when the next burst or frame comes, without its jitter
 * @loads:     how often a load began or ended: jobs of earlier ones have no successors
 * @hold_ns:   when it has its device held; DES_NEVER: not planned
 * @unhold_ns: when that ends; DES_NEVER: not planned
 * @entity:    by engine
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

/**
 * struct des_sim - a simulation
 * @host:      the host it runs on
 * @config:    the caller's
 * @des:       the record
 * @client:    by index of config->client
 * @next_action: index of the next action of the script
 * @recording: the end of the record has not come yet
 */
struct des_sim {
	struct host host;
	const struct des_config *config;
	struct des *des;
	struct des_client *client;
	unsigned int next_action;
	bool recording;
};

/* Beside VGPU_HOLD_*: a client has its own device held. */
#define DES_HOLD_OWN	0x100

static inline struct des_sim *to_des_sim(struct host *host)
{
	return container_of(host, struct des_sim, host);
}

static inline struct des_entity *to_des_entity(struct host_entity *entity)
{
	return container_of(entity, struct des_entity, host);
}

static inline bool des_on_engine(const struct des_entity *entity)
{
	return entity->host.engine->entity == &entity->host;
}

/* The job that an engine is to work on for @entity; NULL: there is none. */
static inline struct des_job *des_job(struct des_entity *entity)
{
	return entity->nr ? &entity->jobs[entity->head] : NULL;
}

/* des_record.c */
void des_entity_runnable(struct des_entity *entity);
void des_client_runnable(struct des_client *client);
void des_record_begin(struct host_engine *engine);
void des_record_served(struct host_engine *engine, u64 start_ns, u64 end_ns);
void des_record_run(struct host_engine *engine, enum vgpu_run_end end, bool ended, bool reset);
void des_record_end(struct host_engine *engine, enum vgpu_run_end end, bool reset);

/* des_client.c */
void des_client_event(struct host *host, unsigned int index);
enum host_has des_client_has(struct host_entity *entity);
u64 des_client_work(struct host_engine *engine, u64 due_ns);
void des_client_worked(struct host_engine *engine, u64 ns);
u64 des_client_stop_at(struct host_engine *engine);
void des_client_fault(struct host_entity *entity);
void des_client_begin(struct des_client *client);
void des_client_load(struct des_client *client, const struct des_load *load);
void des_client_drop(struct des_client *client);
void des_client_drain(struct des_client *client);

#endif /* _SIM_DES_SIM_H */
