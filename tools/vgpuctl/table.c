// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libsmartcols/libsmartcols.h>

#include "table.h"
#include "utf8.h"

#define WIDTH_DEFAULT	100	/* where there is no terminal */
#define WIDTH_MAX	1000

void table_init(struct table *table, const char *headings)
{
	char *copy = strdup(headings), *rest = copy, *name;
	struct libscols_column *column;
	int flags;

	need_memory(copy);
	table->scols = scols_new_table();
	need_memory(table->scols);
	table->line = NULL;
	table->next = 0;
	while ((name = strsep(&rest, "|"))) {
		flags = *name == '>' ? SCOLS_FL_RIGHT : 0;
		column = scols_table_new_column(table->scols, name + !!flags, 0, flags);
		need_memory(column);
	}
	if (scols_table_set_column_separator(table->scols, "  "))
		out_of_memory();
	free(copy);
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

/* libsmartcols shows what sets the direction of writing, which would be that of the next cells. */
static void undirect(char *cell)
{
	unsigned char *s = (unsigned char *)cell, *end = s + strlen(cell);
	size_t n;

	for (; s < end; s += n ? n : 1) {
		n = utf8_length(s, (size_t)(end - s));
		if (n && utf8_turns(s, n))
			memset(s, '?', n);
	}
}

void table_add(struct table *table, const char *fmt, ...)
{
	char *cell = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&cell, fmt, ap) < 0)
		cell = NULL;
	va_end(ap);
	need_memory(cell);
	undirect(cell);
	if (!table->next)
		table->line = scols_table_new_line(table->scols, NULL);
	need_memory(table->line);
	if (scols_line_refer_data(table->line, table->next, cell))
		out_of_memory();
	table->next = (table->next + 1) % scols_table_get_ncols(table->scols);
}

void table_add_bytes(struct table *table, uint64_t bytes)
{
	char text[32];

	table_add(table, "%s", table_size(text, sizeof(text), bytes));
}

static const char *heading_of(struct libscols_column *column)
{
	return scols_cell_get_data(scols_column_get_header(column));
}

/* How -o calls a column: its heading, with '-' for each blank. */
static char name_char(char c)
{
	return c == ' ' ? '-' : c;
}

static bool is_name(const char *name, const char *heading)
{
	while (*name && tolower((unsigned char)*name) ==
	       tolower((unsigned char)name_char(*heading))) {
		name++;
		heading++;
	}
	return !*name && !*heading;
}

static void print_names(const struct table *table, FILE *out, const char *between)
{
	const char *heading;
	size_t i;

	for (i = 0; i < scols_table_get_ncols(table->scols); i++) {
		if (i)
			fputs(between, out);
		for (heading = heading_of(scols_table_get_column(table->scols, i)); *heading;
		     heading++)
			putc(name_char(*heading), out);
	}
	putc('\n', out);
}

void table_names(const char *headings, FILE *out, const char *between)
{
	struct table table;

	table_init(&table, headings);
	print_names(&table, out, between);
	scols_unref_table(table.scols);
}

static struct libscols_column *find_column(const struct table *table, const char *name)
{
	struct libscols_column *column;
	size_t i;

	for (i = 0; (column = scols_table_get_column(table->scols, i)); i++)
		if (is_name(name, heading_of(column)))
			return column;
	return NULL;
}

/* Hides all columns but those of @form, and brings these in the order in which it names them. */
static enum exit_code table_choose(const struct table *table, const struct table_form *form)
{
	char *copy = strdup(form->columns), *rest = copy, *name;
	struct libscols_column *column, *before = NULL;
	enum exit_code code = EXIT_OK;
	int flags;
	size_t i;

	need_memory(copy);
	for (i = 0; (column = scols_table_get_column(table->scols, i)); i++)
		scols_column_set_flags(column, scols_column_get_flags(column) | SCOLS_FL_HIDDEN);
	while ((name = strsep(&rest, ","))) {
		column = find_column(table, name);
		if (!column) {
			code = fail_usage("-o %s: there is no column \"%s\"; there are:",
					  form->columns, name);
			print_names(table, stderr, ",");
			break;
		}
		flags = scols_column_get_flags(column);
		if (!(flags & SCOLS_FL_HIDDEN)) {
			code = fail_usage("-o %s: column \"%s\" is named twice", form->columns,
					  name);
			break;
		}
		scols_column_set_flags(column, flags & ~SCOLS_FL_HIDDEN);
		scols_table_move_column(table->scols, before, column);
		before = column;
	}
	free(copy);
	return code;
}

enum exit_code table_check(const char *headings, const struct table_form *form)
{
	enum exit_code code = EXIT_OK;
	struct table table;

	if (!form->columns)
		return EXIT_OK;
	table_init(&table, headings);
	code = table_choose(&table, form);
	scols_unref_table(table.scols);
	return code;
}

void table_print(struct table *table, FILE *out, const struct table_form *form)
{
	struct libscols_column *column;
	size_t i;

	if (form && form->columns)
		table_choose(table, form);
	for (i = 0; (column = scols_table_get_column(table->scols, i)); i++)
		if (table_colour(out))
			scols_cell_set_color(scols_column_get_header(column), "bold");
	scols_table_enable_colors(table->scols, table_colour(out));
	scols_table_enable_noheadings(table->scols, form && form->bare);
	scols_table_set_stream(table->scols, out);
	if (scols_print_table(table->scols))
		out_of_memory();
	scols_unref_table(table->scols);
}

bool table_colour(FILE *out)
{
	const char *term = getenv("TERM");

	return isatty(fileno(out)) && !getenv("NO_COLOR") && term &&
		strcmp(term, "dumb");
}

unsigned int table_width(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	long number;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	number = text ? strtol(text, NULL, 10) : 0;
	return number > 0 && number <= WIDTH_MAX ? (unsigned int)number : WIDTH_DEFAULT;
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
