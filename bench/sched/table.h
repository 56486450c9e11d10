/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of text, for a terminal or for reStructuredText. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdbool.h>

#define BENCH_COLUMNS	16
#define BENCH_LINES	64
#define BENCH_CELL	56

/**
 * struct bench_table - cells of text; the first line is the head
 * @nr_columns: number of columns of the longest line
 * @nr_lines:   number of lines so far, with the head
 * @cell:       by line and column
 */
struct bench_table {
	unsigned int nr_columns;
	unsigned int nr_lines;
	char cell[BENCH_LINES][BENCH_COLUMNS][BENCH_CELL];
};

struct bench_table *bench_table(const char *const *head, unsigned int nr);
void bench_title(const char *words, bool rst);
void bench_table_line(struct bench_table *table);
void bench_cell(struct bench_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void bench_table_print(struct bench_table *table, bool rst);

#endif /* BENCH_TABLE_H */
