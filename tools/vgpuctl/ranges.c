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
