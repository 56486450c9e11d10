// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <time.h>

#include "clk.h"

uint64_t clk_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t clk_ms(void)
{
	return clk_ns() / 1000000;
}

void clk_sleep_ns(uint64_t ns)
{
	struct timespec left = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

void clk_sleep_ms(unsigned int ms)
{
	clk_sleep_ns(ms * 1000000ull);
}
