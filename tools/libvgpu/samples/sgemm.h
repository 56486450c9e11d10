/* SPDX-License-Identifier: GPL-2.0 */
/* Product of two square matrices of floats. */
#ifndef SAMPLE_SGEMM_H
#define SAMPLE_SGEMM_H

#include <stdint.h>

/**
 * struct sgemm_args - arguments
 * @a:  first factor, row after row
 * @b:  second factor
 * @c:  product
 * @nr: rows, and columns
 */
struct sgemm_args {
	const float *a;
	const float *b;
	float *c;
	uint32_t nr;
};

static inline void sgemm_item(const struct sgemm_args *args, uint32_t column, uint32_t row)
{
	uint32_t i, nr = args->nr;
	const float *a = args->a + (uint64_t)row * nr, *b = args->b + column;
	float sum = 0;

	for (i = 0; i < nr; i++, b += nr)
		sum += a[i] * *b;
	args->c[(uint64_t)row * nr + column] = sum;
}

#endif /* SAMPLE_SGEMM_H */
