// SPDX-License-Identifier: GPL-2.0
#include "rng.h"

struct rng rng_seed(uint64_t seed)
{
	return (struct rng){ seed * 0x9e3779b97f4a7c15ull | 1 };
}

uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545f4914f6cdd1dull;
}

uint64_t rng_below(struct rng *rng, uint64_t limit)
{
	return limit ? (rng_next(rng) >> 11) % limit : 0;
}
