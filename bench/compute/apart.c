// SPDX-License-Identifier: GPL-2.0
/*
 * What programs do beside those of a neighbour on another processor, as two partitions with CPUs of
 * their own do: samples on an engine, while another thread keeps a second engine busy, and while
 * that waits. What the two share is the machine: with a neighbour that computes this is next to
 * nothing, else they share caches and the bandwidth of memory. Times are the thread's processor
 * time, as other processes may want the same processor.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include <linux/kernel.h>

#include "die.h"
#include "engine.h"
#include "native_run.h"
#include "rows.h"
#include "stats.h"

#define MAX_PAIRS	1000
#define BLOCK_NS	100000000ull
#define REACH		0.98	/* beside a neighbour that computes */

/**
 * struct neighbour - a thread that keeps an engine busy
 * @engine: with one of @hogs
 * @cpu:    where it runs
 * @runs:   how often the sample has been executed
 * @stop:   ends the thread
 */
static struct neighbour {
	struct engine engine;
	int cpu;
	unsigned int runs;
	bool stop;
} neighbour;

static const struct sample * const hogs[] = { &sample_sha256, &sample_bandwidth };

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		bench_die("CPU %d", cpu);
}

static void *neighbour_run(void *unused)
{
	run_on(neighbour.cpu);
	while (!__atomic_load_n(&neighbour.stop, __ATOMIC_RELAXED)) {
		engine_run(&neighbour.engine, engine_best(), neighbour.engine.sample->group);
		__atomic_store_n(&neighbour.runs, neighbour.runs + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* How long the sample takes, in ms: the mean of as many runs as fit into a block. */
static double time_block(struct engine *engine)
{
	uint64_t start = thread_ns(), now;
	unsigned int runs = 0;

	do {
		engine_run(engine, engine_best(), engine->sample->group);
		runs++;
		now = thread_ns();
	} while (now - start < BLOCK_NS);
	return (double)(now - start) / 1e6 / runs;
}

static double time_beside(struct engine *engine)
{
	pthread_t thread;
	double ms;

	neighbour.stop = false;
	neighbour.runs = 0;
	if (pthread_create(&thread, NULL, neighbour_run, NULL))
		bench_die("no thread");
	while (!__atomic_load_n(&neighbour.runs, __ATOMIC_ACQUIRE))
		;
	ms = time_block(engine);
	__atomic_store_n(&neighbour.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	if (neighbour.runs < 2)
		bench_die("%s: the neighbour was not busy", neighbour.engine.sample->name);
	return ms;
}

/* Throughput beside a neighbour in per cent of that without one: the median of @pairs. */
static double measure_left(struct engine *engine, const struct sample *hog, unsigned int pairs)
{
	static double left[MAX_PAIRS];
	double alone = 0, beside;
	unsigned int i;

	engine_open(&neighbour.engine, hog);
	time_beside(engine);
	for (i = 0; i < pairs; i++) {
		if (i % 2 == 0)
			alone = time_block(engine);
		beside = time_beside(engine);
		if (i % 2)
			alone = time_block(engine);
		left[i] = 100 * alone / beside;
	}
	engine_close(&neighbour.engine);
	return stats_quantile(left, pairs, 0.5);
}

static void measure_sample(const struct sample *sample, unsigned int pairs)
{
	struct engine engine;
	struct native native;
	double left[ARRAY_SIZE(hogs)];
	unsigned int i;

	engine_open(&engine, sample);
	native_open(&native, sample);
	native_run(&native);
	for (i = 0; i < ARRAY_SIZE(hogs); i++)
		left[i] = measure_left(&engine, hogs[i], pairs);
	native_compare(&native, &engine);
	native_close(&native);
	engine_close(&engine);
	printf("{\"name\": \"compute_apart_%s\", \"value\": %.1f, \"peer\": 100, \"ratio\": %.3f, \"unit\": \"%%\", \"measured\": \"wall\", \"higher\": true, \"reach\": %g, ",
	       sample->name, left[0], left[0] / 100, REACH);
	printf("\"detail\": \"%u pairs; throughput beside an engine on another processor that executes %s, of that beside an idle one, in user space, medians; beside %s, which shares the bandwidth of memory, %.1f\"}\n",
	       pairs, hogs[0]->name, hogs[1]->name, left[1]);
	fflush(stdout);
}

void row_apart(unsigned int pairs)
{
	static const struct sample * const samples[] = {
		&sample_sgemm, &sample_mandelbrot, &sample_sha256, &sample_copy,
	};
	int cpu, own = -1, other = -1;
	cpu_set_t set;
	size_t i;

	if (pthread_getaffinity_np(pthread_self(), sizeof(set), &set))
		bench_die("no CPUs");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (own < 0)
			own = cpu;
		else if (other < 0)
			other = cpu;
	}
	if (other < 0) {
		fprintf(stderr, "compute_apart is left out: there is one processor\n");
		return;
	}
	neighbour.cpu = other;
	run_on(own);
	for (i = 0; i < ARRAY_SIZE(samples); i++)
		measure_sample(samples[i], pairs);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}
