// SPDX-License-Identifier: GPL-2.0
/* Sorting: heapsort, an array for each work-item. */
#include "native.h"

#define ITEMS	1024
#define MOST	128

static void sift(uint32_t *a, uint32_t i, uint32_t nr)
{
	uint32_t value = a[i], child;

	while ((child = 2 * i + 1) < nr) {
		if (child + 1 < nr && a[child + 1] > a[child])
			child++;
		if (a[child] <= value)
			break;
		a[i] = a[child];
		i = child;
	}
	a[i] = value;
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	uint32_t i, tmp, nr = in[id * MOST] % (MOST / 2) + MOST / 2, *a = out + id * MOST;

	for (i = 0; i < nr; i++)
		a[i] = in[id * MOST + i];
	for (i = nr / 2; i--;)
		sift(a, i, nr);
	for (i = nr - 1; i; i--) {
		tmp = a[0];
		a[0] = a[i];
		a[i] = tmp;
		sift(a, 0, i);
	}
}

HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * MOST; i++)
		in[i] = pick(1000000);
}

PROGRAM(heapsort, "heapsort of arrays", ITEMS, 4 * MOST * ITEMS, 4 * MOST * ITEMS)
