/* SPDX-License-Identifier: GPL-2.0 */
/* A GPU's scheduler and vGPUs' shares, set for a test and set back after it. */
#ifndef TUNE_H
#define TUNE_H

#include <stdint.h>

#include "fixture.h"

/* Each fails the test if it cannot. */
/* The names of policies that the driver lists; NULL past the last one. Good until the next call. */
const char *tune_policy_at(unsigned int i);
unsigned int tune_nr_policies(void);
void tune_get(struct vgpu_ctl_sched *sched);
void tune_set(struct vgpu_ctl_sched *sched, uint32_t valid);
void tune_policy(const char *policy);
void tune_share(const struct fx_vgpu *v, uint32_t guarantee, uint32_t cap,
		uint32_t weight);
void tune_frl(const struct fx_vgpu *v, uint32_t fps);

/* For KTAP_MAIN(): fx_cleanup(), and the scheduler is as it was. */
void tune_cleanup(void);

#endif /* TUNE_H */
