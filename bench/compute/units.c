// SPDX-License-Identifier: GPL-2.0
/*
 * Several units: samples in sections of a team, as the driver executes them (soft/queue/team.c,
 * soft/work/flights.c and lanes.c as they are), by real threads of user space, beside one unit. So
 * many units as there are processors, 16 at most.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/rcuwait.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "soft/queue/team.h"
#include "soft/queue/unit.h"
#include "clk.h"
#include "die.h"
#include "engine.h"
#include "native_run.h"
#include "rows.h"
#include "soft/work/flights.h"
#include "soft/work/lanes.h"
#include "stats.h"

#define MAX_PAIRS	1000
#define REACH		0.9	/* of the number of units; 1.8 of two */

/* What team.c uses of the rest of the engine. */
struct soft_packet_desc {
	void (*help)(struct soft_unit *unit, struct soft_channel *ch);
};

struct soft_channel {
	u32 space;
	struct {
		struct {
			const struct soft_packet_desc *desc;
		} packet;
	} exec;
};

struct soft_engine {
	struct soft_unit lead;
	struct soft_team team;
	const void *cpus;
	u64 runs;
};

struct task_struct {
	pthread_t thread;
	int (*run)(void *unit);
	void *unit;
	bool stop;
};

static __thread struct task_struct *self;

bool kthread_should_stop(void)
{
	return __atomic_load_n(&self->stop, __ATOMIC_ACQUIRE);
}

static void *task_run(void *data)
{
	self = data;
	self->run(self->unit);
	return NULL;
}

int soft_unit_start(struct soft_unit *unit, struct soft_engine *engine, unsigned int index,
		    int (*thread)(void *unit), const char *gpu_name)
{
	struct task_struct *task = calloc(1, sizeof(*task));

	if (!task)
		return -ENOMEM;
	task->run = thread;
	task->unit = unit;
	unit->engine = engine;
	unit->task = task;
	return -pthread_create(&task->thread, NULL, task_run, task);
}

void soft_unit_stop(struct soft_unit *unit)
{
	__atomic_store_n(&unit->task->stop, true, __ATOMIC_RELEASE);
	rcuwait_wake_up(&unit->wake);
	pthread_join(unit->task->thread, NULL);
	free(unit->task);
}

#include "soft/queue/team.c"

/**
 * struct group_memory - of a flight: groups of the sample in all sizes that a sample has
 * @tlb: belongs to the flight here, and not to the unit: there is one of them for each
 */
struct group_memory {
	struct soft_flight flight;
	struct simt_tlb tlb;
};

/**
 * struct board - a sample on several units
 * @gpu:     the engine with its team
 * @helper:  units of the team
 * @ch:      the channel that has the sample
 * @sample:  what is executed
 * @flights: its groups in flight
 * @memory:  of each of them
 * @lock:    protects @flights
 * @leave:   nobody asks a section of the leader to end
 */
static struct {
	struct soft_engine gpu;
	struct soft_unit helper[SOFT_UNITS_MAX - 1];
	struct soft_channel ch;
	struct engine sample;
	struct soft_flights flights;
	struct group_memory memory[SOFT_UNITS_MAX];
	raw_spinlock_t lock;	/* flights */
	bool leave;
} board;

static void *board_memory(size_t bytes)
{
	void *at = aligned_alloc(64, (bytes + 64) & ~63ull);

	if (!at)
		bench_die("out of memory");
	memset(at, 0, bytes);
	return at;
}

static void board_flights(unsigned int units)
{
	struct simt_dispatch *dispatch = &board.sample.dispatch;
	unsigned int i;

	soft_flights_init(&board.flights);
	for (i = 0; i < units; i++) {
		struct group_memory *memory = &board.memory[i];
		struct soft_flight *flight = &memory->flight;
		struct simt_group *group = &flight->group;

		if (!flight->warps) {
			flight->warps = board_memory(simt_warps_bytes(dispatch->group));
			flight->data = board_memory(simt_private_bytes(dispatch->group,
								       dispatch->private_bytes));
			group->local = board_memory(dispatch->local_bytes);
		}
		*group = (struct simt_group) {
			.isa = soft_lanes, .mem = &board.sample.mem, .tlb = &memory->tlb,
			.warps = flight->warps, .private = flight->data, .local = group->local,
		};
		simt_group_init(group, dispatch);
		simt_tlb_flush(&memory->tlb);
		flight->piece = SOFT_PIECE_FIRST;
		soft_flights_add(&board.flights, flight, false);
	}
}

static void board_free_flights(void)
{
	unsigned int i;

	for (i = 0; i < SOFT_UNITS_MAX; i++) {
		struct soft_flight *flight = &board.memory[i].flight;

		free(flight->group.local);
		free(flight->data);
		free(flight->warps);
		memset(flight, 0, sizeof(*flight));
	}
}

/* As soft_dispatch_group(). */
static bool board_group(struct soft_unit *unit, u64 end_ns, const bool *leave)
{
	struct simt_dispatch *dispatch = &board.sample.dispatch;
	enum simt_end end = SIMT_DONE;
	struct soft_flight *flight;
	u64 took_ns;

	raw_spin_lock(&board.lock);
	flight = soft_flights_take(&board.flights, dispatch, unit);
	if (flight && !flight->begun)
		flight->begun = simt_dispatch_next(dispatch, &flight->group);
	raw_spin_unlock(&board.lock);
	if (!flight)
		return false;
	if (flight->begun)
		end = soft_lanes_section(&flight->group, &flight->piece, false, end_ns, leave,
					 &took_ns);
	if (end == SIMT_FAULT)
		bench_die("%s: fault %d", board.sample.sample->name, flight->group.fault.code);
	raw_spin_lock(&board.lock);
	soft_flights_give(&board.flights, flight, end);
	raw_spin_unlock(&board.lock);
	return true;
}

static void board_groups(struct soft_unit *unit, u64 end_ns, const bool *leave)
{
	while (board_group(unit, end_ns, leave) && !READ_ONCE(*leave) && ktime_get_ns() < end_ns)
		;
}

static void board_help(struct soft_unit *unit, struct soft_channel *ch)
{
	board_groups(unit, board.gpu.team.end_ns, &board.gpu.team.leave);
}

/* As soft_dispatch_lead(). */
static void board_section(void)
{
	struct simt_dispatch *dispatch = &board.sample.dispatch;
	unsigned int others = soft_flights_ready(&board.flights, dispatch) - 1;
	struct soft_channel *ch = &board.ch;
	u64 end_ns;

	if (others)
		others = min(others, soft_team_ready(&board.gpu));
	end_ns = ktime_get_ns() + SOFT_SECTION_NS;
	if (others)
		soft_team_open(&board.gpu, &ch, 1, others, end_ns);
	board_groups(&board.gpu.lead, end_ns, &board.leave);
	if (others)
		soft_team_close(&board.gpu, soft_flights_ended(&board.flights, dispatch));
}

/* Executes the sample once. Returns how long it took, in ms. */
static double board_time(unsigned int units)
{
	struct engine *sample = &board.sample;
	uint64_t start;

	memset(sample->memory + ENGINE_MEMORY_AT, 0, sample->sample->clear_bytes);
	memcpy(sample->dispatch.group, sample->sample->group, sizeof(sample->dispatch.group));
	simt_dispatch_begin(&sample->dispatch);
	board_flights(units);
	start = clk_ns();
	do {
		board_section();
	} while (!soft_flights_done(&board.flights, &sample->dispatch));
	return (double)(clk_ns() - start) / 1e6;
}

static void board_row(const struct sample *sample, unsigned int pairs, unsigned int units)
{
	static double one[MAX_PAIRS], all[MAX_PAIRS], gain[MAX_PAIRS];
	double reach = REACH * units;
	struct native native;
	unsigned int i;

	engine_open(&board.sample, sample);
	native_open(&native, sample);
	native_run(&native);
	board_time(units);
	native_compare(&native, &board.sample);
	for (i = 0; i < pairs; i++) {
		if (i % 2)
			one[i] = board_time(1);
		all[i] = board_time(units);
		if (i % 2 == 0)
			one[i] = board_time(1);
		gain[i] = one[i] / all[i];
	}
	native_compare(&native, &board.sample);
	native_close(&native);
	board_free_flights();
	engine_close(&board.sample);
	printf("{\"name\": \"compute_units_%s\", \"value\": %.3f, \"peer\": %.3f, \"ratio\": %.3f, \"unit\": \"ms\", \"measured\": \"wall\", \"higher\": true, \"reach\": %g, ",
	       sample->name, stats_quantile(one, pairs, 0.5), stats_quantile(all, pairs, 0.5),
	       stats_quantile(gain, pairs, 0.5), reach);
	printf("\"detail\": \"%u pairs; one unit beside %u, in sections of a team as the driver executes them, in user space, %s; the median of the pairs' quotients, largest %.3f\"}\n",
	       pairs, units, soft_lanes->name, stats_quantile(gain, pairs, 1));
	fflush(stdout);
}

void row_units(unsigned int pairs)
{
	static const struct sample * const samples[] = {
		&sample_sgemm, &sample_mandelbrot, &sample_sha256,
	};
	static const struct soft_packet_desc desc = { .help = board_help };
	unsigned int units = min(num_online_cpus(), (unsigned int)SOFT_UNITS_MAX), i;

	if (units < 2) {
		fprintf(stderr, "compute_units is left out: there is one processor\n");
		return;
	}
	if (soft_lanes_init("auto"))
		bench_die("no interpreter runs on this CPU");
	board.ch.exec.packet.desc = &desc;
	board.gpu.team.helper = board.helper;
	board.gpu.team.nr = units - 1;
	if (soft_team_init(&board.gpu, "bench"))
		bench_die("no threads");
	for (i = 0; i < ARRAY_SIZE(samples); i++)
		board_row(samples[i], pairs, units);
	soft_team_exit(&board.gpu);
}
