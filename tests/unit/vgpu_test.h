/* SPDX-License-Identifier: GPL-2.0 */
/* For all unit tests: cmocka and the headers it needs, units of time, random numbers by seed. */
#ifndef _VGPU_TEST_H
#define _VGPU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#include <linux/kernel.h>

#include "random.h"

/* Units of time, in ns. */
#define US		1000ULL
#define MS		(1000 * US)
#define SEC		(1000 * MS)
#define HOUR		(3600 * SEC)
#define DAY		(24 * HOUR)

/* True once in @n calls on average. */
static inline bool random_one_in(u64 *state, u64 n)
{
	return random_next(state) % n == 0;
}

/*
 * The seed of this run of the program: the environment's VGPU_SEED, or else a new one. It is
 * printed, so that a run that failed can be repeated.
 */
static inline u64 test_seed(void)
{
	static u64 seed;
	const char *env = getenv("VGPU_SEED");
	struct timespec ts;

	if (seed)
		return seed;
	if (env) {
		seed = strtoull(env, NULL, 0);
	} else {
		clock_gettime(CLOCK_REALTIME, &ts);
		seed = (u64)ts.tv_sec * 1000000007ULL ^ (u64)ts.tv_nsec;
	}
	if (!seed)
		seed = 1;
	printf("# VGPU_SEED=%#llx\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

/*
 * Kills the program once it has taken that many seconds of processor time from now on; 0: not any
 * more. For what would never end: make check gives these programs what others leave of the
 * processors, so real time says nothing.
 */
static inline void test_limit_cpu(unsigned int seconds)
{
	const struct itimerval limit = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &limit, NULL);
}

/* Fails the test unless @cond is true, and prints the numbers that @fmt is given. */
#define check_that(cond, fmt, ...) do {					\
	if (!(cond)) {							\
		printf("# %s:%d: %s: " fmt "\n", __func__, __LINE__,	\
		       #cond, ##__VA_ARGS__);				\
		fflush(stdout);						\
		fail();							\
	}								\
} while (0)

#endif /* _VGPU_TEST_H */
