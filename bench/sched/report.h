/* SPDX-License-Identifier: GPL-2.0 */
/* How results are shown: tables, JSON, charts. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <string.h>

#include "bench_sched.h"
#include "row.h"
#include "table.h"

#define BENCH_ROWS	8

struct bench_loads;

/**
 * struct bench_report - all results
 * @date:    day of the run
 * @commit:  commit of the source
 * @seed:    seed of all that is random
 * @picture: name of the scenario of which the charts show which client had the engine
 * @bursty:  name of the scenario of which the charts show where the engine's time went
 * @result:  results of the scenarios; those of one scenario under all policies follow each other
 * @nr:      length of @result
 * @loads:   by policy, what came of the random loads; NULL: none were run
 * @nr_loads: number of random loads for each policy
 * @row:     rows for build/bench.json
 * @nr_rows: length of @row
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
void bench_show_setup(const struct bench_report *report);
void bench_show_scenario(const struct bench_report *report, unsigned int first, bool rst);
void bench_show_summary(const struct bench_report *report, bool rst);
void bench_show_loads(const struct bench_report *report, bool rst);

/* json.c */
void bench_json(FILE *out, const struct bench_report *report);

/* svg.c */
void bench_svg(FILE *out, const struct bench_report *report);

#endif /* BENCH_REPORT_H */
