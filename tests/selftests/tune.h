/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduler's settings of the GPU and of vGPUs, changed for a test and set back after it.
 * tune_try*() return 0 or a negative errno; all others fail the test if the driver refuses.
 * Each checks that the driver says why it refuses, and says nothing else.
 */
#ifndef TUNE_H
#define TUNE_H

#include <stdint.h>

#include "fixture.h"

#define TUNE_ALL	(VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |		\
			 VGPU_SCHED_WINDOW | VGPU_SCHED_PREEMPT_TIMEOUT | \
			 VGPU_SCHED_LINGER | VGPU_SCHED_QUARANTINE_FAULTS | \
			 VGPU_SCHED_QUARANTINE_BACKOFF)

#define TUNE_TRIPLE	(VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP | VGPU_SHARE_WEIGHT)

/* Why tune_try_shares() was refused the last time; empty if it was not. */
extern char tune_refusal[VGPU_TEXT_LEN];

/*
 * Keeps the GPU's settings as they are now for tune_cleanup(), unless that has been done since
 * the last one. The first call that sets something does so, too; who changes settings in
 * another process calls it before.
 */
void tune_begin(void);

/* The i-th policy that the driver lists, NULL past the last one; valid until the next call. */
const char *tune_policy_at(unsigned int i);
unsigned int tune_nr_policies(void);

/* The GPU's settings; @valid names what of @sched is set, VGPU_SCHED_*. */
void tune_get(struct vgpu_ctl_sched *sched);
int tune_try(struct vgpu_ctl_sched *sched, uint32_t valid);
void tune_set(struct vgpu_ctl_sched *sched, uint32_t valid);
void tune_policy(const char *policy);

/* An entry for tune_set_shares(): of the values those that @valid names, VGPU_SHARE_*. */
struct vgpu_ctl_share tune_entry(const struct fx_vgpu *v, uint32_t valid, uint32_t guarantee,
				 uint32_t cap, uint32_t weight);
int tune_try_shares(const struct vgpu_ctl_share *entries, uint32_t count);
void tune_set_shares(const struct vgpu_ctl_share *entries, uint32_t count);

/* Whether the text of a call that returned @ret is there if it was refused, and only then. */
void tune_check_text(int ret, const void *text);

/* Guarantee and cap in per mille of an engine; fps 0: no limit. */
void tune_share(const struct fx_vgpu *v, uint32_t guarantee, uint32_t cap, uint32_t weight);
void tune_frl(const struct fx_vgpu *v, uint32_t fps);

/* For KTAP_MAIN(): fx_cleanup(), and the GPU's settings are as they were. */
void tune_cleanup(void);

#endif /* TUNE_H */
