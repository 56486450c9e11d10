/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vGPUs that share an engine under some policy, their clients, and what each is due. Each
 * call fails the test if it cannot do what it is for.
 */
#ifndef SHARE_H
#define SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "load.h"
#include "tune.h"

#define SHARE_VGPUS		16
#define SHARE_RING_ORDER	13

/**
 * struct share_scenario - vGPUs, what they are to get, and which of them have work
 * @policy:   the GPU's, by name
 * @due:      what is due to a vGPU under that policy
 * @types:    suffixes of the vGPUs' types, separated by spaces
 * @share:    under qos: guarantee and cap in per mille, and weight, of each vGPU
 * @idle:     bit i: the i-th vGPU has no work
 * @slice_ns: of the GPU; 0: 2 ms, or 1 ms for more than 8 vGPUs
 */
struct share_scenario {
	const char *policy;
	enum vgpu_ctl_due due;
	const char *types;
	unsigned int share[SHARE_VGPUS][3];
	unsigned int idle;
	uint64_t slice_ns;
};

/**
 * struct share_world - the scenario that runs; the i-th of each array is the i-th vGPU's
 * @vgpu:     open vGPUs
 * @load:     clients on gr
 * @beside:   a client on another engine, if a test has started one
 * @set:      entries for tune_set_shares()
 * @busy:     the client always has work
 * @due:      fraction of gr
 * @nr:       how many vGPUs there are
 * @slice_ns: the GPU's
 * @late_ns:  by how much this program woke later than it wanted, in @ticks sleeps together
 * @ticks:    sleeps so far
 */
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

/* Fails the test with the client's text unless @ret is 0. */
void share_ok(struct load *l, int ret);

/* Creates and opens vGPUs of those types. */
void share_open(const char *types);

/* Sets guarantee, cap and weight of each vGPU. */
void share_want(const unsigned int triple[][3]);

/* Computes share.due; the driver must say that the policy in force has that rule. */
void share_find_due(enum vgpu_ctl_due rule);

/* Opens the vGPUs and sets the policy; from here on share_keep_busy() keeps the rings filled. */
void share_prepare(const struct share_scenario *s);
void share_keep_busy(unsigned int ms);

/* Waits until all work has completed, and verifies it: nothing was lost. */
void share_finish(void);

/* For KTAP_MAIN() */
void share_cleanup(void);

/* share_judge.c: keeps the vGPUs busy until each is seen to get its due, or fails the test. */
void share_measure(void);

#endif /* SHARE_H */
