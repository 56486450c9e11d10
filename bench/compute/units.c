// SPDX-License-Identifier: GPL-2.0
/*
 * Several units: samples in sections of a team, as the driver executes them (soft/queue/team.c,
 * soft/work/flights.c and lanes.c as they are), by real threads of user space, beside one unit. So
 * many units as there are processors, 16 at most.
 *
 * What is gained depends on the processors: two may be one core's, or belong to a host that has
 * others to do. So threads without sections, which take groups until there are none and wait for
 * nobody, are measured too: they gain what can be gained there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "clk.h"
#include "die.h"
#include "engine.h"
#include "host_team.h"
#include "native_run.h"
#include "rows.h"
#include "soft/work/flights.h"
#include "soft/work/lanes.h"
#include "soft/queue/team.h"
#include "soft/queue/unit.h"
#include "stats.h"

#define MAX_PAIRS	1000
#define REACH		0.9	/* of what can be gained */

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
 * @sample:  what is executed
 * @flights: its groups in flight
 * @memory:  of each of them
 * @unit:    stand for the units
 * @lock:    protects @flights
 * @barrier: threads that do not wait for each other begin together
 */
static struct {
	struct engine sample;
	struct soft_flights flights;
	struct group_memory memory[SOFT_UNITS_MAX];
	struct soft_unit unit[SOFT_UNITS_MAX];
	raw_spinlock_t lock;	/* flights */
	pthread_barrier_t barrier;
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
static bool board_group(unsigned int unit, u64 end_ns, const bool *leave)
{
	struct simt_dispatch *dispatch = &board.sample.dispatch;
	enum simt_end end = SIMT_DONE;
	struct soft_flight *flight;
	u64 took_ns;

	raw_spin_lock(&board.lock);
	flight = soft_flights_take(&board.flights, dispatch, &board.unit[unit]);
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

static bool board_work(unsigned int unit, u64 end_ns, const bool *leave)
{
	do {
		if (!board_group(unit, end_ns, leave))
			return false;
	} while (!READ_ONCE(*leave) && ktime_get_ns() < end_ns);
	return true;
}

static bool board_stays(void)
{
	bool ended;

	raw_spin_lock(&board.lock);
	ended = soft_flights_ended(&board.flights, &board.sample.dispatch);
	raw_spin_unlock(&board.lock);
	return !ended;
}

static void board_begin(unsigned int units)
{
	struct engine *sample = &board.sample;

	memset(sample->memory + ENGINE_MEMORY_AT, 0, sample->sample->clear_bytes);
	memcpy(sample->dispatch.group, sample->sample->group, sizeof(sample->dispatch.group));
	simt_dispatch_begin(&sample->dispatch);
	board_flights(units);
}

/* Executes the sample once. Returns how long it took, in ms. */
static double board_time(unsigned int units)
{
	struct engine *sample = &board.sample;
	unsigned int others;
	uint64_t start;

	board_begin(units);
	start = clk_ns();
	do {
		others = soft_flights_ready(&board.flights, &sample->dispatch) - 1;
		host_team_section(others, board_stays);
	} while (board_stays());
	return (double)(clk_ns() - start) / 1e6;
}

static void *board_free_run(void *data)
{
	unsigned int unit = (struct soft_unit *)data - board.unit;
	static const bool never;

	pthread_barrier_wait(&board.barrier);
	while (board_group(unit, ktime_get_ns() + SOFT_SECTION_NS, &never))
		;
	return NULL;
}

/* The same by so many threads that do not wait for each other. */
static double board_time_free(unsigned int threads)
{
	pthread_t thread[SOFT_UNITS_MAX];
	unsigned int i;
	uint64_t start;

	board_begin(threads);
	pthread_barrier_init(&board.barrier, NULL, threads);
	for (i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, board_free_run, &board.unit[i]))
			bench_die("no threads");
	start = clk_ns();
	board_free_run(&board.unit[0]);
	for (i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	start = clk_ns() - start;
	pthread_barrier_destroy(&board.barrier);
	return (double)start / 1e6;
}

static void board_row(const struct sample *sample, unsigned int pairs, unsigned int units)
{
	static double one[MAX_PAIRS], all[MAX_PAIRS], gain[MAX_PAIRS], free[MAX_PAIRS];
	double can;
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
		free[i] = board_time_free(units);
		if (i % 2 == 0)
			one[i] = board_time(1);
		gain[i] = one[i] / all[i];
		free[i] = one[i] / free[i];
	}
	native_compare(&native, &board.sample);
	native_close(&native);
	board_free_flights();
	engine_close(&board.sample);
	can = stats_quantile(free, pairs, 0.5);
	printf("{\"name\": \"compute_units_%s\", \"value\": %.3f, \"peer\": %.3f, \"ratio\": %.3f, \"unit\": \"times\", \"measured\": \"wall\", \"higher\": true, \"reach\": %g, ",
	       sample->name, stats_quantile(gain, pairs, 0.5), can,
	       stats_quantile(gain, pairs, 0.5) / can, REACH);
	printf("\"detail\": \"%u pairs; times as fast on %u units as on one (%.1f and %.1f ms), in sections of a team as the driver executes them, in user space, %s, beside threads that take the same groups and never wait for each other, which is what can be gained on these processors; medians\"}\n",
	       pairs, units, stats_quantile(all, pairs, 0.5), stats_quantile(one, pairs, 0.5),
	       soft_lanes->name);
	fflush(stdout);
}

void row_units(unsigned int pairs)
{
	static const struct sample * const samples[] = {
		&sample_sgemm, &sample_mandelbrot, &sample_sha256,
	};
	unsigned int units, i;

	if (soft_lanes_init("auto"))
		bench_die("no interpreter runs on this CPU");
	units = host_team_open(board_work);
	if (units < 2)
		fprintf(stderr, "compute_units is left out: there is one processor\n");
	for (i = 0; i < ARRAY_SIZE(samples) && units > 1; i++)
		board_row(samples[i], pairs, units);
	host_team_close();
}
