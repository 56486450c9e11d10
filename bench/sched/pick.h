/* SPDX-License-Identifier: GPL-2.0 */
/* pick.c: what a decision of a policy costs. */
#ifndef BENCH_PICK_H
#define BENCH_PICK_H

#include "bench_sched.h"

/**
 * struct bench_pick_cost - what a decision costs among few and among many entities
 * @few_ns:  median among few
 * @many_ns: median among many
 * @ratio:   median of the ratios of pairs of batches
 * @ratio_low:  lower quartile of these
 * @ratio_high: upper quartile of these
 */
struct bench_pick_cost {
	double few_ns;
	double many_ns;
	double ratio;
	double ratio_low;
	double ratio_high;
};

double bench_pick_cost(const struct vgpu_sched_policy *policy, unsigned int nr, u64 seed,
		       unsigned int repeats);
void bench_pick_beside(const struct vgpu_sched_policy *const *policies, unsigned int nr_policies,
		       unsigned int nr, u64 seed, unsigned int repeats, double *cost_ns);
void bench_pick_pairs(const struct vgpu_sched_policy *policy, unsigned int few, unsigned int many,
		      u64 seed, unsigned int pairs, struct bench_pick_cost *cost);

/* pick_set.cc: std::set; its elements are ordered by @at, which wraps around */
void *bench_set_create(void);
void bench_set_destroy(void *set);
void bench_set_add(void *set, u64 at, void *entity);
void bench_set_remove(void *set, u64 at, void *entity);
void *bench_set_take_first(void *set);

#endif /* BENCH_PICK_H */
