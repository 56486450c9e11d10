/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulations of vGPUs with loads on the host of host.h, and the record of what happened: engines
 * and their users in virtual time, in one thread, the same for the same configuration.
 *
 *	struct des_config config;
 *	struct des *des;
 *
 *	des_config_init(&config, &vgpu_policy_qos, 3);
 *	config.client[0].load = des_closed(500 * DES_US, 50 * DES_US, 1);
 *	config.client[1].share.guarantee = 250;
 *	des = des_run(&config);
 *	... des->client[0], des_service_ns(), des_check.h ...
 *	des_free(des);
 *	des_config_exit(&config);
 *
 * Any policy can be simulated, also one that the driver does not have. Linked with SIM_DES of
 * sim.mk; flags are SIM_DES_CPPFLAGS and SIM_CPPFLAGS.
 */
#ifndef _VGPU_DES_H
#define _VGPU_DES_H

#include <linux/types.h>

#include "sched/timeline.h"

#define DES_US		1000ULL
#define DES_MS		(1000 * DES_US)
#define DES_SEC		(1000 * DES_MS)

#define DES_MAX_ENGINES	4
#define DES_MAX_STAGES	4
#define DES_NEVER	U64_MAX

enum des_load_kind {
	DES_NONE,	/* no work */
	DES_BUSY,	/* one job without end on stage[0].engine */
	DES_CLOSED,	/* depth jobs in flight; think time from the end of one to the next */
	DES_POISSON,	/* bursts of jobs, on average every period_ns */
	DES_PERIODIC,	/* bursts of jobs every period_ns: frames */
};

/**
 * struct des_stage - the work of a job on one engine
 * @engine:     index of the engine
 * @job_ns:     length of the work, or the least length
 * @job_max_ns: largest length, of which all are equally likely; 0: always @job_ns
 */
struct des_stage {
	unsigned int engine;
	u64 job_ns;
	u64 job_max_ns;
};

/**
 * struct des_load - what a client submits; times are in ns
 * @kind:         kind of load
 * @stage:        stages of each job, one after the other, such as gr, ce0, gr
 * @nr_stages:    length of @stage, at least 1
 * @depth:        DES_CLOSED: number of jobs in flight; else how many jobs may wait: what comes
 *                beyond that is refused (a frame is missed)
 * @think_ns:     DES_CLOSED: time from the end of a job to the submission of the next, or the least
 * @think_max_ns: largest of these, of which all are equally likely; 0: always @think_ns
 * @period_ns:    DES_POISSON, DES_PERIODIC: time between two bursts
 * @jitter_ns:    DES_PERIODIC: each burst comes up to so much late
 * @burst:        number of jobs that come at a time; 0: 1
 * @phase_ns:     the load begins so long after the device was opened
 * @on_ns:        DES_CLOSED: the client submits jobs for so long ...
 * @off_ns:       ... and then does not for so long; 0: it always does
 * @chunk_ns:     a job stops only after whole chunks of this; 0: anywhere
 * @overrun_ns:   a job runs past its deadline or a request to stop by up to this
 * @overrun_always: by exactly @overrun_ns
 * @overrun_from_ns: but not before this time of the record
 * @hang_one_in:  one job in so many never ends nor stops; 0: none
 * @stall_every_ns: after so much work on it a job cannot go on for a while; 0: it always can
 * @stall_ns:     for how long it cannot, or the least
 * @stall_max_ns: largest of these, of which all are equally likely; 0: always @stall_ns
 * @stall_holds:  the job does not stall; instead the client's device is held for that long, as in a
 *                reset, at a moment of the client's choice
 */
struct des_load {
	enum des_load_kind kind;
	struct des_stage stage[DES_MAX_STAGES];
	unsigned int nr_stages;
	unsigned int depth;
	u64 think_ns;
	u64 think_max_ns;
	u64 period_ns;
	u64 jitter_ns;
	unsigned int burst;
	u64 phase_ns;
	u64 on_ns;
	u64 off_ns;
	u64 chunk_ns;
	u64 overrun_ns;
	bool overrun_always;
	u64 overrun_from_ns;
	unsigned int hang_one_in;
	u64 stall_every_ns;
	u64 stall_ns;
	u64 stall_max_ns;
	bool stall_holds;
};

/**
 * struct des_client_config - a vGPU
 * @id:      the random numbers of the client depend on this and on the seed only
 * @share:   share at the beginning
 * @load:    load at the beginning, while the device is open
 * @stopped: the device is not open at the beginning
 */
struct des_client_config {
	unsigned int id;
	struct vgpu_share share;
	struct des_load load;
	bool stopped;
};

enum des_action_kind {
	DES_START,	/* the device is opened, and the load begins */
	DES_STOP,	/* the device is closed, and its jobs are dropped */
	DES_RESET,	/* the device is reset: its jobs are dropped, and the load begins anew */
	DES_HOLD,	/* the client is quarantined: its jobs wait */
	DES_UNHOLD,	/* the quarantine ends */
	DES_SHARE,	/* the client gets another share */
	DES_PARAMS,	/* all timelines get other parameters */
	DES_LOAD,	/* the client has another load from its next job on */
	DES_DUE,	/* the client asks what is due to it on the first engine */
	DES_JUMP,	/* the clock jumps: nothing is done in the time skipped */
};

/**
 * struct des_action - something that happens in a simulation
 * @at_ns:   when, from the beginning
 * @kind:    what
 * @client:  index of the client in config->client
 * @share:   DES_SHARE: the share
 * @params:  DES_PARAMS: the parameters
 * @load:    DES_LOAD: the load
 * @due:     DES_DUE: set to the answer, per mille
 * @jump_ns: DES_JUMP: by how much
 */
struct des_action {
	u64 at_ns;
	enum des_action_kind kind;
	unsigned int client;
	struct vgpu_share share;
	struct vgpu_sched_params params;
	struct des_load load;
	unsigned int *due;
	u64 jump_ns;
};

/**
 * struct des_config - all there is to a simulation: same configuration, same record
 * @seed:        seed of all that is random in it
 * @length_ns:   length of the record
 * @params:      parameters of the timelines at the beginning
 * @nr_engines:  number of engines; each client has an entity on each
 * @nr_clients:  length of @client
 * @client:      the vGPUs; allocated by des_config_init()
 * @nr_actions:  length of @action
 * @action:      what happens, in order of time; added by des_config_act()
 * @switch_ns:   restoring an entity other than the one before takes so long
 * @save_ns:     saving an entity that is stopped with work left takes so long: overrun
 * @poll_ns:     an engine looks for work for so long before it reports that it is idle
 * @kick_ns:     the kthread runs up to so much later than it was to
 * @timer_ns:    a timer's interrupt comes up to so much later than it was to
 * @reset_ns:    a reset of an engine takes so long
 * @drain:       after the record let all jobs end; des->stuck says whether one does not
 * @sloppy_wakes: one in so many submissions to the client that runs wakes it, too; 0: none does
 */
struct des_config {
	u64 seed;
	u64 length_ns;
	struct vgpu_sched_params params;
	unsigned int nr_engines;
	unsigned int nr_clients;
	struct des_client_config *client;
	unsigned int nr_actions;
	struct des_action *action;
	u64 switch_ns;
	u64 save_ns;
	u64 poll_ns;
	u64 kick_ns;
	u64 timer_ns;
	u64 reset_ns;
	bool drain;
	unsigned int sloppy_wakes;
};

/* Service: an engine was occupied by an entity, switching and lingering included. */
struct des_span {
	u64 start_ns;
	u64 end_ns;
};

/* From @at_ns on an entity was runnable, or was not. */
struct des_edge {
	u64 at_ns;
	bool runnable;
};

/* An entity had to wait from @wake_ns to @run_ns; DES_NEVER: it never ran after that. */
struct des_wait {
	u64 wake_ns;
	u64 run_ns;
};

/**
 * struct des_run - one run; times are of the record
 * @client:     index of the client
 * @start_ns:   when the engine began to restore the client
 * @end_ns:     when the engine was free
 * @deadline_ns: deadline of the run
 * @stop_ns:    when a request asked the engine to stop; DES_NEVER: none did
 * @idle_ns:    how long the engine looked for work, not charged
 * @linger_ns:  how long it looked for work, charged
 * @switch_ns:  what restoring took
 * @end:        how the run ended
 * @reset:      it ended by a reset of the engine
 * @ended:      it has ended; false: the record ended before
 */
struct des_run {
	unsigned int client;
	u64 start_ns;
	u64 end_ns;
	u64 deadline_ns;
	u64 stop_ns;
	u64 idle_ns;
	u64 linger_ns;
	u64 switch_ns;
	enum vgpu_run_end end;
	bool reset;
	bool ended;
};

struct des_share_at {
	u64 at_ns;
	struct vgpu_share share;
};

struct des_params_at {
	u64 at_ns;
	struct vgpu_sched_params params;
};

/* A job that ended. @first_ns: when an engine began with its first stage. */
struct des_done {
	u64 submit_ns;
	u64 first_ns;
	u64 end_ns;
};

/* Arrays that grow: @nr elements in use, room for @room. */
struct des_spans {
	struct des_span *at;
	size_t nr;
	size_t room;
};

struct des_edges {
	struct des_edge *at;
	size_t nr;
	size_t room;
};

struct des_waits {
	struct des_wait *at;
	size_t nr;
	size_t room;
};

struct des_runs {
	struct des_run *at;
	size_t nr;
	size_t room;
};

struct des_shares {
	struct des_share_at *at;
	size_t nr;
	size_t room;
};

struct des_all_params {
	struct des_params_at *at;
	size_t nr;
	size_t room;
};

struct des_jobs {
	struct des_done *at;
	size_t nr;
	size_t room;
};

/**
 * struct des_track - what an entity, a client on one engine, did; arrays are in order of time
 * @spans:  its service
 * @edges:  when it became runnable or not
 * @waits:  its waits
 * @busy_ns: sum of @spans
 * @stats:  what the timeline counted up to the end of the record
 */
struct des_track {
	struct des_spans spans;
	struct des_edges edges;
	struct des_waits waits;
	u64 busy_ns;
	struct vgpu_entity_stats stats;
};

/**
 * struct des_record - what a client did
 * @track:     by engine
 * @shares:    its shares over time, the first at 0
 * @jobs:      its jobs that were completed, in order of their ends
 * @submitted: number of jobs that were submitted
 * @completed: number of jobs that were completed
 * @dropped:   number of jobs dropped as the device was closed or reset
 * @refused:   number of jobs never submitted, as too many waited
 * @faulted:   number of jobs that hung
 * @missed:    DES_PERIODIC: number of jobs that ended after the next was due, and of those refused
 * @left:      number of jobs that wait at the end of the record
 */
struct des_record {
	struct des_track track[DES_MAX_ENGINES];
	struct des_shares shares;
	struct des_jobs jobs;
	u64 submitted;
	u64 completed;
	u64 dropped;
	u64 refused;
	u64 faulted;
	u64 missed;
	u64 left;
};

/**
 * struct des_engine_record - what an engine did
 * @runs:      its runs in order; the last one may be under way at the end of the record
 * @busy_ns:   service of runs that have ended, as the timeline counted it
 * @linger_ns: lingering in these runs, as the timeline counted it
 * @switches:  as the timeline counted them
 * @preempts:  as the timeline counted them
 * @resets:    resets of the engine, as the timeline counted them
 * @worked_ns: time that the engine worked on jobs
 * @overrun_ns: p: the longest time past a deadline or a request to stop
 */
struct des_engine_record {
	struct des_runs runs;
	u64 busy_ns;
	u64 linger_ns;
	u64 switches;
	u64 preempts;
	u64 resets;
	u64 worked_ns;
	u64 overrun_ns;
};

/**
 * struct des - the record of a simulation; its times begin with 0
 * @config:  configuration of the simulation; the caller's
 * @end_ns:  length of the record
 * @client:  by index of config->client
 * @engine:  by index of the engine
 * @params:  parameters of the timelines over time, the first at 0
 * @events:  number of things that happened up to the end of the record
 * @stuck:   a job was left that nothing would ever have ended
 */
struct des {
	const struct des_config *config;
	u64 end_ns;
	struct des_record *client;
	struct des_engine_record engine[DES_MAX_ENGINES];
	struct des_all_params params;
	u64 events;
	bool stuck;
};

void des_config_init(struct des_config *config, const struct vgpu_sched_policy *policy,
		     unsigned int nr_clients);
void des_config_exit(struct des_config *config);
void des_config_copy(struct des_config *config, const struct des_config *from);
void des_config_remove_client(struct des_config *config, unsigned int index);
void des_config_remove_action(struct des_config *config, unsigned int index);
struct des_action *des_config_act(struct des_config *config, u64 at_ns, enum des_action_kind kind,
				  unsigned int client);
void des_config_print(const struct des_config *config);

/* Loads on engine 0, with nothing random and without overruns. */
struct des_load des_busy(void);
struct des_load des_closed(u64 job_ns, u64 think_ns, unsigned int depth);
struct des_load des_poisson(u64 job_ns, u64 period_ns, unsigned int burst);
struct des_load des_frames(u64 job_ns, u64 period_ns);

/* des_random.c */
void des_config_random(struct des_config *config,
		       const struct vgpu_sched_policy *policy, u64 seed);
void des_config_hostile(struct des_config *config,
			const struct vgpu_sched_policy *policy, u64 seed);

struct des *des_run(const struct des_config *config);
void des_free(struct des *des);

/* Service of the entity of @client on @engine in [@from_ns, @to_ns). */
u64 des_service_ns(const struct des *des, unsigned int client,
		   unsigned int engine, u64 from_ns, u64 to_ns);
/* For how much of [@from_ns, @to_ns) that entity was runnable. */
u64 des_runnable_ns(const struct des *des, unsigned int client,
		    unsigned int engine, u64 from_ns, u64 to_ns);

#endif /* _VGPU_DES_H */
