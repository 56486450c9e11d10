/* SPDX-License-Identifier: GPL-2.0 */
/* Runs scenarios under policies and counts what came of it. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "due.h"
#include "scenarios.h"

/* What the simulated engines cost; printed with the results. */
#define BENCH_SWITCH_NS		(30 * US)	/* save and restore */
#define BENCH_LATE_NS		(20 * US)	/* until it notices that it is to stop */
#define BENCH_POLL_NS		(50 * US)
#define BENCH_KICK_NS		(20 * US)
#define BENCH_RESET_NS		(200 * US)

/* Pictures begin here, when the start is over. */
#define BENCH_PICTURE_NS	(1 * SEC)

/**
 * struct bench_case - a scenario with its seed: the same arrivals for all policies
 * @scenario: see there
 * @seed:     of all that is random
 * @nr:       clients
 * @nr_engines: engines
 * @nr_slots: of a cycle of fixed_share
 * @group:    of each client, index of scenario->kind
 * @share:    of each client, under each policy but gvt_like
 * @gvt_weight: under that
 * @demand:   of each client on each engine
 * @overrun_ns: largest of a policy that is not cooperative, so far
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

struct bench_case *bench_case_create(const struct bench_scenario *scenario,
				     u64 seed);
void bench_case_destroy(struct bench_case *bcase);
void bench_case_config(const struct bench_case *bcase,
		       const struct vgpu_sched_policy *policy,
		       struct des_config *config);
void bench_cooperative(struct des_config *config);
void bench_case_run(struct bench_case *bcase,
		    const struct vgpu_sched_policy *policy,
		    struct bench_result *result);

/* measure.c */
void bench_measure(const struct bench_case *bcase,
		   const struct vgpu_sched_policy *policy,
		   const struct des *des, struct bench_result *result);

#endif /* BENCH_RUN_H */
