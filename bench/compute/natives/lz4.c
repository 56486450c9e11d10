// SPDX-License-Identifier: GPL-2.0
/* Decompression: a block of LZ4 for each work-item. */
#include "native.h"

#define ITEMS	512
#define BLOCK	1024	/* bytes, and no more when they are compressed */
#define LATEST	12	/* bytes at the end with no match */

/* Of a length whose 15 in the token says that more follows. */
static uint32_t length_at(const uint8_t **in, uint32_t length)
{
	uint8_t more = 255;

	if (length == 15)
		for (; more == 255; length += more)
			more = *(*in)++;
	return length;
}

static void item(const uint8_t *in, uint8_t *out, uint32_t id)
{
	uint8_t *to = out + id * BLOCK, *end = to + BLOCK;
	const uint8_t *from;
	uint32_t token, n;

	in += id * BLOCK;
	for (;;) {
		token = *in++;
		for (n = length_at(&in, token >> 4); n; n--)
			*to++ = *in++;
		if (to >= end)
			return;
		from = to - (in[0] | in[1] << 8);
		in += 2;
		for (n = length_at(&in, token & 15) + 4; n; n--)
			*to++ = *from++;
	}
}

HOST uint8_t *put_length(uint8_t *to, uint32_t length)
{
	if (length < 15)
		return to;
	for (length -= 15; length >= 255; length -= 255)
		*to++ = 255;
	*to++ = (uint8_t)length;
	return to;
}

HOST void compress(const uint8_t *text, uint8_t *to)
{
	uint32_t at = 0, literals = 0, i, n, best, where = 0;

	while (at <= BLOCK) {
		for (i = 0, best = 0; i < at && at < BLOCK - LATEST; i++) {
			for (n = 0; at + n < BLOCK - LATEST && text[i + n] == text[at + n];)
				n++;
			if (n > best)
				best = n, where = at - i;
		}
		if (best < 4 && at++ < BLOCK)
			continue;
		at -= best < 4;
		n = at - literals;
		*to++ = (uint8_t)((n < 15 ? n : 15) << 4 |
				  (best < 4 ? 0 : best < 19 ? best - 4 : 15));
		to = put_length(to, n);
		while (n--)
			*to++ = text[literals++];
		if (best < 4)
			return;
		*to++ = (uint8_t)where;
		*to++ = (uint8_t)(where >> 8);
		to = put_length(to, best - 4);
		at += best;
		literals = at;
	}
}

HOST void prepare(uint8_t *in)
{
	static const char * const words[] = { "the ", "engine ", "of ", "lanes ", "a ", "warp\n",
		"executes ", "interpreter ", "(page) ", "if " };
	uint8_t text[BLOCK + 16];
	const char *word;
	uint32_t i, at;

	for (i = 0; i < ITEMS; i++) {
		for (at = 0; at < BLOCK;)
			for (word = words[pick(10)]; *word; word++)
				text[at++] = (uint8_t)(pick(20) ? *word : (char)('A' + pick(26)));
		compress(text, in + i * BLOCK);
	}
}

PROGRAM(lz4, "decompression of blocks of LZ4", ITEMS, BLOCK * ITEMS, BLOCK * ITEMS)
