// SPDX-License-Identifier: GPL-2.0
/* Sparse product: a small matrix as a list of its entries, one for each work-item, by a vector. */
#include "native.h"

#define ITEMS	2048
#define SIDE	64
#define MOST	400
#define LEAST	20

struct entry {
	uint16_t row;
	uint16_t column;
	float value;
};

struct matrix {
	uint32_t nr;
	struct entry entry[MOST];
	float vector[SIDE];
};

static void item(const struct matrix *in, float *out, uint32_t id)
{
	const struct matrix *m = &in[id];
	uint32_t i;

	out += id * SIDE;
	for (i = 0; i < m->nr; i++)
		out[m->entry[i].row] += m->entry[i].value * m->vector[m->entry[i].column];
}

HOST void prepare(struct matrix *in)
{
	uint32_t i, k;

	for (i = 0; i < ITEMS; i++) {
		in[i].nr = LEAST + pick(MOST - LEAST);
		for (k = 0; k < MOST; k++) {
			in[i].entry[k].row = pick(SIDE);
			in[i].entry[k].column = pick(SIDE);
			in[i].entry[k].value = (float)pick(100) / 10;
		}
		for (k = 0; k < SIDE; k++)
			in[i].vector[k] = (float)pick(100) / 33;
	}
}

PROGRAM(entries, "small sparse matrices, as lists of entries", ITEMS, ITEMS * sizeof(struct matrix),
	4 * ITEMS * SIDE)
