/* SPDX-License-Identifier: GPL-2.0 */
/* What is due to the clients of a simulation, by the same arithmetic as in vgpuctl. */
#ifndef BENCH_DUE_H
#define BENCH_DUE_H

#include "bench_sched.h"
#include "vgpuctl/due.h"

struct due_claim bench_claim(const struct vgpu_share *share);
u32 bench_due_slots(struct due_claim *claims, struct vgpu_share *shares, unsigned int nr);
void bench_due_over(const struct des_config *config, const struct vgpu_sched_policy *policy,
		    struct due_claim *claims);

#endif /* BENCH_DUE_H */
