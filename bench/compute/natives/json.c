// SPDX-License-Identifier: GPL-2.0
/* Parsing: a document of JSON for each work-item, by recursive descent. */
#define VGPU_PRIVATE_BYTES	16384
#include "native.h"

#define ITEMS	512
#define BYTES	1024	/* of a document, at most */

struct parser {
	const char *at;
	uint32_t strings, depth, deepest;
	int64_t sum;
};

static void skip(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\n')
		p->at++;
}

static void string(struct parser *p)
{
	for (p->at++; *p->at != '"'; p->at++)
		if (*p->at == '\\')
			p->at++;
	p->at++;
	p->strings++;
}

static void number(struct parser *p)
{
	int minus = *p->at == '-';
	int64_t value = 0;

	for (p->at += minus; *p->at >= '0' && *p->at <= '9'; p->at++)
		value = 10 * value + (*p->at - '0');
	p->sum += minus ? -value : value;
}

static void value(struct parser *p)
{
	char end = *p->at == '{' ? '}' : ']';

	if (*p->at == '"') {
		string(p);
	} else if (*p->at != '{' && *p->at != '[') {
		number(p);
	} else {
		if (++p->depth > p->deepest)
			p->deepest = p->depth;
		do {
			p->at++;
			skip(p);
			if (*p->at == end)
				break;
			if (end == '}') {
				string(p);
				skip(p);
				p->at++;
				skip(p);
			}
			value(p);
			skip(p);
		} while (*p->at == ',');
		p->at++;
		p->depth--;
	}
}

static void item(const char *in, uint64_t *out, uint32_t id)
{
	struct parser p = { .at = in + id * BYTES };

	value(&p);
	out[2 * id] = (uint64_t)p.sum;
	out[2 * id + 1] = (uint64_t)p.strings << 32 | p.deepest;
}

HOST char *put_text(char *to)
{
	uint32_t i, nr = 1 + pick(12);

	*to++ = '"';
	for (i = 0; i < nr; i++) {
		if (!pick(12))
			*to++ = '\\';
		*to++ = (char)('a' + pick(26));
	}
	*to++ = '"';
	return to;
}

HOST char *put_value(char *to, const char *end, uint32_t depth)
{
	uint32_t i, nr = pick(5) + 1, number = pick(1u << (1 + pick(20)));
	int object = pick(2);

	if (pick(4) && (!depth || end - to < 200 || !pick(3)))
		return put_text(to);
	if (!depth || end - to < 200) {
		for (*to++ = '-'; number; number /= 10)
			*to++ = (char)('0' + number % 10);
		return to;
	}
	*to++ = object ? '{' : '[';
	for (i = 0; i < nr && end - to > 200; i++) {
		if (i)
			*to++ = ',';
		*to++ = pick(2) ? ' ' : '\n';
		if (object) {
			to = put_text(to);
			*to++ = ':';
		}
		to = put_value(to, end, depth - 1);
	}
	*to++ = object ? '}' : ']';
	return to;
}

HOST void prepare(char *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS; i++)
		put_value(in + i * BYTES, in + i * BYTES + BYTES - 64, 5);
}

PROGRAM(json, "JSON by recursive descent", ITEMS, BYTES * ITEMS, 16 * ITEMS)
