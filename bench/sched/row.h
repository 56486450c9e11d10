/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of build/bench.json, as bench/merge.py reads them. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct bench_row - a row
 * @name:   name of the row
 * @value:  what was measured
 * @peer:   the same of what it is compared with, if @has_peer
 * @has_peer: there is something to compare with
 * @absolute: the goal is for @value, not for its ratio to @peer
 * @unit:   unit of both
 * @reach:  what the ratio is to reach, or without a peer, or if @absolute, the value
 * @higher: the goal is to have at least @reach; else at most
 * @detail: what was done
 */
struct bench_row {
	const char *name;
	double value;
	double peer;
	bool has_peer;
	bool absolute;
	const char *unit;
	double reach;
	bool higher;
	char detail[2048];
};

void bench_row_detail(struct bench_row *row, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void bench_json_text(FILE *out, const char *words);
void bench_row_json(FILE *out, const struct bench_row *row);
void bench_rows_write(const char *name, const struct bench_row *rows, unsigned int nr);

#endif /* BENCH_ROW_H */
