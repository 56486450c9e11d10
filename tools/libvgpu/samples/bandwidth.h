/* SPDX-License-Identifier: GPL-2.0 */
/* Reads of 8 bytes, as many as possible: how many bytes in a second? */
#ifndef SAMPLE_BANDWIDTH_H
#define SAMPLE_BANDWIDTH_H

#include <stdint.h>

#define BANDWIDTH_GROUP	256	/* work-items of a group */
#define BANDWIDTH_EACH	64	/* words of a work-item */

/**
 * struct bandwidth_args - arguments
 * @words: BANDWIDTH_EACH for each work-item; those of a group are together
 * @xor:   of the words of each work-item
 */
struct bandwidth_args {
	const uint64_t *words;
	uint64_t *xor;
};

static inline void bandwidth_item(const struct bandwidth_args *args, uint32_t group, uint32_t item)
{
	const uint64_t *at = args->words + (uint64_t)group * BANDWIDTH_GROUP * BANDWIDTH_EACH + item;
	uint64_t a = 0, b = 0, c = 0, d = 0;
	int i;

	for (i = 0; i < BANDWIDTH_EACH; i += 4, at += 4 * BANDWIDTH_GROUP) {
		a ^= at[0];
		b ^= at[BANDWIDTH_GROUP];
		c ^= at[2 * BANDWIDTH_GROUP];
		d ^= at[3 * BANDWIDTH_GROUP];
	}
	args->xor[group * BANDWIDTH_GROUP + item] = a ^ b ^ c ^ d;
}

#endif /* SAMPLE_BANDWIDTH_H */
