// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

static int range_order(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start_gb < y->start_gb ? -1 : x->start_gb > y->start_gb;
}

size_t ranges_fill(struct range *ranges, size_t nr, uint32_t region_gb)
{
	size_t i, all = nr;
	uint32_t at = 0;

	qsort(ranges, nr, sizeof(*ranges), range_order);
	for (i = 0; i <= nr; i++) {
		uint32_t next = i < nr ? ranges[i].start_gb : region_gb;

		if (next > at)
			ranges[all++] = (struct range){ at, next - at, RANGE_FREE };
		if (i < nr)
			at = ranges[i].start_gb + ranges[i].size_gb;
	}
	qsort(ranges, all, sizeof(*ranges), range_order);
	return all;
}

size_t ranges_cut(struct range *ranges, size_t nr, uint32_t at_gb)
{
	struct range *range;
	uint32_t before;

	for (range = ranges; range < ranges + nr; range++) {
		if (range->owner != RANGE_FREE || at_gb <= range->start_gb ||
		    at_gb - range->start_gb >= range->size_gb)
			continue;
		before = at_gb - range->start_gb;
		memmove(range + 1, range, (size_t)(ranges + nr - range) * sizeof(*range));
		range[0].size_gb = before;
		range[1].start_gb = at_gb;
		range[1].size_gb -= before;
		return nr + 1;
	}
	return nr;
}

char ranges_mark(int owner)
{
	static const char marks[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	if (owner == RANGE_FREE)
		return '.';
	return owner < (int)sizeof(marks) - 1 ? marks[owner] : '#';
}

void ranges_draw(const struct range *ranges, size_t nr, uint32_t region_gb, char *line,
		 size_t width)
{
	uint64_t at;
	size_t i, k;

	memset(line, ranges_mark(RANGE_FREE), width);
	line[width] = 0;
	for (i = 0; i < width; i++) {
		at = (2 * i + 1) * region_gb / (2 * width);
		for (k = 0; k < nr; k++)
			if (at >= ranges[k].start_gb && at - ranges[k].start_gb < ranges[k].size_gb)
				line[i] = ranges_mark(ranges[k].owner);
	}
}

void ranges_bracket(uint32_t start_gb, uint32_t size_gb, uint32_t region_gb, const char *name,
		    char *line, size_t width)
{
	size_t from = (size_t)((uint64_t)start_gb * width / region_gb);
	size_t to = (size_t)(((uint64_t)start_gb + size_gb) * width / region_gb);

	if (to > width || to < from + 2)
		return;
	memset(line + from, '-', to - from);
	line[from] = '[';
	line[to - 1] = ']';
	for (from++; *name && from < to - 1; from++)
		line[from] = *name++;
}
