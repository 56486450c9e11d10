/* SPDX-License-Identifier: GPL-2.0 */
/* Aligned tables for people. */
#ifndef VGPUCTL_TABLE_H
#define VGPUCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS	20

/**
 * struct table - rows of cells, kept until the widest cell of each column is known
 * @columns: number of columns
 * @right:   of each column whether its cells are flush right
 * @width:   of each column the length of its widest cell
 * @cells:   the cells row by row, the headings first; allocated
 * @nr:      number of cells so far
 * @room:    number of elements of @cells
 * @failed:  memory was short, so the table is incomplete
 */
struct table {
	unsigned int columns;
	bool right[TABLE_COLUMNS];
	size_t width[TABLE_COLUMNS];
	char **cells;
	size_t nr;
	size_t room;
	bool failed;
};

/*
 * Begins a table. Headings are separated by '|'; a heading that starts with '>' makes its column
 * flush right.
 */
void table_init(struct table *table, const char *headings);

/* Appends a '|' and a heading to headings for table_init(). */
__attribute__((format(printf, 3, 4)))
void table_heading(char *headings, size_t room, const char *fmt, ...);

/* Adds the next cell of a row, or the first cell of the next row. */
__attribute__((format(printf, 2, 3)))
void table_add(struct table *table, const char *fmt, ...);
void table_add_bytes(struct table *table, uint64_t bytes);

/* Prints the table and frees its cells. Returns 0, or -ENOMEM if nothing could be printed. */
int table_print(struct table *table, FILE *out);

/* Does @out, a terminal, show colours, and does the user want them? */
bool table_colour(FILE *out);

/* Write a size and a time with a unit that suits it to @text, and return it. */
const char *table_size(char *text, size_t room, uint64_t bytes);
const char *table_duration(char *text, size_t room, uint64_t ns);

#endif /* VGPUCTL_TABLE_H */
