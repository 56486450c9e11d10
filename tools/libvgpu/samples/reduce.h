/* SPDX-License-Identifier: GPL-2.0 */
/* Sum of many numbers: a part per work-item, then of a work-group, then of all. */
#ifndef SAMPLE_REDUCE_H
#define SAMPLE_REDUCE_H

#include <stdint.h>

#define REDUCE_GROUP	256	/* work-items of a group; a power of two */
#define REDUCE_EACH	64	/* numbers of a work-item */

/**
 * struct reduce_args - arguments
 * @numbers: REDUCE_EACH for each work-item
 * @sum:     what is added to
 */
struct reduce_args {
	const uint32_t *numbers;
	uint64_t *sum;
};

static inline uint64_t reduce_part(const struct reduce_args *args, uint32_t id, uint32_t items)
{
	const uint32_t *at = args->numbers + id;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < REDUCE_EACH; i++, at += items)
		sum += *at;
	return sum;
}

#endif /* SAMPLE_REDUCE_H */
