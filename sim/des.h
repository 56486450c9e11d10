/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A discrete-event simulator around the scheduler as it is in the kernel
 * (timeline.c, entity.c, log.c and the policies): engines and their users in
 * virtual time, in one thread, the same for the same seed.
 *
 * (sim/des_*.c; link all but des_check.c and des_random.c, or these too)
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
 * Needs the shims of des_shim/ before those of shim/, and sched.c is not linked:
 * the simulator has vgpu_sched_kick(). Policies may be anybody's.
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
	DES_CLOSED,	/* depth jobs in flight; think time from an end to the next */
	DES_POISSON,	/* bursts of jobs, on average every period_ns */
	DES_PERIODIC,	/* bursts of jobs every period_ns; frames */
};

/**
 * struct des_stage - a job's work on one engine
 * @engine:     which
 * @job_ns:     at least so long
 * @job_max_ns: at most so long, uniformly; 0: always job_ns
 */
struct des_stage {
	unsigned int engine;
	u64 job_ns;
	u64 job_max_ns;
};

/**
 * struct des_load - what a client submits
 * @kind:         see there
 * @stage:        each job's, one after the other: gr, ce0, gr
 * @nr_stages:    at least 1
 * @depth:        CLOSED: jobs in flight; else how many may wait, what comes
 *                beyond is dropped (for frames: missed)
 * @think_ns:     CLOSED: at least, from an end to the next submission
 * @think_max_ns: at most, uniformly; 0: always think_ns
 * @period_ns:    POISSON, PERIODIC
 * @jitter_ns:    PERIODIC: each comes up to so much late
 * @burst:        jobs at a time; 0: 1
 * @phase_ns:     begins so long after the device was opened
 * @on_ns:        CLOSED: submits so long ...
 * @off_ns:       ... then does not for so long; 0: always submits
 * @chunk_ns:     a job stops only after whole chunks of this; 0: anywhere
 * @overrun_ns:   runs past its deadline or a request to stop by up to this
 * @overrun_always: by exactly this
 * @overrun_from_ns: not before this time of the record
 * @hang_one_in:  one job in so many never ends nor stops; 0: none
 * @stall_every_ns: after so much work on it a job cannot go on; 0: it can
 * @stall_ns:     at least for so long
 * @stall_max_ns: at most, uniformly; 0: always stall_ns
 * @stall_holds:  the job does not stall, but the client's device is held for as
 *                long, as in a reset: the client chooses the moment
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
 * @id:      its random numbers depend on this and the seed only
 * @share:   at the beginning
 * @load:    what it does while its device is open
 * @stopped: the device is not open at the beginning
 */
struct des_client_config {
	unsigned int id;
	struct vgpu_share share;
	struct des_load load;
	bool stopped;
};

enum des_action_kind {
	DES_START,	/* the device is opened; the load begins */
	DES_STOP,	/* it is closed; its jobs are dropped */
	DES_RESET,	/* of the device: jobs dropped, the load begins anew */
	DES_HOLD,	/* quarantine; jobs wait */
	DES_UNHOLD,
	DES_SHARE,	/* @share of @client */
	DES_PARAMS,	/* @params of all timelines */
	DES_LOAD,	/* @client has @load from its next job on */
	DES_JUMP,	/* for @jump_ns nobody notices anything */
};

/* At @at_ns from the beginning; @client is an index of config->client. */
struct des_action {
	u64 at_ns;
	enum des_action_kind kind;
	unsigned int client;
	struct vgpu_share share;
	struct vgpu_sched_params params;
	struct des_load load;
	u64 jump_ns;
};

/**
 * struct des_config - all there is to a run: same config, same run
 * @seed:        of all that is random in it
 * @length_ns:   what is recorded
 * @params:      at the beginning
 * @nr_engines:  timelines; each client has an entity on each
 * @nr_clients:  vGPUs
 * @client:      them; by des_config_init()
 * @nr_actions:  what happens
 * @action:      that, in order of time; by des_config_act()
 * @switch_ns:   to restore an entity other than the one before
 * @save_ns:     to save one that is stopped with work left: overrun
 * @poll_ns:     the engine looks so long for work before it says idle
 * @kick_ns:     the kthread runs up to so much after it was to
 * @timer_ns:    a timer's interrupt comes up to so much after it was to
 * @reset_ns:    an engine reset takes
 * @drain:       at the end let all jobs end; des->stuck says if one does not
 * @sloppy_wakes: one in so many submissions to what runs wakes it, too; 0: none
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

/* Service: the engine was occupied by an entity, switch and linger included. */
struct des_span {
	u64 start_ns;
	u64 end_ns;
};

/* From @at_ns on it was runnable, or was not. */
struct des_edge {
	u64 at_ns;
	bool runnable;
};

/* @client had to wait from @wake_ns to @run_ns; DES_NEVER: it did not run. */
struct des_wait {
	u64 wake_ns;
	u64 run_ns;
};

/**
 * struct des_run - one run
 * @client:     who
 * @start_ns:   begin of restoring
 * @end_ns:     engine free
 * @deadline_ns: given
 * @stop_ns:    asked to stop by a request; DES_NEVER: it was not
 * @idle_ns:    polled, not charged
 * @linger_ns:  lingered, charged
 * @switch_ns:  of it for restoring
 * @end:        how
 * @reset:      the engine was reset
 * @ended:      it has
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

/* A job that ended. @first_ns: its first stage's engine began with it. */
struct des_done {
	u64 submit_ns;
	u64 first_ns;
	u64 end_ns;
};

/* Arrays that grow. */
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
 * struct des_track - what an entity, a client on one engine, did
 * @spans:  service, in order
 * @edges:  runnable or not, in order
 * @waits:  in order
 * @busy_ns: sum of @spans
 * @stats:  as the timeline has them at the end
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
 * @shares:    over time, first at 0
 * @jobs:      that ended
 * @submitted: jobs
 * @completed: jobs
 * @dropped:   by close, reset or because too many waited (not submitted then)
 * @refused:   of load, as @depth waited: never submitted
 * @faulted:   jobs that hung
 * @missed:    PERIODIC: jobs that ended later than the next was due, and those
 *             refused
 * @left:      jobs that wait at the end
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
 * @runs:      in order; the last one may be under way still
 * @busy_ns:   of runs that have ended, as the timeline has it
 * @linger_ns: of these, as the timeline has it
 * @switches:  as the timeline has it
 * @preempts:  as the timeline has it
 * @resets:    engine resets
 * @worked_ns: spent on jobs
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
 * struct des - what was recorded
 * @config:  of the run; the caller's
 * @end_ns:  length of the record; times are from 0
 * @client:  by index of config->client
 * @engine:  by index
 * @params:  over time, first at 0
 * @events:  the simulator saw
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

void des_config_init(struct des_config *config,
		     const struct vgpu_sched_policy *policy,
		     unsigned int nr_clients);
void des_config_exit(struct des_config *config);
void des_config_copy(struct des_config *config, const struct des_config *from);
void des_config_remove_client(struct des_config *config, unsigned int index);
void des_config_remove_action(struct des_config *config, unsigned int index);
struct des_action *des_config_act(struct des_config *config, u64 at_ns,
				  enum des_action_kind kind,
				  unsigned int client);
void des_config_print(const struct des_config *config);

/* Loads on engine 0; nothing random, no overruns. */
struct des_load des_busy(void);
struct des_load des_closed(u64 job_ns, u64 think_ns, unsigned int depth);
struct des_load des_poisson(u64 job_ns, u64 period_ns, unsigned int burst);
struct des_load des_frames(u64 job_ns, u64 period_ns);

/* des_random.c: any load, by seed. */
void des_config_random(struct des_config *config,
		       const struct vgpu_sched_policy *policy, u64 seed);
/* And what hurts: stalls, devices held at will, overruns that begin suddenly. */
void des_config_hostile(struct des_config *config,
			const struct vgpu_sched_policy *policy, u64 seed);

struct des *des_run(const struct des_config *config);
void des_free(struct des *des);

/* Service of an entity in [from, to). */
u64 des_service_ns(const struct des *des, unsigned int client,
		   unsigned int engine, u64 from_ns, u64 to_ns);
/* In how much of [from, to) it was runnable. */
u64 des_runnable_ns(const struct des *des, unsigned int client,
		    unsigned int engine, u64 from_ns, u64 to_ns);

#endif /* _VGPU_DES_H */
