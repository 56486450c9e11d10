/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that take one policy after the other, however many there are. */
#ifndef SIM_POLICY_AT_H
#define SIM_POLICY_AT_H

#include "sched/sched.h"

/* The @n-th policy; after the last one the first comes again. */
static inline const struct vgpu_sched_policy *sim_policy(unsigned int n)
{
	unsigned int nr = 0;

	while (vgpu_sched_policy_at(nr))
		nr++;
	return vgpu_sched_policy_at(n % nr);
}

#endif /* SIM_POLICY_AT_H */
