// SPDX-License-Identifier: GPL-2.0
/* See table.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_sched.h"
#include "table.h"

/* Prints a heading. */
void bench_title(const char *words, bool rst)
{
	size_t i;

	puts(words);
	for (i = 0; rst && i < strlen(words); i++)
		putchar('~');
	if (rst)
		puts("\n");
}

/**
 * bench_table() - begin a table
 * @head: cells of the first line
 * @nr:   length of @head
 *
 * Return: the table, which bench_table_print() frees.
 */
struct bench_table *bench_table(const char *const *head, unsigned int nr)
{
	struct bench_table *table = bench_alloc(sizeof(*table));
	unsigned int i;

	if (nr > BENCH_COLUMNS)
		bench_die("%u columns", nr);
	bench_table_line(table);
	for (i = 0; i < nr; i++)
		bench_cell(table, "%s", head[i]);
	return table;
}

/* Begins a line of the table. */
void bench_table_line(struct bench_table *table)
{
	if (table->nr_lines == BENCH_LINES)
		bench_die("%u lines", table->nr_lines);
	table->nr_lines++;
}

/* Writes the next cell of the present line. */
void bench_cell(struct bench_table *table, const char *fmt, ...)
{
	char (*line)[BENCH_CELL] = table->cell[table->nr_lines - 1];
	unsigned int column = 0;
	va_list args;

	while (column < BENCH_COLUMNS && line[column][0])
		column++;
	if (column == BENCH_COLUMNS)
		bench_die("a line of more than %d cells", BENCH_COLUMNS);
	va_start(args, fmt);
	vsnprintf(line[column], BENCH_CELL, fmt, args);
	va_end(args);
	table->nr_columns = max(table->nr_columns, column + 1);
}

static void print_rule(const unsigned int *widths, unsigned int nr)
{
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < widths[i]; j++)
			putchar('=');
		putchar(i + 1 < nr ? ' ' : '\n');
	}
}

/* Prints a table, the first column flush left and the others flush right, and frees it. */
void bench_table_print(struct bench_table *table, bool rst)
{
	unsigned int widths[BENCH_COLUMNS] = {}, width, i, j;

	for (i = 0; i < table->nr_lines; i++) {
		for (j = 0; j < table->nr_columns; j++) {
			width = strlen(table->cell[i][j]);
			widths[j] = max(widths[j], width);
		}
	}
	if (rst)
		print_rule(widths, table->nr_columns);
	for (i = 0; i < table->nr_lines; i++) {
		for (j = 0; j < table->nr_columns; j++)
			printf(j ? " %*s" : "%-*s", (int)widths[j], table->cell[i][j]);
		putchar('\n');
		if (rst && !i)
			print_rule(widths, table->nr_columns);
	}
	if (rst)
		print_rule(widths, table->nr_columns);
	putchar('\n');
	free(table);
}
