// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of natives/, in which lanes part: recursion, backtracking, interpreters and the like,
 * written as for a CPU. Each on the engine, in user space, beside the same C on the CPU, scalar, a
 * work-item after the other, in one thread. Times are those that the thread had a processor.
 *
 * How many lanes were active, on the average: the instructions that all work-items execute, each
 * alone in its warp, by those that warps of 32 execute. No program has work-items that meet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "die.h"
#include "engine.h"
#include "native_run.h"
#include "rows.h"
#include "stats.h"

#define MOST_PAIRS	10
#define REACH_WORST	12
#define REACH_MEDIAN	4

#define NATIVES(X) \
	X(tak) X(walk) X(queens) X(sudoku) X(regex) X(bytecode) X(lz4) X(huffman) X(json) X(csv) \
	X(bfs) X(dijkstra) X(quicksort) X(heapsort) X(murmur) X(counts) X(modpow) X(spmv) \
	X(bsearch) X(handlers) X(radix) X(entries) X(simpson) X(roots) X(lookups)

/* NATIVES_DIR is where their ELF files are. */
#define EMBED(name)								\
	__asm__(".pushsection .rodata\n"					\
		".balign 8\n"							\
		"native_elf_" #name ":\n"					\
		".incbin \"" NATIVES_DIR "/" #name ".elf\"\n"			\
		"native_elf_" #name "_end:\n"					\
		".popsection\n");						\
	extern const uint8_t native_elf_##name[], native_elf_##name##_end[];	\
	extern const struct sample native_##name;
#define ENTRY(name)	{ &native_##name, native_elf_##name, native_elf_##name##_end },

NATIVES(EMBED)

static const struct entry {
	const struct sample *sample;
	const uint8_t *elf;
	const uint8_t *end;
} entries[] = {
	NATIVES(ENTRY)
};

#define NR	(sizeof(entries) / sizeof(entries[0]))

/**
 * struct result - what was measured of a program
 * @sample:    which
 * @engine_ms: on the engine, median
 * @native_ms: on the CPU
 * @ratio:     of the two, median of the pairs
 * @lanes:     that were active, of 32, on the average
 * @executed:  instructions of warps
 * @native:    lanes that ran alone did so by code of the CPU
 */
struct result {
	const struct sample *sample;
	double engine_ms;
	double native_ms;
	double ratio;
	double lanes;
	u64 executed;
	bool native;
};

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double time_engine(struct engine *engine)
{
	double start = cpu_ms();

	engine_run(engine, engine_best(), engine->sample->group);
	return cpu_ms() - start;
}

/* Twice: the caches are full of what the engine has worked on. */
static double time_native(struct native *native)
{
	double start;

	native_run(native);
	start = cpu_ms();
	native_run(native);
	return cpu_ms() - start;
}

/* Also makes sure that all is right before anything is timed. */
static double count_lanes(struct engine *engine, struct native *native, u64 *executed)
{
	static const uint32_t one[3] = { 1, 1, 1 };
	u64 alone;

	native_run(native);
	engine->dispatch.alone = U32_MAX;	/* or several of its instructions count as one */
	engine_run(engine, engine_best(), one);
	native_compare(native, engine);
	alone = engine->group.executed;
	engine_run(engine, engine_best(), engine->sample->group);
	native_compare(native, engine);
	*executed = engine->group.executed;
	engine->dispatch.alone = 0;
	return (double)alone / (double)*executed;
}

static struct result measure(const struct entry *entry, unsigned int pairs)
{
	double engine_ms[MOST_PAIRS], native_ms[MOST_PAIRS], ratio[MOST_PAIRS];
	struct result result = { .sample = entry->sample };
	struct native native;
	struct engine engine;
	unsigned int i;

	engine_open_file(&engine, entry->sample, entry->elf, (size_t)(entry->end - entry->elf));
	native_open(&native, entry->sample);
	result.native = engine.native;
	result.lanes = count_lanes(&engine, &native, &result.executed);
	for (i = 0; i < pairs; i++) {
		if (i % 2)
			engine_ms[i] = time_engine(&engine);
		native_ms[i] = time_native(&native);
		if (i % 2 == 0)
			engine_ms[i] = time_engine(&engine);
		ratio[i] = engine_ms[i] / native_ms[i];
	}
	native_compare(&native, &engine);
	native_close(&native);
	engine_close(&engine);
	result.engine_ms = stats_quantile(engine_ms, pairs, 0.5);
	result.native_ms = stats_quantile(native_ms, pairs, 0.5);
	result.ratio = stats_quantile(ratio, pairs, 0.5);
	return result;
}

static void print_head(const char *name, const struct result *result, double ratio)
{
	printf("{\"name\": \"compute_native_%s\", \"value\": %.3f, \"peer\": %.3f, \"ratio\": %.3f, ",
	       name, result->engine_ms, result->native_ms, ratio);
	printf("\"unit\": \"ms\", \"measured\": \"wall\", \"higher\": false, ");
}

static double ns_each(const struct result *result)
{
	return result->engine_ms * 1e6 / (double)result->executed;
}

static void print_row(const struct result *result)
{
	print_head(result->sample->name, result, result->ratio);
	printf("\"reach\": null, \"detail\": \"%.1f of 32 lanes active, %llu instructions of warps, %.1f ns each; %s\"}\n",
	       result->lanes, result->executed, ns_each(result), result->sample->brief);
	fflush(stdout);
}

static int by_ratio(const void *a, const void *b)
{
	double x = ((const struct result *)a)->ratio, y = ((const struct result *)b)->ratio;

	return (x < y) - (x > y);
}

/* How programs were executed. */
static const char *how(const struct result *results)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s", engine_best()->name,
		 results->native ? ", code by the kernel's compiler of BPF" : "");
	return text;
}

/* For who reads it: JSON has no columns. */
static void print_table(const struct result *results, unsigned int pairs)
{
	size_t i;

	fprintf(stderr, "%-10s %9s %9s %6s %6s %8s  what\n", "program", "engine ms", "native ms",
		"ratio", "lanes", "ns/insn");
	for (i = 0; i < NR; i++)
		fprintf(stderr, "%-10s %9.2f %9.3f %6.2f %6.1f %8.1f  %s\n",
			results[i].sample->name, results[i].engine_ms, results[i].native_ms,
			results[i].ratio, results[i].lanes, ns_each(&results[i]),
			results[i].sample->brief);
	fprintf(stderr, "medians of %u pairs; lanes active of 32; %s\n\n", pairs, how(results));
}

static void print_sum(const struct result *results, unsigned int pairs)
{
	static const char text[] = "%u pairs each; programs in which lanes part: the engine's files in user space, %s, beside the same C at -O2, scalar, one thread, its processor time, medians of pairs";
	double median = (results[(NR - 1) / 2].ratio + results[NR / 2].ratio) / 2;

	print_head("median", &results[NR / 2], median);
	printf("\"reach\": %d, \"detail\": \"", REACH_MEDIAN);
	printf(text, pairs, how(results));
	printf("; the median of %zu, times are those of %s\"}\n", NR, results[NR / 2].sample->name);
	print_head("worst", &results[0], results[0].ratio);
	printf("\"reach\": %d, \"detail\": \"", REACH_WORST);
	printf(text, pairs, how(results));
	printf("; the worst of %zu, %s\"}\n", NR, results[0].sample->name);
}

void row_natives(unsigned int pairs, const char *name)
{
	struct result results[NR];
	size_t i;

	if (pairs > MOST_PAIRS)
		pairs = MOST_PAIRS;
	for (i = 0; i < NR; i++) {
		if (name && strcmp(name, entries[i].sample->name))
			continue;
		results[i] = measure(&entries[i], pairs);
		if (!name)
			continue;
		print_row(&results[i]);
		return;
	}
	if (name)
		bench_die("no program %s", name);
	qsort(results, NR, sizeof(results[0]), by_ratio);
	print_table(results, pairs);
	for (i = 0; i < NR; i++)
		print_row(&results[i]);
	print_sum(results, pairs);
	fflush(stdout);
}
