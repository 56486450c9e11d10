// SPDX-License-Identifier: GPL-2.0
/* Decompression: a canonical Huffman code, bit by bit, as in zlib's puff. */
#include "native.h"

#define ITEMS	1024
#define SYMBOLS	256	/* of a work-item, at most */
#define LONGEST	6

static const uint8_t counts[LONGEST + 1] = { 0, 0, 1, 2, 4, 4, 8 };	/* of codes by length */

static void item(const uint8_t *in, uint8_t *out, uint32_t id)
{
	uint32_t nr, i, bit = 0, code, first, index, length;

	in += id * SYMBOLS;
	out += id * SYMBOLS;
	nr = *in++;
	for (i = 0; i < nr; i++) {
		code = 0;
		first = 0;
		index = 0;
		for (length = 1; length <= LONGEST; length++) {
			code |= in[bit / 8] >> bit % 8 & 1;
			bit++;
			if (code - first < counts[length]) {
				out[i] = (uint8_t)(index + code - first);
				break;
			}
			index += counts[length];
			first = (first + counts[length]) << 1;
			code <<= 1;
		}
	}
}

/* Any bits are codes, and a code is as frequent as its length says. */
HOST void prepare(uint8_t *in)
{
	uint32_t i, j;

	for (i = 0; i < ITEMS; i++, in += SYMBOLS) {
		in[0] = (uint8_t)(64 + pick(192));
		for (j = 1; j < SYMBOLS; j++)
			in[j] = (uint8_t)pick(256);
	}
}

PROGRAM(huffman, "decoding of a Huffman code, bit by bit", ITEMS, SYMBOLS * ITEMS, SYMBOLS * ITEMS)
