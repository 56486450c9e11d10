// SPDX-License-Identifier: GPL-2.0
/*
 * bench_compute PAIRS [ROW...]: the engine's files in user space, on samples, beside the same C
 * compiled for the CPU. Prints rows as lines of JSON.
 *
 * Of each pair one half runs natively, the other on the engine in all its variants; the halves
 * alternate A B B A. The first pair is dropped. What the two have computed is compared. The rows
 * "native" are about other programs than samples, see natives.c; "units", "apart", "choice" and
 * "stop" are about the engine alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clk.h"
#include "die.h"
#include "engine.h"
#include "native_run.h"
#include "rows.h"
#include "stats.h"

#define MAX_PAIRS	1000
#define LANE_PAIRS	5	/* of rows about one lane, which takes long */

/**
 * struct row - a sample's row
 * @sample: which
 * @reach:  times the native time, at most; 0: it is only shown
 * @lanes:  times faster than one lane on the same engine, at least; 0: that is not measured
 */
static const struct row {
	const struct sample *sample;
	double reach;
	double lanes;
} rows[] = {
	{ &sample_mandelbrot, 2, 0 },
	{ &sample_sgemm, 4.5, 4 },
	{ &sample_sha256, 3.2, 4 },
	{ &sample_reduce, 4, 0 },
	{ &sample_blur, 4, 0 },
	{ &sample_triad, 9, 0 },
	{ &sample_copy, 6, 0 },
	{ &sample_latency, 0, 0 },
	{ &sample_bandwidth, 0, 0 },
};

static unsigned int pairs;

/* Times in ms, of each pair. */
static double native_ms[MAX_PAIRS], isa_ms[ENGINE_ISAS][MAX_PAIRS];

/* Twice: the caches are full of what the engine has worked on. Each variant follows another. */
static double run_native(struct native *native)
{
	uint64_t start;

	native_run(native);
	start = clk_ns();
	native_run(native);
	return (double)(clk_ns() - start) / 1e6;
}

static void run_isas(struct engine *engine, unsigned int pair)
{
	size_t i;

	for (i = 0; i < ENGINE_ISAS; i++)
		if (engine_has(engine_isas[i]))
			isa_ms[i][pair] = engine_time(engine, engine_isas[i],
						      engine->sample->group);
}

static void run_pair(struct engine *engine, struct native *native, unsigned int pair, bool turned)
{
	if (turned)
		run_isas(engine, pair);
	native_ms[pair] = run_native(native);
	if (!turned)
		run_isas(engine, pair);
}

/* Each variant alone: where one left a result, another would not be seen to leave none. */
static void check_isas(struct engine *engine, struct native *native)
{
	size_t i;

	run_native(native);
	for (i = 0; i < ENGINE_ISAS; i++) {
		if (!engine_has(engine_isas[i]))
			continue;
		engine_prepare(engine);
		engine_run(engine, engine_isas[i], engine->sample->group);
		native_compare(native, engine);
	}
}

static void print_head(const char *name, const char *suffix, double value, double peer)
{
	printf("{\"name\": \"compute_%s%s\", \"value\": %.3f, \"peer\": %.3f, \"ratio\": %.3f, ",
	       name, suffix, value, peer, value / peer);
	printf("\"unit\": \"ms\", \"measured\": \"wall\", ");
}

static void print_reach(double reach, bool higher)
{
	printf("\"higher\": %s, ", higher ? "true" : "false");
	if (reach > 0)
		printf("\"reach\": %g, ", reach);
	else
		printf("\"reach\": null, ");
}

static void print_row(const struct row *row, u64 executed)
{
	double medians[ENGINE_ISAS] = {}, peer = stats_quantile(native_ms, pairs, 0.5);
	size_t i, best = 0;

	for (i = 0; i < ENGINE_ISAS; i++) {
		if (!engine_has(engine_isas[i]))
			continue;
		medians[i] = stats_quantile(isa_ms[i], pairs, 0.5);
		if (medians[i] < medians[best])
			best = i;
	}
	print_head(row->sample->name, "", medians[best], peer);
	print_reach(row->reach, false);
	printf("\"detail\": \"%u pairs; %s: the engine's files in user space, %s, beside the same C at -O2, scalar, medians; all variants:",
	       pairs, row->sample->brief, engine_isas[best]->name);
	for (i = 0; i < ENGINE_ISAS; i++)
		if (medians[i])
			printf(" %s %.2f", engine_isas[i]->name, medians[i] / peer);
	printf("; %llu instructions of warps, %.1f ns each\"}\n", executed,
	       medians[best] * 1e6 / (double)executed);
	fflush(stdout);
}

/* One work-item to a warp, on the variant that is best at 32. */
static void measure_lanes(struct engine *engine, struct native *native, const struct row *row)
{
	static const uint32_t one[3] = { 1, 1, 1 };
	const struct simt_isa *isa = engine_best();
	double single[LANE_PAIRS], all[LANE_PAIRS];
	unsigned int i;

	engine_prepare(engine);
	engine_run(engine, isa, one);
	native_compare(native, engine);
	for (i = 0; i < LANE_PAIRS; i++) {
		all[i] = engine_time(engine, isa, row->sample->group);
		single[i] = engine_time(engine, isa, one);
	}
	print_head(row->sample->name, "_lanes", stats_quantile(single, LANE_PAIRS, 0.5),
		   stats_quantile(all, LANE_PAIRS, 0.5));
	print_reach(row->lanes, true);
	printf("\"detail\": \"%u pairs; one work-item to a warp beside 32, %s, medians\"}\n",
	       LANE_PAIRS, isa->name);
	fflush(stdout);
}

static void measure(const struct row *row)
{
	const struct sample *sample = row->sample;
	struct native native;
	struct engine engine;
	unsigned int i;

	engine_open(&engine, sample);
	native_open(&native, sample);
	check_isas(&engine, &native);
	for (i = 0; i < pairs; i++)
		run_pair(&engine, &native, i, i % 2);
	native_compare(&native, &engine);
	print_row(row, engine.group.executed);
	if (row->lanes)
		measure_lanes(&engine, &native, row);
	native_close(&native);
	engine_close(&engine);
}

static bool is_wanted(const char *row, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, row) ||
		    (!strncmp(*names, "compute_", 8) && !strcmp(*names + 8, row)))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_compute PAIRS [ROW...]\n");
		return 2;
	}
	pairs = (unsigned int)strtoul(argv[1], NULL, 10);
	if (pairs < 1 || pairs > MAX_PAIRS)
		bench_die("1 to %u pairs", MAX_PAIRS);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_wanted(rows[i].sample->name, argv + 2))
			measure(&rows[i]);
	for (i = 2; i < (size_t)argc; i++)
		if (!strncmp(argv[i], "compute_native_", 15))
			row_natives(pairs, argv[i] + 15);
	if (is_wanted("native", argv + 2))
		row_natives(pairs, NULL);
	if (is_wanted("units", argv + 2))
		row_units(pairs);
	if (is_wanted("apart", argv + 2))
		row_apart(pairs);
	if (is_wanted("choice", argv + 2))
		row_choice(pairs);
	if (is_wanted("stop", argv + 2))
		row_stop(false);
	if (is_wanted("units_stop", argv + 2))
		row_stop(true);
	return 0;
}
