/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is due to each vGPU of an engine that they share, under the policy in force. Pure
 * arithmetic without a call of the system or of the driver: vgpuctl and the scheduler's bench use
 * the same file.
 */
#ifndef VGPUCTL_DUE_H
#define VGPUCTL_DUE_H

#include <stdbool.h>

/* By its place: <linux/vgpu.h> is the driver's own header where the simulator is built. */
#include "../../include/uapi/linux/vgpu.h"

/**
 * struct due_claim - the claim of one vGPU to an engine
 * @guarantee: guarantee as it was set, at most @cap
 * @cap:       cap as it was set; the whole engine stands for no cap
 * @weight:    weight as it was set, in a unit that is the same for all claims
 * @part:      part of the engine that comes with the vGPU's type
 * @demand:    service that the vGPU would get of an engine of its own; the whole engine if the vGPU
 *             always has work
 * @started:   the vGPU's device is open
 * @held:      the vGPU is in quarantine
 * @limited:   for due_by_level() only: the vGPU gets its demand or its cap
 * @due:       the answer: service that is due to the vGPU, 0 if it is not started
 *
 * Guarantee, cap, part, demand and due have the unit in which the caller says how much a whole
 * engine is: 1 for fractions, 1000 for per mille.
 */
struct due_claim {
	double guarantee;
	double cap;
	double weight;
	double part;
	double demand;
	bool started;
	bool held;
	bool limited;
	double due;
};

void due_by_level(struct due_claim *claims, unsigned int nr, double whole);
bool due_by_rule(enum vgpu_ctl_due rule, struct due_claim *claims, unsigned int nr, double whole);

#endif /* VGPUCTL_DUE_H */
