// SPDX-License-Identifier: GPL-2.0
/* Hashing: lookups in a table that others could write, by loads that acquire. */
#include "native.h"

#define ITEMS	1024
#define LOOKUPS	64
#define SLOTS	4096
#define KEYS	8192

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

/* Returns the slot that has the key, or 0. */
static uint32_t lookup(const uint32_t *table, uint32_t key)
{
	uint32_t i = mix(key), has;

	do {
		i = i % SLOTS;
		has = __atomic_load_n(&table[i], __ATOMIC_ACQUIRE);
		if (has == key)
			return i;
		i++;
	} while (has);
	return 0;
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	uint32_t key = id * 977 + 1, sum = 0, k;

	for (k = 0; k < LOOKUPS; k++) {
		key = mix(key) % KEYS + 1;
		sum += lookup(in, key);
	}
	out[id] = sum;
}

/* Three of four slots are used. */
HOST void prepare(uint32_t *in)
{
	uint32_t k, i, key;

	for (i = 0; i < SLOTS; i++)
		in[i] = 0;
	for (k = 0; k < SLOTS / 4 * 3; k++) {
		key = pick(KEYS) + 1;
		for (i = mix(key) % SLOTS; in[i]; i = (i + 1) % SLOTS)
			;
		in[i] = key;
	}
}

PROGRAM(lookups, "lookups in a hash table, by loads that acquire", ITEMS, 4 * SLOTS, 4 * ITEMS)
