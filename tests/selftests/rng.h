/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers (xorshift64*, Vigna 2016); used by the selftests, the fuzzer and the bench. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

/**
 * struct rng - a sequence of random numbers
 * @state: never 0; made by rng_seed(), or a number printed by an earlier run
 */
struct rng {
	uint64_t state;
};

/* Seeds that are close to each other give sequences that have nothing in common. */
struct rng rng_seed(uint64_t seed);

uint64_t rng_next(struct rng *rng);

/* 0 to @limit - 1; 0 if @limit is 0. */
uint64_t rng_below(struct rng *rng, uint64_t limit);

#endif /* RNG_H */
