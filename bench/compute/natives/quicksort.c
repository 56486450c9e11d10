// SPDX-License-Identifier: GPL-2.0
/* Sorting: recursive quicksort, an array for each work-item. */
#define VGPU_PRIVATE_BYTES	16384
#include "native.h"

#define ITEMS	512
#define MOST	128

static void sort(uint32_t *a, int low, int high)
{
	uint32_t pivot, tmp;
	int i = low, j = high;

	if (low >= high)
		return;
	pivot = a[(low + high) / 2];
	while (i <= j) {
		while (a[i] < pivot)
			i++;
		while (a[j] > pivot)
			j--;
		if (i <= j) {
			tmp = a[i];
			a[i++] = a[j];
			a[j--] = tmp;
		}
	}
	sort(a, low, j);
	sort(a, i, high);
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	uint32_t i, nr = in[id * MOST] % (MOST / 2) + MOST / 2;

	for (i = 0; i < nr; i++)
		out[id * MOST + i] = in[id * MOST + i];
	sort(out + id * MOST, 0, (int)nr - 1);
}

HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * MOST; i++)
		in[i] = pick(1000000);
}

PROGRAM(quicksort, "quicksort of arrays, recursive", ITEMS, 4 * MOST * ITEMS, 4 * MOST * ITEMS)
