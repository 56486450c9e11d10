// SPDX-License-Identifier: GPL-2.0
/* Recursion: Takeuchi's function, of other numbers for each work-item. */
#define VGPU_PRIVATE_BYTES	16384
#include "native.h"

#define ITEMS	512

static int takeuchi(int x, int y, int z)
{
	if (y >= x)
		return z;
	return takeuchi(takeuchi(x - 1, y, z), takeuchi(y - 1, z, x), takeuchi(z - 1, x, y));
}

static void item(const int32_t *in, int32_t *out, uint32_t id)
{
	out[id] = takeuchi(in[3 * id], in[3 * id + 1], in[3 * id + 2]);
}

HOST void prepare(int32_t *in)
{
	uint32_t i;

	for (i = 0; i < 3 * ITEMS; i += 3) {
		in[i] = 7 + (int)pick(3);
		in[i + 1] = 3 + (int)pick(3);
		in[i + 2] = (int)pick(3);
	}
}

PROGRAM(tak, "Takeuchi's function, recursive", ITEMS, 12 * ITEMS, 4 * ITEMS)
