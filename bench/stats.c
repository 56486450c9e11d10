// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "stats.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * stats_quantile() - a quantile of some values
 * @values: the values, which are sorted by this
 * @nr:     length of @values
 * @q:      which quantile, 0 .. 1; 0.5: the median
 *
 * Return: the quantile, between two values by linear interpolation; 0 if there are no values.
 */
double stats_quantile(double *values, unsigned int nr, double q)
{
	unsigned int low;
	double at;

	if (!nr)
		return 0;
	at = q * (nr - 1);
	low = (unsigned int)at;
	qsort(values, nr, sizeof(*values), compare_doubles);
	if (low + 1 >= nr)
		return values[nr - 1];
	return values[low] + (at - low) * (values[low + 1] - values[low]);
}
