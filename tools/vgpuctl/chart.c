// SPDX-License-Identifier: GPL-2.0
/* Drawing a scheduler's log: a row per vGPU, in which time goes from left to right. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "share.h"
#include "table.h"

#define CHART_MIN	20	/* columns that a row's drawing has at least */

/**
 * struct chart - a drawing in the making
 * @start_ns: time at its left edge
 * @cell_ns:  time that a column stands for
 * @columns:  number of columns
 * @service:  service in each column, in ns, of the vGPU whose row is being drawn
 */
struct chart {
	uint64_t start_ns;
	double cell_ns;
	unsigned int columns;
	double *service;
};

/* The number of columns that UUID and share leave of the line. */
static unsigned int chart_columns(void)
{
	const unsigned int beside = UUID_STR_LEN - 1 + 2 + 7 + 3;
	unsigned int width = table_width();

	return width < beside + CHART_MIN ? CHART_MIN : width - beside;
}

/* Spreads the service of a run over the columns that the run touches. */
static void chart_add(struct chart *chart, const struct vgpu_ctl_switch *run)
{
	double from = (double)(run->time_ns - chart->start_ns);
	double to = (double)(log_end_ns(run) - chart->start_ns);
	double part = to > from ? (double)run->ran_ns / (to - from) : 0;
	double left, right;
	unsigned int i;

	i = (unsigned int)(from / chart->cell_ns);
	for (; i < chart->columns && i * chart->cell_ns < to; i++) {
		left = i * chart->cell_ns;
		right = left + chart->cell_ns;
		if (left < from)
			left = from;
		if (right > to)
			right = to;
		if (right > left)
			chart->service[i] += (right - left) * part;
	}
}

static char chart_symbol(double part)
{
	if (part <= 0)
		return ' ';
	if (part < 0.25)
		return '.';
	if (part < 0.5)
		return ':';
	return part < 0.75 ? '=' : '#';
}

static void chart_row(struct chart *chart, const struct log_stream *stream,
		      const struct log_entry *entries, size_t nr,
		      const uint8_t *id, unsigned int row)
{
	bool colour = table_colour(stdout);
	char uuid[UUID_STR_LEN];
	uint64_t sum = 0, centi;
	unsigned int i;
	size_t k;

	memset(chart->service, 0, chart->columns * sizeof(*chart->service));
	for (k = 0; k < nr; k++) {
		if (entries[k].stream != stream ||
		    memcmp(entries[k].run.uuid, id, VGPU_UUID_LEN))
			continue;
		chart_add(chart, &entries[k].run);
		sum += entries[k].run.ran_ns;
	}
	centi = share_centi(sum, (uint64_t)(chart->cell_ns * chart->columns));
	printf("%s  %3" PRIu64 ".%02" PRIu64 "  %s|", uuid_format(id, uuid),
	       centi / 100, centi % 100, colour ? "\033[3" : "");
	if (colour)
		printf("%um", 1 + row % 6);
	for (i = 0; i < chart->columns; i++)
		putchar(chart_symbol(chart->service[i] / chart->cell_ns));
	printf("%s|\n", colour ? "\033[0m" : "");
}

/*
 * Whether the row of the vGPU of entry @before has been drawn, as an earlier entry is of this vGPU.
 */
static bool chart_drawn(const struct log_stream *stream,
			const struct log_entry *entries, size_t before)
{
	size_t i;

	for (i = 0; i < before; i++)
		if (entries[i].stream == stream &&
		    !memcmp(entries[i].run.uuid, entries[before].run.uuid,
			    VGPU_UUID_LEN))
			return true;
	return false;
}

/* Draws those of @entries that are from @stream. Returns 0 or -ENOMEM. */
int chart_print(const struct log_stream *stream,
		const struct log_entry *entries, size_t nr)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	struct chart chart;
	char text[2][32], gpu[LOG_GPU_LEN];
	unsigned int rows = 0;
	size_t i, runs = 0;

	for (i = 0; i < nr; i++) {
		if (entries[i].stream != stream)
			continue;
		runs++;
		if (entries[i].run.time_ns < start_ns)
			start_ns = entries[i].run.time_ns;
		if (log_end_ns(&entries[i].run) > end_ns)
			end_ns = log_end_ns(&entries[i].run);
	}
	printf("GPU %s, %s: ", log_gpu(stream, gpu), stream->name);
	if (!runs || end_ns <= start_ns) {
		puts("nothing has run");
		return 0;
	}
	chart.start_ns = start_ns;
	chart.columns = chart_columns();
	chart.cell_ns = (double)(end_ns - start_ns) / chart.columns;
	chart.service = calloc(chart.columns, sizeof(*chart.service));
	if (!chart.service)
		return -ENOMEM;
	printf("%zu runs in %s, a column is %s; share in %%\n", runs,
	       table_duration(text[0], sizeof(text[0]), end_ns - start_ns),
	       table_duration(text[1], sizeof(text[1]),
			      (uint64_t)chart.cell_ns));
	for (i = 0; i < nr; i++)
		if (entries[i].stream == stream &&
		    !chart_drawn(stream, entries, i))
			chart_row(&chart, stream, entries, nr,
				  entries[i].run.uuid, rows++);
	free(chart.service);
	return 0;
}
