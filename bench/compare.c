// SPDX-License-Identifier: GPL-2.0
/*
 * How a row is measured. Blocks of the two sides alternate A B B A, so that a drift of the machine
 * hits both. The first pair warms up and is dropped; medians are of the others.
 */
#include <stdio.h>

#include "bench.h"
#include "clk.h"
#include "stats.h"

unsigned int bench_pairs;

double bench_now_ns(void)
{
	return (double)clk_ns();
}

static double measure(const struct bench_row *row, const struct bench_side *side)
{
	double value = side->block(side->arg);

	if (value <= 0)
		bench_die("%s: nothing was measured", row->name);
	return value;
}

void bench_compare(const struct bench_row *row)
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
	ratio = stats_quantile(ratios, bench_pairs, 0.5);
	low = stats_quantile(ratios, bench_pairs, 0.25);
	high = stats_quantile(ratios, bench_pairs, 0.75);
	value = stats_quantile(ours, bench_pairs, 0.5);
	other = stats_quantile(peer, bench_pairs, 0.5);
	if (row->tell)
		row->tell(row->ours.arg, more, sizeof(more));
	printf("{\"name\": \"%s\", \"value\": %.1f, \"peer\": %.1f, \"ratio\": %.3f, ",
	       row->name, value, other, value / other);
	printf("\"unit\": \"%s\", \"higher\": %s, ", row->unit, row->higher ? "true" : "false");
	if (row->reach > 0)
		printf("\"reach\": %g, ", row->reach);
	else
		printf("\"reach\": null, ");
	printf("\"detail\": \"%u pairs; of their ratios: median %.3f, quartiles %.3f to %.3f; ",
	       bench_pairs, ratio, low, high);
	printf("%s%s\"}\n", row->detail, more);
	fflush(stdout);
}
