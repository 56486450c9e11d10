/* SPDX-License-Identifier: GPL-2.0 */
/* Sum of many numbers: a part per work-item, then of a work-group, then of all. */
#ifndef SAMPLE_REDUCE_H
#define SAMPLE_REDUCE_H

#include <stdint.h>

#define REDUCE_GROUP	256	/* work-items of a group; a power of two */
#define REDUCE_EACH	64	/* numbers of a work-item */
#define REDUCE_ROW	32	/* work-items that read side by side: those of a warp */

/**
 * struct reduce_args - arguments
 * @numbers: REDUCE_EACH for each work-item; those of REDUCE_ROW items are together
 * @sum:     what is added to, modulo 2^32
 */
struct reduce_args {
	const uint32_t *numbers;
	uint32_t *sum;
};

static inline uint32_t reduce_part(const struct reduce_args *args, uint32_t id)
{
	const uint32_t *at = args->numbers + id % REDUCE_ROW +
		(uint64_t)(id / REDUCE_ROW) * REDUCE_ROW * REDUCE_EACH;
	uint32_t sum = 0;
	int i;

	for (i = 0; i < REDUCE_EACH; i++, at += REDUCE_ROW)
		sum += *at;
	return sum;
}

#endif /* SAMPLE_REDUCE_H */
