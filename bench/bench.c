// SPDX-License-Identifier: GPL-2.0
/*
 * bench PAIRS ROW ARGUMENT...: one row, as a line of JSON.
 *
 * Blocks of the two sides alternate A B B A, so that what drifts hits both.
 * The first pair warms up and is dropped; medians are of the others.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

unsigned int bench_pairs;

void die(const char *fmt, ...)
{
	va_list args;

	fputs("bench: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @q: 0 .. 1. Sorts. */
static double quantile(double *values, unsigned int nr, double q)
{
	double at = q * (nr - 1);
	unsigned int low = (unsigned int)at;

	qsort(values, nr, sizeof(*values), compare_doubles);
	if (low + 1 >= nr)
		return values[nr - 1];
	return values[low] + (at - low) * (values[low + 1] - values[low]);
}

static double measure(const struct row *row, const struct side *side)
{
	double value = side->block(side->arg);

	if (value <= 0)
		die("%s: nothing was measured", row->name);
	return value;
}

void bench_compare(const struct row *row)
{
	char more[256] = "";
	static double ours[MAX_PAIRS], peer[MAX_PAIRS], ratios[MAX_PAIRS];
	double value, other, ratio, low, high;
	unsigned int i;

	measure(row, &row->ours);
	measure(row, &row->peer);
	for (i = 0; i < bench_pairs; i++) {
		if (i % 2) {
			peer[i] = measure(row, &row->peer);
			ours[i] = measure(row, &row->ours);
		} else {
			ours[i] = measure(row, &row->ours);
			peer[i] = measure(row, &row->peer);
		}
		ratios[i] = ours[i] / peer[i];
	}
	ratio = quantile(ratios, bench_pairs, 0.5);
	low = quantile(ratios, bench_pairs, 0.25);
	high = quantile(ratios, bench_pairs, 0.75);
	value = quantile(ours, bench_pairs, 0.5);
	other = quantile(peer, bench_pairs, 0.5);
	if (row->tell)
		row->tell(row->ours.arg, more, sizeof(more));
	printf("{\"name\": \"%s\", \"value\": %.1f, \"peer\": %.1f, \"ratio\": %.3f, ",
	       row->name, value, other, value / other);
	printf("\"unit\": \"%s\", \"reach\": %g, \"higher\": %s, ", row->unit,
	       row->reach, row->higher ? "true" : "false");
	printf("\"detail\": \"%u pairs; of their ratios: median %.3f, quartiles %.3f to %.3f; ",
	       bench_pairs, ratio, low, high);
	printf("%s%s\"}\n", row->detail, more);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *row, *first, *second;

	if (argc < 4) {
		fprintf(stderr, "usage: bench PAIRS ROW ARGUMENT...\n");
		return 2;
	}
	bench_pairs = (unsigned int)strtoul(argv[1], NULL, 10);
	if (bench_pairs < 1 || bench_pairs > MAX_PAIRS)
		die("1 to %u pairs", MAX_PAIRS);
	row = argv[2];
	first = argv[3];
	second = argc > 4 ? argv[4] : "";
	if (!strcmp(row, "region_read"))
		row_region_read(first, second);
	else if (!strcmp(row, "create_remove"))
		row_create_remove(first, second);
	else if (!strcmp(row, "fb_first_touch"))
		row_fb_first_touch(first, second);
	else if (!strcmp(row, "empty_packet"))
		row_empty_packet(first);
	else if (!strcmp(row, "copy_bandwidth"))
		row_copy_bandwidth(first);
	else
		die("no row %s", row);
	return 0;
}
