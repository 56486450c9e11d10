// SPDX-License-Identifier: GPL-2.0
/* Radix sort by bytes, with its counts and both arrays in private memory. */
#define VGPU_PRIVATE_BYTES	4096
#include "native.h"

#define ITEMS	1024
#define MOST	400
#define LEAST	100

static uint32_t sort(uint32_t *from, uint32_t *to, uint32_t n)
{
	uint32_t shift, i, sum, *spare;
	uint16_t at[256];

	for (shift = 0; shift < 32; shift += 8) {
		for (i = 0; i < 256; i++)
			at[i] = 0;
		for (i = 0; i < n; i++)
			at[from[i] >> shift & 255]++;
		/* They have no byte above the last one: it is sorted. */
		if (at[0] == n)
			break;
		for (sum = 0, i = 0; i < 256; i++) {
			uint16_t count = at[i];

			at[i] = sum;
			sum += count;
		}
		for (i = 0; i < n; i++)
			to[at[from[i] >> shift & 255]++] = from[i];
		spare = from;
		from = to;
		to = spare;
	}
	for (sum = 0, i = 0; i < n; i++)
		sum = sum * 31 + from[i];
	return sum;
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	uint32_t keys[MOST], spare[MOST], n, i;

	in += id * MOST;
	n = LEAST + in[0] % (MOST - LEAST);
	for (i = 0; i < n; i++)
		keys[i] = in[i] >> (id % 3 * 8);
	out[id] = sort(keys, spare, n);
}

HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * MOST; i++)
		in[i] = pick(UINT32_MAX);
}

PROGRAM(radix, "radix sort, counts in private memory", ITEMS, ITEMS * MOST * 4, 4 * ITEMS)
