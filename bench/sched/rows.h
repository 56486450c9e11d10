/* SPDX-License-Identifier: GPL-2.0 */
/* The rows for build/bench.json. */
#ifndef BENCH_SCHED_ROWS_H
#define BENCH_SCHED_ROWS_H

#include "des_check.h"
#include "report.h"

/**
 * struct bench_loads - random loads under a policy
 * @policy:    its name
 * @broken:    what broke a promise of qos, by des_promise
 * @checked:   of so many
 * @used:      the largest part of the bound that was used
 * @length_ns: of all in virtual time
 * @worked_ns: by the first engine on jobs
 * @service_ns: of the first engine
 * @runs:      of all engines
 * @jobs:      completed
 * @nr_bad:    loads in which a promise was broken
 * @first_bad: seed of the first
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
