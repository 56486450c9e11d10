// SPDX-License-Identifier: GPL-2.0
/* Hashing: MurmurHash3 of strings of any length, some for each work-item. */
#include "native.h"

#define ITEMS	2048
#define STRINGS	8
#define LONGEST	200

struct string {
	uint32_t at, length;
};

static uint32_t rotate(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

static uint32_t hash(const uint8_t *text, uint32_t length)
{
	uint32_t h = 0, k, i;

	for (i = 0; i + 4 <= length; i += 4) {
		k = text[i] | text[i + 1] << 8 | text[i + 2] << 16 | (uint32_t)text[i + 3] << 24;
		h ^= rotate(k * 0xcc9e2d51, 15) * 0x1b873593;
		h = rotate(h, 13) * 5 + 0xe6546b64;
	}
	k = 0;
	switch (length & 3) {
	case 3:
		k ^= (uint32_t)text[i + 2] << 16;
		__attribute__((fallthrough));
	case 2:
		k ^= (uint32_t)text[i + 1] << 8;
		__attribute__((fallthrough));
	case 1:
		h ^= rotate((k ^ text[i]) * 0xcc9e2d51, 15) * 0x1b873593;
	}
	h ^= length;
	h = (h ^ h >> 16) * 0x85ebca6b;
	h = (h ^ h >> 13) * 0xc2b2ae35;
	return h ^ h >> 16;
}

static void item(const struct string *in, uint32_t *out, uint32_t id)
{
	const uint8_t *text = (const uint8_t *)(in + ITEMS * STRINGS);
	uint32_t i;

	for (i = id * STRINGS; i < (id + 1) * STRINGS; i++)
		out[i] = hash(text + in[i].at, in[i].length);
}

HOST void prepare(struct string *in)
{
	uint8_t *text = (uint8_t *)(in + ITEMS * STRINGS);
	uint32_t i;

	for (i = 0; i < ITEMS * STRINGS; i++)
		in[i] = (struct string) { pick(65536 - LONGEST), 1 + pick(1 + pick(LONGEST)) };
	for (i = 0; i < 65536; i++)
		text[i] = (uint8_t)pick(256);
}

PROGRAM(murmur, "MurmurHash3 of strings", ITEMS, ITEMS * STRINGS * sizeof(struct string) + 65536,
	4 * STRINGS * ITEMS)
