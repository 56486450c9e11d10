// SPDX-License-Identifier: GPL-2.0
/* Backtracking: a matcher of patterns after "The Practice of Programming", chapter 9. */
#define VGPU_PRIVATE_BYTES	16384
#include "native.h"

#define ITEMS	512
#define LENGTH	32
#define NR	8

static const char patterns[NR][12] = {
	"a*b*c", "^ab.*ba", "a.c.*b$", "c*ca*ab", "abc", "a.*b.*c$", "b.b.b", "^a*b*c*a",
};

static int match_here(const char *pattern, const char *text)
{
	char c = pattern[0];

	if (!c)
		return 1;
	if (c == '$' && !pattern[1])
		return !*text;
	if (pattern[1] == '*') {
		do {
			if (match_here(pattern + 2, text))
				return 1;
		} while (*text && (*text++ == c || c == '.'));
		return 0;
	}
	if (*text && (c == '.' || c == *text))
		return match_here(pattern + 1, text + 1);
	return 0;
}

static int match(const char *pattern, const char *text)
{
	if (*pattern == '^')
		return match_here(pattern + 1, text);
	do {
		if (match_here(pattern, text))
			return 1;
	} while (*text++);
	return 0;
}

static void item(const char *in, uint32_t *out, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < NR; i++)
		out[id] |= (uint32_t)match(patterns[i], in + id * LENGTH) << i;
}

HOST void prepare(char *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * LENGTH; i++)
		in[i] = (char)(i % LENGTH == LENGTH - 1 || !pick(40) ? 0 : 'a' + pick(3));
}

PROGRAM(regex, "regular expressions by backtracking", ITEMS, LENGTH * ITEMS, 4 * ITEMS)
