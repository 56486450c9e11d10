/* SPDX-License-Identifier: GPL-2.0 */
/* Aligned tables for people, by libsmartcols. */
#ifndef VGPUCTL_TABLE_H
#define VGPUCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "message.h"

struct libscols_table;
struct libscols_line;

/**
 * struct table_form - which part of a table is printed
 * @columns: argument of -o, or NULL: all columns
 * @bare:    without headings
 */
struct table_form {
	const char *columns;
	bool bare;
};

/**
 * struct table - rows of cells
 * @scols: libsmartcols' table
 * @line:  its row that is being filled
 * @next:  column of the next cell
 */
struct table {
	struct libscols_table *scols;
	struct libscols_line *line;
	size_t next;
};

/*
 * Begins a table. Headings are separated by '|'; a heading that starts with '>' makes its column
 * flush right. If memory is short, here or below, the program ends.
 */
void table_init(struct table *table, const char *headings);

/* Appends a '|' and a heading to headings for table_init(). */
__attribute__((format(printf, 3, 4)))
void table_heading(char *headings, size_t room, const char *fmt, ...);

/* Adds the next cell of a row, or the first cell of the next row. */
__attribute__((format(printf, 2, 3)))
void table_add(struct table *table, const char *fmt, ...);
void table_add_bytes(struct table *table, uint64_t bytes);

/*
 * Prints the table, as table_check() has found @form to be right, and frees it. If @form is NULL,
 * all of it is printed.
 */
void table_print(struct table *table, FILE *out, const struct table_form *form);

/* Does a table with these headings have the columns of @form? */
enum exit_code table_check(const char *headings, const struct table_form *form);

/* Prints the names of columns, as -o takes them. */
void table_names(const char *headings, FILE *out, const char *between);

/* Does @out, a terminal, show colours, and does the user want them? */
bool table_colour(FILE *out);

/* How many characters a line of standard output has room for. */
unsigned int table_width(void);

/* Write a size and a time with a unit that suits it to @text, and return it. */
const char *table_size(char *text, size_t room, uint64_t bytes);
const char *table_duration(char *text, size_t room, uint64_t ns);

#endif /* VGPUCTL_TABLE_H */
