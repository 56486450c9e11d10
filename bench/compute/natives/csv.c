// SPDX-License-Identifier: GPL-2.0
/* Parsing: lines of comma-separated values, some in quotes, by states. */
#include "native.h"

#define ITEMS	1024
#define BYTES	512	/* of a work-item's lines */

static void item(const char *in, uint32_t *out, uint32_t id)
{
	enum { BEGIN, NUMBER, TEXT, QUOTED, QUOTE } state = BEGIN;
	uint32_t fields = 0, lines = 0, sum = 0, number = 0, text = 0;
	const char *at, *end = in + id * BYTES + BYTES;
	char c;

	for (at = in + id * BYTES; at < end; at++) {
		c = *at;
		if (state == QUOTED) {
			if (c == '"')
				state = QUOTE;
			else
				text++;
			continue;
		}
		if (c == ',' || c == '\n') {
			if (state == NUMBER)
				sum += number;
			fields++;
			lines += c == '\n';
			state = BEGIN;
		} else if (c == '"') {
			text += state == QUOTE;
			state = QUOTED;
		} else if (state == BEGIN && c >= '0' && c <= '9') {
			number = (uint32_t)(c - '0');
			state = NUMBER;
		} else if (state == NUMBER && c >= '0' && c <= '9') {
			number = 10 * number + (uint32_t)(c - '0');
		} else {
			text++;
			state = TEXT;
		}
	}
	out[4 * id] = fields;
	out[4 * id + 1] = lines;
	out[4 * id + 2] = sum;
	out[4 * id + 3] = text;
}

HOST void prepare(char *in)
{
	uint32_t at = 0, n, kind;

	while (at < ITEMS * BYTES - 32) {
		kind = pick(3);
		if (kind == 2)
			in[at++] = '"';
		for (n = 1 + pick(9); n; n--) {
			in[at] = (char)(kind ? 'a' + pick(26) : '0' + pick(10));
			if (kind == 2 && !pick(8))
				in[at] = ',';
			at++;
		}
		if (kind == 2)
			in[at++] = '"';
		in[at++] = pick(6) ? ',' : '\n';
	}
}

PROGRAM(csv, "comma-separated values, by states", ITEMS, BYTES * ITEMS, 16 * ITEMS)
