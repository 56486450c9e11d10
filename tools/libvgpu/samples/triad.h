/* SPDX-License-Identifier: GPL-2.0 */
/* The triad of STREAM: one vector and a multiple of another, added. */
#ifndef SAMPLE_TRIAD_H
#define SAMPLE_TRIAD_H

#include <stdint.h>

struct triad_args {
	float *a;
	const float *b;
	const float *c;
	float factor;
};

static inline void triad_item(const struct triad_args *args, uint32_t id)
{
	args->a[id] = args->b[id] + args->factor * args->c[id];
}

#endif /* SAMPLE_TRIAD_H */
