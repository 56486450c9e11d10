/* SPDX-License-Identifier: GPL-2.0 */
/* A GPU's scheduler and vGPUs' shares, set for a test and set back after it. */
#ifndef TUNE_H
#define TUNE_H

#include <stdint.h>

#include "fixture.h"

#define TUNE_POLICIES	4

extern const char * const tune_policies[TUNE_POLICIES];

/* Each fails the test if it cannot. */
void tune_get(struct vgpu_ctl_sched *sched);
void tune_set(struct vgpu_ctl_sched *sched, uint32_t valid);
void tune_policy(const char *policy);
void tune_share(const struct fx_vgpu *v, uint32_t guarantee, uint32_t cap,
		uint32_t weight);
void tune_frl(const struct fx_vgpu *v, uint32_t fps);

/* For KTAP_MAIN(): fx_cleanup(), and the scheduler is as it was. */
void tune_cleanup(void);

#endif /* TUNE_H */
