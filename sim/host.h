/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated host around the scheduler as it is in the kernel (timeline.c, entity.c and the
 * policies): virtual time, the scheduler's kthread, its timers and workers, and engines that serve
 * entities. All of it runs in one thread, and the same settings give the same run. What clients do
 * is up to a model (struct host_model): des.h has clients whose loads a configuration describes,
 * tests/fuzz/sched/attack_client.c has clients that misbehave.
 *
 *	host_time.c	what is due, and when
 *	host_worker.c	the kernel's workers, each on a stack of its own
 *	host_engine.c	the engines
 *	host.c		kthread, timers, and the loop
 *
 * Needs the shims of host_shim/ before those of shim/. sched.c and thread.c are not linked, as
 * host.c has vgpu_sched_kick().
 */
#ifndef _SIM_HOST_H
#define _SIM_HOST_H

#include <stdlib.h>
#include <ucontext.h>

#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/vgpu_run.h>

#include "random.h"
#include "sched/timeline.h"

#define HOST_MAX_ENGINES	4
#define HOST_NEVER		U64_MAX

/* The clock does not begin with 0; records do. */
#define HOST_EPOCH_NS		(1000ULL * 1000 * 1000 * 1000)

struct host;
struct host_engine;

/**
 * struct host_entity - a client on an engine
 * @entity: what the scheduler sees of it
 * @engine: the engine
 */
struct host_entity {
	struct vgpu_entity entity;
	struct host_engine *engine;
};

/**
 * enum host_has - what a client has for an engine
 * @HOST_NOTHING: no work
 * @HOST_WORK:    work that can go on
 * @HOST_STALLED: work, but all of it waits for guest memory
 */
enum host_has {
	HOST_NOTHING,
	HOST_WORK,
	HOST_STALLED,
};

/**
 * struct host_model - what a simulation's clients do
 * @client_event: a client's time of host_client_due_at() has come
 * @script_event: the time of host_script_due_at() has come; may sleep in host_sleep()
 * @has:          what an entity has for its engine now
 * @work:         the entity on @engine has HOST_WORK; the engine is to stop at @due_ns. Return: how
 *                long the engine can work until the client's behaviour changes something; 0: a job
 *                ended or stalled just now
 * @worked:       the engine worked on that for @ns more
 * @stop_at:      the engine notices now that it is to stop. Return: the time at which it will have
 *                stopped
 * @begins:       a run of engine->entity begins
 * @served:       the engine was occupied by engine->entity in [@start_ns, @end_ns), switching and
 *                lingering included
 * @ends:         the run of engine->entity ends now; @reset: by a reset of the engine
 * @left:         the timeline knows that the run of @entity ended, and may have begun another; may
 *                be NULL
 * @fault:        the engine was reset, as a job of @entity did not stop
 * @overrun:      @entity overran by more than the preemption timeout; may be NULL
 */
struct host_model {
	void (*client_event)(struct host *host, unsigned int client);
	void (*script_event)(struct host *host);
	enum host_has (*has)(struct host_entity *entity);
	u64 (*work)(struct host_engine *engine, u64 due_ns);
	void (*worked)(struct host_engine *engine, u64 ns);
	u64 (*stop_at)(struct host_engine *engine);
	void (*begins)(struct host_engine *engine);
	void (*served)(struct host_engine *engine, u64 start_ns, u64 end_ns);
	void (*ends)(struct host_engine *engine, enum vgpu_run_end end, bool reset);
	void (*left)(struct host_entity *entity);
	void (*fault)(struct host_entity *entity);
	void (*overrun)(struct host_entity *entity);
};

/**
 * struct host_settings - a host and its engines; all times in ns
 * @seed:       of the latenesses below, and of the order of what is due at the same time
 * @nr_engines: number of engines and timelines, 1 .. HOST_MAX_ENGINES
 * @nr_clients: number of the model's clients
 * @switch_ns:  restoring an entity other than the one before takes so long
 * @poll_ns:    an engine without work looks for more for so long before it reports that it is idle
 * @look_ns:    an engine that waits for something looks for it in steps of this; 0: it sees at once
 *              what happens, and reports at once that its client has stalled
 * @stall_ns:   with @look_ns, an engine waits so long for a stalled client before another may have
 *              the engine
 * @kick_ns:    the kthread and the workers run up to so much later than they were to
 * @timer_ns:   a timer's interrupt comes up to so much later than it was to
 * @reset_ns:   a reset of an engine takes so long
 * @in_order:   what is due at the same time comes in a fixed order, clients first; else in one that
 *              is drawn by @seed
 * @apart:      engines do not look at what happens elsewhere: the model pokes them
 * @clock:      each engine's; all 0: the host's
 * @params:     of the scheduler, for each engine; NULL: those of host_begin()
 */
struct host_settings {
	u64 seed;
	unsigned int nr_engines;
	unsigned int nr_clients;
	u64 switch_ns;
	u64 poll_ns;
	u64 look_ns;
	u64 stall_ns;
	u64 kick_ns;
	u64 timer_ns;
	u64 reset_ns;
	bool in_order;
	bool apart;
	struct vgpu_clock clock[HOST_MAX_ENGINES];
	const struct vgpu_sched_params *params[HOST_MAX_ENGINES];
};

enum host_phase {
	HOST_OFF,	/* no run */
	HOST_SWITCH,	/* restores the entity */
	HOST_BUSY,	/* works on a job */
	HOST_IDLE,	/* looks for work, and nobody is charged */
	HOST_LINGER,	/* looks for work, and the entity is charged */
	HOST_WAIT,	/* waits for guest memory, and the entity is charged */
	HOST_RESET,
};

/**
 * struct host_worker - where the worker of an engine, which can sleep, goes on
 * @context: its registers
 * @stack:   allocated when it is first used
 * @fake:    AddressSanitizer's
 * @busy:    it has something to do
 */
struct host_worker {
	ucontext_t context;
	void *stack;
	void *fake;
	bool busy;
};

/**
 * struct host_engine - an engine and its timeline, whose clock all times are by
 * @tl:         the timeline
 * @host:       the host
 * @index:      number of the engine
 * @phase:      what the engine does
 * @entity:     whose run it is; NULL: no run
 * @ran:        whose run was the last one; NULL: the engine was reset since
 * @start_ns:   begin of the run
 * @deadline_ns: of the run
 * @stop_ns:    when the engine was asked to stop; HOST_NEVER: it was not
 * @end_ns:     when it will have stopped; HOST_NEVER: not known yet
 * @restore_ns: what the switch to @entity took
 * @switch_ns:  what is left of that
 * @empty_ns:   since when @entity has had no work; HOST_NEVER: it has some
 * @wait_ns:    since when @entity has been stalled; HOST_NEVER: it is not
 * @idle_ns:    of the run, looked for work and not charged
 * @linger_ns:  of the run, looked for work and charged
 * @mark_ns:    until when @phase is accounted for
 * @span_ns:    since when service has not been reported to the model
 * @worker:     does the resets
 */
struct host_engine {
	struct vgpu_timeline tl;
	struct host *host;
	unsigned int index;
	enum host_phase phase;
	struct host_entity *entity;
	struct host_entity *ran;
	u64 start_ns;
	u64 deadline_ns;
	u64 stop_ns;
	u64 end_ns;
	u64 restore_ns;
	u64 switch_ns;
	u64 empty_ns;
	u64 wait_ns;
	u64 idle_ns;
	u64 linger_ns;
	u64 mark_ns;
	u64 span_ns;
	struct host_worker worker;
};

/**
 * struct host - the host; part of a model's simulation, which finds itself by container_of()
 * @set:      settings
 * @model:    the model
 * @now_ns:   time
 * @random:   state of the random numbers
 * @events:   number of things that have happened
 * @due_ns:   when each source of events is due: engines, clients, the script, the kthread, timers,
 *            workers
 * @tie:      of sources that are due at the same time the one with the least comes first
 * @heap:     the sources, a binary heap by @due_ns and @tie
 * @place:    of each source in @heap
 * @nr_sources: length of these four
 * @kicked:   the kthread was kicked and has not looked yet
 * @serving:  the kthread is running
 * @loop:     where the loop goes on when the worker that runs sleeps or ends, and the loop's stack
 * @at_work:  the engine whose worker runs; NULL: none
 * @engine:   the engines
 */
struct host {
	struct host_settings set;
	const struct host_model *model;
	u64 now_ns;
	u64 random;
	u64 events;
	u64 *due_ns;
	u64 *tie;
	unsigned int *heap;
	unsigned int *place;
	unsigned int nr_sources;
	bool kicked;
	bool serving;
	struct {
		ucontext_t context;
		const void *stack;
		size_t size;
		void *fake;
	} loop;
	struct host_engine *at_work;
	struct host_engine engine[HOST_MAX_ENGINES];
};

/* The sources of events, in the order of host->due_ns. */
static inline unsigned int host_client_source(const struct host *host, unsigned int client)
{
	return host->set.nr_engines + client;
}

static inline unsigned int host_script_source(const struct host *host)
{
	return host_client_source(host, host->set.nr_clients);
}

static inline unsigned int host_kthread_source(const struct host *host)
{
	return host_script_source(host) + 1;
}

static inline unsigned int host_timer_source(const struct host *host, unsigned int engine)
{
	return host_kthread_source(host) + 1 + engine;
}

static inline unsigned int host_worker_source(const struct host *host, unsigned int engine)
{
	return host_timer_source(host, host->set.nr_engines) + engine;
}

static inline struct host_entity *to_host_entity(struct vgpu_entity *entity)
{
	return container_of(entity, struct host_entity, entity);
}

/* Time of the record. */
static inline u64 host_at(const struct host *host)
{
	return host->now_ns - HOST_EPOCH_NS;
}

/* Time by the engine's clock: while that stands still, the engine rests. */
static inline u64 host_engine_now_ns(const struct host_engine *engine)
{
	return vgpu_clock_at(&engine->tl.clock, engine->host->now_ns);
}

static inline bool host_engine_rests(const struct host_engine *engine)
{
	u64 now_ns = engine->host->now_ns;

	return vgpu_clock_stands_at(&engine->tl.clock, now_ns) == now_ns;
}

/* When the engine is to stop its run, by the deadline or a request. */
static inline u64 host_engine_due_ns(const struct host_engine *engine)
{
	return min(engine->deadline_ns, engine->stop_ns);
}

/* host_time.c */
void *host_alloc(size_t nr, size_t size);
void host_time_begin(struct host *host);
void host_time_end(struct host *host);
void host_due_at(struct host *host, unsigned int source, u64 due_ns);

static inline void host_client_due_at(struct host *host, unsigned int client, u64 due_ns)
{
	host_due_at(host, host_client_source(host, client), due_ns);
}

static inline void host_script_due_at(struct host *host, u64 due_ns)
{
	host_due_at(host, host_script_source(host), due_ns);
}

/* host_worker.c */
void host_worker_event(struct host_engine *engine);
void host_worker_sleep(struct host *host, u64 ns);

/* host_engine.c */
extern const struct vgpu_timeline_ops host_engine_ops;
void host_engine_poke(struct host_engine *engine);
void host_engine_account(struct host_engine *engine);
void host_engine_flush(struct host_engine *engine);
void host_engine_event(struct host_engine *engine);

/* host.c */
void host_begin(struct host *host, const struct host_settings *set, const struct host_model *model,
		const struct vgpu_sched_params *params);
void host_end(struct host *host);
bool host_step(struct host *host, u64 limit_ns);
void host_run(struct host *host, u64 length_ns, u64 max_events);

#endif /* _SIM_HOST_H */
