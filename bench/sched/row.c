// SPDX-License-Identifier: GPL-2.0
/* See row.h. */
#include <stdarg.h>
#include <string.h>

#include "bench_sched.h"
#include "row.h"

/* Adds to the row's detail; what does not fit is left out. */
void bench_row_detail(struct bench_row *row, const char *fmt, ...)
{
	size_t at = strlen(row->detail);
	va_list args;

	va_start(args, fmt);
	vsnprintf(row->detail + at, sizeof(row->detail) - at, fmt, args);
	va_end(args);
}

/* Writes text between quotes; @words has no control characters. */
void bench_json_text(FILE *out, const char *words)
{
	putc('"', out);
	for (; *words; words++) {
		if (*words == '"' || *words == '\\')
			putc('\\', out);
		putc(*words, out);
	}
	putc('"', out);
}

/* Writes a row as an object. */
void bench_row_json(FILE *out, const struct bench_row *row)
{
	fprintf(out, "{\"name\": \"%s\", \"value\": %.6g, ", row->name, row->value);
	if (row->has_peer)
		fprintf(out, "\"peer\": %.6g, ", row->peer);
	else
		fputs("\"peer\": null, ", out);
	if (row->has_peer && !row->absolute)
		fprintf(out, "\"ratio\": %.4f, ", row->value / row->peer);
	else
		fputs("\"ratio\": null, ", out);
	fprintf(out, "\"unit\": \"%s\", \"reach\": %g, \"higher\": %s, \"detail\": ", row->unit,
		row->reach, row->higher ? "true" : "false");
	bench_json_text(out, row->detail);
	putc('}', out);
}

/**
 * bench_rows_write() - write rows into a file, one in each line
 * @name: name of the file
 * @rows: the rows
 * @nr:   length of @rows
 */
void bench_rows_write(const char *name, const struct bench_row *rows, unsigned int nr)
{
	FILE *out = bench_open(name);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		bench_row_json(out, &rows[i]);
		putc('\n', out);
	}
	bench_close(name, out);
}
