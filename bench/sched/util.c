// SPDX-License-Identifier: GPL-2.0
/* Small things that the whole bench uses. */
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench_sched.h"

#define QUIET_NS	(2 * SEC)	/* nothing is said of progress for so long */

/* Zeroed memory; without memory there is no bench. */
void *bench_alloc(size_t bytes)
{
	void *memory = calloc(1, bytes ? bytes : 1);

	if (!memory)
		bench_die("no memory for %zu bytes", bytes);
	return memory;
}

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * SEC + (u64)ts.tv_nsec;
}

/* Time of the real world. */
u64 bench_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Time of this thread on a processor: what else runs there does not count. */
u64 bench_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Says on a terminal what is under way, in place of what was said before. */
void bench_progress(const char *fmt, ...)
{
	static u64 began_ns;
	va_list args;

	if (!began_ns)
		began_ns = bench_clock_ns();
	if (!isatty(STDERR_FILENO) || bench_clock_ns() - began_ns < QUIET_NS)
		return;
	fputs("\r\033[K", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
}

/* Opens a file to be written, and replaces what it had. */
FILE *bench_open(const char *name)
{
	FILE *out = fopen(name, "w");

	if (!out)
		bench_die("%s: %m", name);
	return out;
}

void bench_close(const char *name, FILE *out)
{
	if (fclose(out))
		bench_die("%s: %m", name);
}
