/* SPDX-License-Identifier: GPL-2.0 */
/* vGPUs that share an engine by a policy, their clients, and what each is due. */
#ifndef SHARE_H
#define SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "fixture.h"
#include "load.h"

#define SHARE_VGPUS		16
#define SHARE_RING_ORDER	13

/**
 * struct share_scenario - vGPUs, what they are to get, and who has work
 * @policy:  of the GPU
 * @types:   suffixes, separated by spaces
 * @share:   guarantee, cap and weight of each (qos)
 * @idle:    bit i: the i-th has no work
 * @slice_ns: 0: what is usual
 */
struct share_scenario {
	const char *policy;
	const char *types;
	unsigned int share[SHARE_VGPUS][3];
	unsigned int idle;
	uint64_t slice_ns;
};

struct share_world {
	struct fx_vgpu vgpu[SHARE_VGPUS];
	struct load load[SHARE_VGPUS];
	struct load beside;
	struct vgpu_ctl_share set[SHARE_VGPUS];
	bool busy[SHARE_VGPUS];
	double due[SHARE_VGPUS];
	unsigned int nr;
	uint64_t slice_ns;
	uint64_t late_ns;
	uint64_t ticks;
};

extern struct share_world share;

void share_ok(struct load *l, int ret);
void share_open(const char *types);
void share_set_shares(void);
void share_want(const unsigned int (*triple)[3]);
void share_prepare(const struct share_scenario *s);
void share_keep_busy(unsigned int ms);
void share_finish(void);
void share_cleanup(void);

/* share_judge.c */
void share_measure(void);

#endif /* SHARE_H */
