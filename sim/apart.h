/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two partitions of a GPU on a host with one CPU: a victim, whose clients are the same in each
 * simulation, and a neighbour, whose clients do what a configuration says. Each partition has a
 * timeline of its own on the host of host.h, and both engines need the CPU.
 */
#ifndef _SIM_APART_H
#define _SIM_APART_H

#include "host.h"

/* To restore another client takes so long. */
#define APART_SWITCH_NS		20000ULL

enum apart_neighbour {
	APART_NONE,		/* has no clients */
	APART_IDLE,		/* they have no work */
	APART_HOGS,		/* always have work, and stop as late as an engine may */
	APART_RINGS,		/* ring for nothing all the time */
	APART_OPENS,		/* likewise hogs, and are closed and opened */
	APART_POLICY,		/* likewise hogs, and the host switches the policy */
	APART_SHARES,		/* likewise hogs, and the host changes shares, and holds them */
	APART_HANGS,		/* do not stop, so that their engine is reset */
	APART_NEIGHBOURS,
};

/**
 * struct apart_config - a simulation
 * @seed:      of what the neighbour does
 * @policy:    the victim's
 * @neighbour: what the neighbour does
 * @slots:     the partitions work in slots; else whenever they have work
 * @length_ns: how long
 */
struct apart_config {
	u64 seed;
	const struct vgpu_sched_policy *policy;
	enum apart_neighbour neighbour;
	bool slots;
	u64 length_ns;
};

/**
 * struct apart_result - what the victim got
 * @service_ns: service, as its vGPUs were charged
 * @work_ns:    of that, what was its own: while both engines need the CPU each has half of it
 * @runs:       number of its runs
 * @jobs:       number of jobs that its clients had done
 * @order:      a hash of all its runs: whose, from when until when
 * @neighbour_ns: service of the neighbour
 * @acts:       number of things that the host did to the neighbour, and of resets of its engine
 * @stop_ns:    the longest time that the host waited until a vGPU of the neighbour had stopped
 */
struct apart_result {
	u64 service_ns;
	u64 work_ns;
	u64 runs;
	u64 jobs;
	u64 order;
	u64 neighbour_ns;
	u64 acts;
	u64 stop_ns;
};

const char *apart_name(enum apart_neighbour neighbour);
void apart_run(const struct apart_config *config, struct apart_result *result);

#endif /* _SIM_APART_H */
