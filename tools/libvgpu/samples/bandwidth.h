/* SPDX-License-Identifier: GPL-2.0 */
/* Reads of 8 bytes, as many as possible: how many bytes in a second? */
#ifndef SAMPLE_BANDWIDTH_H
#define SAMPLE_BANDWIDTH_H

#include <stdint.h>

#define BANDWIDTH_EACH	64	/* words of a work-item */
#define BANDWIDTH_ROW	32	/* work-items that read side by side: those of a warp */

/**
 * struct bandwidth_args - arguments
 * @words: BANDWIDTH_EACH for each work-item; those of BANDWIDTH_ROW items are together
 * @xor:   of the words of each work-item
 */
struct bandwidth_args {
	const uint64_t *words;
	uint64_t *xor;
};

static inline void bandwidth_item(const struct bandwidth_args *args, uint32_t id)
{
	const uint64_t *at = args->words + id % BANDWIDTH_ROW +
		(uint64_t)(id / BANDWIDTH_ROW) * BANDWIDTH_ROW * BANDWIDTH_EACH;
	uint64_t a = 0, b = 0, c = 0, d = 0;
	int i;

	for (i = 0; i < BANDWIDTH_EACH; i += 4, at += 4 * BANDWIDTH_ROW) {
		a ^= at[0];
		b ^= at[BANDWIDTH_ROW];
		c ^= at[2 * BANDWIDTH_ROW];
		d ^= at[3 * BANDWIDTH_ROW];
	}
	args->xor[id] = a ^ b ^ c ^ d;
}

#endif /* SAMPLE_BANDWIDTH_H */
