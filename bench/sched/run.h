/* SPDX-License-Identifier: GPL-2.0 */
/* Runs scenarios under policies. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "due.h"
#include "scenarios.h"

/* Times of the simulated engines, which are printed with the results. */
#define BENCH_SWITCH_NS		(30 * US)	/* save and restore */
#define BENCH_LATE_NS		(20 * US)	/* until an engine notices that it is to stop */
#define BENCH_POLL_NS		(50 * US)
#define BENCH_KICK_NS		(20 * US)
#define BENCH_RESET_NS		(200 * US)

/* Charts of runs begin at this time, when the start is over. */
#define BENCH_PICTURE_NS	(1 * SEC)

/**
 * struct bench_case - a scenario with its seed: the same arrivals under all policies
 * @scenario: the scenario
 * @seed:     seed of all that is random
 * @nr:       number of clients
 * @nr_engines: number of engines
 * @nr_slots: number of slots of a cycle of fixed_share
 * @group:    by client, index of its kind in scenario->kind
 * @share:    by client, its share under all policies but gvt_like
 * @gvt_weight: by client, its weight under gvt_like
 * @demand:   by engine and client, the part of an engine that a client would get of it alone
 * @overrun_ns: by engine, the largest overrun so far under a policy that preempts
 */
struct bench_case {
	const struct bench_scenario *scenario;
	u64 seed;
	unsigned int nr;
	unsigned int nr_engines;
	u32 nr_slots;
	unsigned int *group;
	struct vgpu_share *share;
	u16 *gvt_weight;
	double *demand[DES_MAX_ENGINES];
	u64 overrun_ns[DES_MAX_ENGINES];
};

struct bench_case *bench_case_create(const struct bench_scenario *scenario, u64 seed);
void bench_case_destroy(struct bench_case *bcase);
void bench_case_config(const struct bench_case *bcase, const struct vgpu_sched_policy *policy,
		       struct des_config *config);
void bench_cooperative(struct des_config *config);
void bench_case_run(struct bench_case *bcase, const struct vgpu_sched_policy *policy,
		    struct bench_result *result);

/* measure.c */
void bench_measure(const struct bench_case *bcase, const struct vgpu_sched_policy *policy,
		   const struct des *des, struct bench_result *result);

#endif /* BENCH_RUN_H */
