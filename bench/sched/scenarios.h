/* SPDX-License-Identifier: GPL-2.0 */
/* Scenarios: who shares the engines, with what shares, and what they do. */
#ifndef BENCH_SCENARIOS_H
#define BENCH_SCENARIOS_H

#include "bench_sched.h"
#include "des.h"

#define BENCH_KINDS	6
#define BENCH_FRAME_NS	16666667ULL	/* 60 Hz; other periods are not frames */

/**
 * struct bench_kind - clients of one kind
 * @name:      in tables
 * @nr:        how many; 0: no more kinds
 * @guarantee: per mille, of each
 * @cap:       per mille, of each; 0: none
 * @weight:    of each; 0: 1
 * @load:      what each does
 */
struct bench_kind {
	const char *name;
	unsigned int nr;
	u16 guarantee;
	u16 cap;
	u16 weight;
	struct des_load load;
};

/**
 * struct bench_scenario - a load
 * @name:       in tables and for --scenario
 * @what:       it is about
 * @length_ns:  of virtual time
 * @slice_ns:   0: the default
 * @nr_engines: 0: 1
 * @kind:       who is there
 * @act:        optional: adds what happens meanwhile
 */
struct bench_scenario {
	const char *name;
	const char *what;
	u64 length_ns;
	u64 slice_ns;
	unsigned int nr_engines;
	struct bench_kind kind[BENCH_KINDS];
	void (*act)(struct des_config *config);
};

extern const struct bench_scenario bench_scenarios[];
extern const unsigned int bench_nr_scenarios;

const struct bench_scenario *bench_scenario(const char *name);

#endif /* BENCH_SCENARIOS_H */
