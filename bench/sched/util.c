// SPDX-License-Identifier: GPL-2.0
/* Small things that the whole bench uses. */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "bench_sched.h"

void bench_die(const char *fmt, ...)
{
	va_list args;

	fputs("bench_sched: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Zeroed; there is no bench without memory. */
void *bench_alloc(size_t bytes)
{
	void *memory = calloc(1, bytes ? bytes : 1);

	if (!memory)
		bench_die("no memory for %zu bytes", bytes);
	return memory;
}

/* Of the real world. */
u64 bench_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * SEC + (u64)ts.tv_nsec;
}

/* Of this thread on a processor: what else runs there does not count. */
u64 bench_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * SEC + (u64)ts.tv_nsec;
}

/* 0 .. n - 1 */
u64 bench_random(u64 *seed, u64 n)
{
	u64 x = (*seed += 0x9e3779b97f4a7c15ULL);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (x ^ (x >> 31)) % n;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @q: 0 .. 1. Sorts. 0 of no values. */
double bench_quantile(double *values, size_t nr, double q)
{
	double at;
	size_t low;

	if (!nr)
		return 0;
	qsort(values, nr, sizeof(*values), compare_doubles);
	at = q * (double)(nr - 1);
	low = (size_t)at;
	if (low + 1 >= nr)
		return values[nr - 1];
	return values[low] + (at - (double)low) * (values[low + 1] - values[low]);
}
