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
 * struct table - rows of cells, printed when all are known
 * @columns: number of columns
 * @right:   per column: flush right
 * @width:   per column: of the widest cell
 * @cells:   row by row, the heading first
 * @nr:      cells so far
 * @room:    cells that fit
 * @failed:  out of memory
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
 * Headings are separated by '|'; one that starts with '>' is flush right.
 * Cells are added from left to right, row by row.
 */
void table_init(struct table *table, const char *headings);
__attribute__((format(printf, 2, 3)))
void table_add(struct table *table, const char *fmt, ...);
void table_add_bytes(struct table *table, uint64_t bytes);
int table_print(struct table *table, FILE *out);

bool table_colour(FILE *out);
const char *table_size(char *text, size_t room, uint64_t bytes);
const char *table_duration(char *text, size_t room, uint64_t ns);

#endif /* VGPUCTL_TABLE_H */
