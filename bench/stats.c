// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "stats.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @q: 0 .. 1. Sorts. */
double stats_quantile(double *values, unsigned int nr, double q)
{
	double at = q * (nr - 1);
	unsigned int low = (unsigned int)at;

	qsort(values, nr, sizeof(*values), compare_doubles);
	if (low + 1 >= nr)
		return values[nr - 1];
	return values[low] + (at - low) * (values[low + 1] - values[low]);
}
