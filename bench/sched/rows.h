/* SPDX-License-Identifier: GPL-2.0 */
/* The random loads, and the rows for build/bench.json. */
#ifndef BENCH_SCHED_ROWS_H
#define BENCH_SCHED_ROWS_H

#include "report.h"

/**
 * struct bench_loads - what came of random loads under a policy
 * @policy:    name of the policy
 * @broken:    by promise of qos, in how many cases it was broken
 * @checked:   by promise, how many cases were looked at
 * @used:      by promise, the largest part of the bound that was used
 * @length_ns: virtual time of all loads
 * @worked_ns: time in which the first engine worked on jobs
 * @service_ns: service of the first engine
 * @runs:      runs on all engines
 * @jobs:      jobs that were completed
 * @nr_bad:    loads in which a promise was broken
 * @first_bad: seed of the first of these
 */
struct bench_loads {
	const char *policy;
	u64 broken[DES_NR_PROMISES];
	u64 checked[DES_NR_PROMISES];
	double used[DES_NR_PROMISES];
	u64 length_ns;
	u64 worked_ns;
	u64 service_ns;
	u64 runs;
	u64 jobs;
	unsigned int nr_bad;
	u64 first_bad;
};

/* random.c */
void bench_loads_qos(u64 seed, unsigned int nr, struct bench_loads *sum);
void bench_loads_all(u64 seed, unsigned int nr, struct bench_loads *sums);

/* rows.c */
void bench_rows(struct bench_report *report, unsigned int loads, bool rst);

#endif /* BENCH_SCHED_ROWS_H */
