/* SPDX-License-Identifier: GPL-2.0 */
/* Shares due: by guarantee, cap, weight and demand, and by a policy's rule. */
#ifndef BENCH_DUE_H
#define BENCH_DUE_H

#include "bench_sched.h"
#include "des.h"

/**
 * struct bench_claim - a client's claim to an engine, in fractions of it
 * @guarantee: its
 * @cap:       its
 * @weight:    its
 * @demand:    what it gets of an engine of its own
 * @share:     as it is set
 * @nr_slots:  of a cycle of fixed_share
 * @there:     its device is open
 * @due:       the answer
 */
struct bench_claim {
	double guarantee;
	double cap;
	double weight;
	double demand;
	struct vgpu_share share;
	u32 nr_slots;
	bool there;
	double due;
};

struct bench_claim bench_claim(const struct vgpu_share *share);
u32 bench_due_slots(struct bench_claim *claims, unsigned int nr);
void bench_due(struct bench_claim *claims, unsigned int nr);
void bench_due_over(const struct des_config *config,
		    const struct vgpu_sched_policy *policy,
		    struct bench_claim *claims);

#endif /* BENCH_DUE_H */
