/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The random numbers of the simulator, of tests and of the bench: the same seed, the same numbers.
 */
#ifndef _SIM_RANDOM_H
#define _SIM_RANDOM_H

#include <linux/types.h>

/* SplitMix64 (Steele, Lea, Flood 2014). @state is the seed, and goes on. */
static inline u64 random_next(u64 *state)
{
	u64 x = (*state += 0x9e3779b97f4a7c15ULL);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* One of @lo .. @hi. */
static inline u64 random_range(u64 *state, u64 lo, u64 hi)
{
	return lo + random_next(state) % (hi - lo + 1);
}

/* One of @lo .. @hi, or @lo without drawing one if @hi is not above it. */
static inline u64 random_upto(u64 *state, u64 lo, u64 hi)
{
	return hi > lo ? random_range(state, lo, hi) : lo;
}

#endif /* _SIM_RANDOM_H */
