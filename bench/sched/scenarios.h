/* SPDX-License-Identifier: GPL-2.0 */
/* Scenarios: the clients that share engines, their shares and their loads. */
#ifndef BENCH_SCENARIOS_H
#define BENCH_SCENARIOS_H

#include "bench_sched.h"
#include "des.h"

#define BENCH_KINDS	6
#define BENCH_FRAME_NS	16666667ULL	/* 60 Hz; jobs of other periods do not count as frames */

/**
 * struct bench_kind - clients of one kind
 * @name:      name of the kind in tables
 * @nr:        number of clients; 0: there are no more kinds
 * @guarantee: guarantee of each client, per mille
 * @cap:       cap of each client, per mille; 0: none
 * @weight:    weight of each client; 0: 1
 * @load:      load of each client
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
 * struct bench_scenario - a scenario
 * @name:       name in tables and for --scenario
 * @what:       what it is about, in words
 * @length_ns:  length in virtual time
 * @slice_ns:   length of a slice; 0: BENCH_SLICE_NS
 * @nr_engines: number of engines; 0: 1
 * @kind:       the clients
 * @act:        adds what happens meanwhile, and may change clients; NULL: nothing happens
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
