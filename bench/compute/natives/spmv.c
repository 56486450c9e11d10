// SPDX-License-Identifier: GPL-2.0
/* Sparse product: a matrix of rows of unequal length by a vector, a row for each work-item. */
#include "native.h"

#define ITEMS	16384
#define MOST	160	/* entries of a row, 21 on the average */
#define ENTRIES	(ITEMS * 28)

struct matrix {
	float vector[ITEMS];
	uint32_t row[ITEMS + 1];
	uint32_t column[ENTRIES];
	float value[ENTRIES];
};

static void item(const struct matrix *in, float *out, uint32_t id)
{
	float sum = 0;
	uint32_t i;

	for (i = in->row[id]; i < in->row[id + 1]; i++)
		sum += in->value[i] * in->vector[in->column[i]];
	out[id] = sum;
}

HOST void prepare(struct matrix *in)
{
	uint32_t i, j, nr = 0;

	for (i = 0; i < ITEMS; i++) {
		in->vector[i] = (float)pick(1000) / 1000;
		in->row[i] = nr;
		for (j = 1 + pick(1 + pick(1 + pick(MOST))); j; j--, nr++) {
			in->column[nr] = pick(ITEMS);
			in->value[nr] = (float)pick(1000) / 500 - 1;
		}
	}
	in->row[i] = nr;
}

PROGRAM(spmv, "a sparse matrix by a vector", ITEMS, sizeof(struct matrix), 4 * ITEMS)
