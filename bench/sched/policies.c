// SPDX-License-Identifier: GPL-2.0
/* The policies that are compared. */
#include "bench_sched.h"
#include "sched/sched.h"

/**
 * bench_policy_at() - a policy that is compared
 * @index: 0 .. BENCH_POLICIES - 1, the driver's policies first
 *
 * Return: the policy.
 */
const struct vgpu_sched_policy *bench_policy_at(unsigned int index)
{
	return vgpu_sched_policy_at(index) ?: &bench_policy_gvt_like;
}
