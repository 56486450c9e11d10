// SPDX-License-Identifier: GPL-2.0
/* Hashing: how often each key occurs, in a table with open addressing for each work-item. */
#include "native.h"

#define ITEMS	512
#define KEYS	256
#define SLOTS	128

struct slot {
	uint32_t key, nr;
};

static void count(struct slot *table, uint32_t key)
{
	uint32_t i = key * 2654435769u >> 25;

	while (table[i].nr && table[i].key != key)
		i = (i + 1) % SLOTS;
	table[i].key = key;
	table[i].nr++;
}

static void item(const uint32_t *in, struct slot *out, uint32_t id)
{
	uint32_t i;

	for (i = id * KEYS; i < (id + 1) * KEYS; i++)
		count(out + id * SLOTS, in[i]);
}

/* Few keys are frequent. A work-item has fewer than slots. */
HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * KEYS; i++)
		in[i] = pick(1 + pick(100)) * 7919 + i / KEYS;
}

PROGRAM(counts, "a hash table with open addressing", ITEMS, 4 * KEYS * ITEMS,
	ITEMS * SLOTS * sizeof(struct slot))
