/* SPDX-License-Identifier: GPL-2.0 */
/* How results are shown: tables, JSON, charts. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <string.h>

#include "bench_sched.h"

#define BENCH_ROWS	8

/**
 * struct bench_row - of build/bench.json, see bench/merge.py
 * @name:   its
 * @value:  measured
 * @peer:   the same of what it is compared with, if @has_peer
 * @absolute: the goal is for @value, not for its ratio to @peer
 * @unit:   of both
 * @reach:  what the ratio, or without a peer the value, is to reach
 * @higher: at least that; else at most
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
	char detail[1024];
};

struct bench_loads;

/**
 * struct bench_report - all that is known
 * @date:    of the run
 * @commit:  of the source
 * @seed:    of all that is random
 * @picture: scenario of which a picture is drawn: who had the engine
 * @bursty:  and where its time went
 * @result:  all policies of a scenario follow each other
 * @nr:      results
 * @loads:   random loads, by policy; NULL: none
 * @nr_loads: how many for each
 * @row:     for build/bench.json
 * @nr_rows: how many
 */
struct bench_report {
	char date[32];
	const char *commit;
	u64 seed;
	const char *picture;
	const char *bursty;
	struct bench_result *result;
	unsigned int nr;
	struct bench_loads *loads;
	unsigned int nr_loads;
	struct bench_row row[BENCH_ROWS];
	unsigned int nr_rows;
};

/* report.c */
void bench_title(const char *words, bool rst);
void bench_show_setup(const struct bench_report *report);
void bench_show_scenario(const struct bench_report *report, unsigned int first,
			 bool rst);
void bench_show_summary(const struct bench_report *report, bool rst);
void bench_show_loads(const struct bench_report *report, bool rst);

/* json.c */
void bench_json(FILE *out, const struct bench_report *report);
void bench_json_rows(FILE *out, const struct bench_report *report);

/* svg.c */
void bench_svg(FILE *out, const struct bench_report *report);

#define BENCH_COLUMNS	16
#define BENCH_LINES	64
#define BENCH_CELL	56

/**
 * struct bench_table - cells of text; the first line is the head
 * @nr_columns: how many
 * @nr_lines:   so far, with the head
 * @cell:       by line and column
 */
struct bench_table {
	unsigned int nr_columns;
	unsigned int nr_lines;
	char cell[BENCH_LINES][BENCH_COLUMNS][BENCH_CELL];
};

/* table.c */
struct bench_table *bench_table(const char *const *head, unsigned int nr);
void bench_table_line(struct bench_table *table);
void bench_cell(struct bench_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void bench_table_print(struct bench_table *table, bool rst);

#endif /* BENCH_REPORT_H */
