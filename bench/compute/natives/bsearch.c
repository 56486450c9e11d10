// SPDX-License-Identifier: GPL-2.0
/* Gathers: binary searches in an array. */
#include "native.h"

#define ITEMS	2048
#define NUMBERS	65536
#define EACH	16

static uint32_t search(const uint32_t *a, uint32_t key)
{
	uint32_t low = 0, high = NUMBERS, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (a[middle] == key)
			return middle;
		if (a[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	uint32_t i;

	for (i = id * EACH; i < (id + 1) * EACH; i++)
		out[i] = search(in, in[NUMBERS + i]);
}

HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < NUMBERS; i++)
		in[i] = 3 * i + pick(3);
	for (i = 0; i < ITEMS * EACH; i++)
		in[NUMBERS + i] = pick(3 * NUMBERS);
}

PROGRAM(bsearch, "binary searches in 65536 numbers", ITEMS, 4 * (NUMBERS + ITEMS * EACH),
	4 * EACH * ITEMS)
