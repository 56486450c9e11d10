// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>

#include "near.h"

#define LETTERS_MAX	32

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many letters must be left out, put in, changed or swapped with the next one to make @b of @a,
 * of @la and @lb letters, at most LETTERS_MAX each.
 */
static size_t distance(const char *a, size_t la, const char *b, size_t lb)
{
	size_t d[LETTERS_MAX + 1][LETTERS_MAX + 1];
	size_t i, k;

	for (i = 0; i <= la; i++)
		d[i][0] = i;
	for (k = 0; k <= lb; k++)
		d[0][k] = k;
	for (i = 1; i <= la; i++) {
		for (k = 1; k <= lb; k++) {
			d[i][k] = least(d[i - 1][k - 1] + (a[i - 1] != b[k - 1]),
					least(d[i - 1][k], d[i][k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	}
	return d[la][lb];
}

void near_try(struct near *near, const char *typed, const char *word, size_t length,
	      const char *name)
{
	size_t typed_length = strlen(typed), far;
	bool begins;

	if (!typed_length || typed_length > LETTERS_MAX || length > LETTERS_MAX)
		return;
	begins = typed_length > 1 && typed_length < length && !memcmp(typed, word, typed_length);
	far = begins ? 1 : distance(typed, typed_length, word, length);
	/* With half of the letters wrong it is another word. */
	if (far * 2 > (typed_length > length ? typed_length : length))
		return;
	if (near->name && near->distance <= far)
		return;
	near->name = name;
	near->distance = far;
}
