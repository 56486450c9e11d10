// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table.h"

static void table_put(struct table *table, char *cell)
{
	unsigned int column = table->nr % table->columns;
	size_t length;
	char **cells;

	if (!cell) {
		table->failed = true;
		return;
	}
	if (table->nr == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		cells = reallocarray(table->cells, table->room, sizeof(*cells));
		if (!cells) {
			table->room = table->nr;
			table->failed = true;
			free(cell);
			return;
		}
		table->cells = cells;
	}
	length = strlen(cell);
	if (length > table->width[column])
		table->width[column] = length;
	table->cells[table->nr++] = cell;
}

void table_init(struct table *table, const char *headings)
{
	const char *s;
	size_t length;

	memset(table, 0, sizeof(*table));
	table->columns = 1;
	for (s = headings; *s; s++)
		table->columns += *s == '|';
	for (s = headings; ; s += length + 1) {
		table->right[table->nr] = *s == '>';
		s += *s == '>';
		length = strcspn(s, "|");
		table_put(table, strndup(s, length));
		if (!s[length] || table->failed)
			break;
	}
}

void table_heading(char *headings, size_t room, const char *fmt, ...)
{
	size_t length = strlen(headings);
	va_list ap;

	if (length + 1 >= room)
		return;
	headings[length++] = '|';
	va_start(ap, fmt);
	vsnprintf(headings + length, room - length, fmt, ap);
	va_end(ap);
}

void table_add(struct table *table, const char *fmt, ...)
{
	char *cell = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&cell, fmt, ap) < 0)
		cell = NULL;
	va_end(ap);
	table_put(table, cell);
}

void table_add_bytes(struct table *table, uint64_t bytes)
{
	char text[32];

	table_add(table, "%s", table_size(text, sizeof(text), bytes));
}

int table_print(struct table *table, FILE *out)
{
	bool bold, last;
	unsigned int column;
	size_t i;

	for (i = 0; i < table->nr && !table->failed; i++) {
		column = i % table->columns;
		last = column == table->columns - 1;
		bold = i < table->columns && table_colour(out);
		fprintf(out, "%s%*s%s%s", bold ? "\033[1m" : "",
			(table->right[column] ? 1 : -1) *
			(last && !table->right[column] ? 0 :
			 (int)table->width[column]),
			table->cells[i], bold ? "\033[0m" : "",
			last ? "\n" : "  ");
	}
	for (i = 0; i < table->nr; i++)
		free(table->cells[i]);
	free(table->cells);
	return table->failed ? -ENOMEM : 0;
}

bool table_colour(FILE *out)
{
	const char *term = getenv("TERM");

	return isatty(fileno(out)) && !getenv("NO_COLOR") && term &&
		strcmp(term, "dumb");
}

const char *table_size(char *text, size_t room, uint64_t bytes)
{
	static const char * const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	uint64_t scale = 1;
	unsigned int i;

	for (i = 0; i < 4 && bytes / scale >= 1024; i++)
		scale *= 1024;
	if (bytes % scale)
		snprintf(text, room, "%" PRIu64 ".%" PRIu64 " %s", bytes / scale,
			 bytes % scale * 10 / scale, units[i]);
	else
		snprintf(text, room, "%" PRIu64 " %s", bytes / scale, units[i]);
	return text;
}

const char *table_duration(char *text, size_t room, uint64_t ns)
{
	if (ns < 1000)
		snprintf(text, room, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(text, room, "%" PRIu64 ".%" PRIu64 " us", ns / 1000,
			 ns % 1000 / 100);
	else if (ns < 1000000000)
		snprintf(text, room, "%" PRIu64 ".%" PRIu64 " ms", ns / 1000000,
			 ns % 1000000 / 100000);
	else
		snprintf(text, room, "%" PRIu64 ".%" PRIu64 " s", ns / 1000000000,
			 ns % 1000000000 / 100000000);
	return text;
}
