// SPDX-License-Identifier: GPL-2.0
/* Backtracking: solutions of n queens, with three of them where a work-item's id says. */
#define VGPU_PRIVATE_BYTES	8192
#include "native.h"

#define ITEMS	1024
#define SIZE	11

static uint32_t solve(uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t free = ~(columns | left | right) & ((1u << SIZE) - 1), bit, nr = 0;

	if (columns == (1u << SIZE) - 1)
		return 1;
	while (free) {
		bit = free & -free;
		free -= bit;
		nr += solve(columns | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return nr;
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	uint32_t columns = 0, left = 0, right = 0, bit, i, at = in[id];

	for (i = 0; i < 3; i++, at /= SIZE) {
		bit = 1u << at % SIZE;
		if ((columns | left | right) & bit)
			return;
		columns |= bit;
		left = (left | bit) << 1;
		right = (right | bit) >> 1;
	}
	out[id] = solve(columns, left, right);
}

HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS; i++)
		in[i] = pick(SIZE * SIZE * SIZE);
}

PROGRAM(queens, "11 queens by backtracking, recursive", ITEMS, 4 * ITEMS, 4 * ITEMS)
