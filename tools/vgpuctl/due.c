// SPDX-License-Identifier: GPL-2.0
/* What vGPUs are due of an engine on which all in use always have work. */
#include <stdlib.h>
#include <string.h>

#include "vgpuctl.h"

#define WHOLE	10000.0	/* hundredths of a per cent */

static bool takes_part(const struct vgpu_ctl_instance *inst)
{
	return inst->state == VGPU_STATE_STARTED &&
		!(inst->status & VGPU_INSTANCE_QUARANTINED);
}

/* Slots count vGPUs from open to close, quarantined or not. */
static bool has_slot(const struct vgpu_ctl_instance *inst)
{
	return inst->state == VGPU_STATE_STARTED;
}

static void due_equal(const struct vgpu_ctl_instance *inst, uint32_t nr,
		      bool (*counts)(const struct vgpu_ctl_instance *inst),
		      uint64_t *due)
{
	uint32_t i, n = 0;

	for (i = 0; i < nr; i++)
		n += counts(&inst[i]);
	for (i = 0; i < nr; i++)
		due[i] = counts(&inst[i]) ? (uint64_t)(WHOLE / n + 0.5) : 0;
}

/*
 * due = min(cap, guarantee + level * weight) with the level at which the sum is
 * the whole engine, if the caps allow that: those the level lifts over their
 * caps are taken out until there are none. At most @nr rounds.
 */
static bool due_qos(const struct vgpu_ctl_instance *inst, uint32_t nr,
		    uint64_t *due)
{
	double rest = 1000, weights = 0, level, share;
	bool *capped, again = true;
	uint32_t i;

	capped = calloc(nr, sizeof(*capped));
	if (!capped)
		return false;
	for (i = 0; i < nr; i++) {
		capped[i] = !takes_part(&inst[i]);
		if (!capped[i]) {
			rest -= inst[i].guarantee;
			weights += inst[i].weight;
		}
	}
	while (again) {
		again = false;
		level = weights > 0 && rest > 0 ? rest / weights : 0;
		for (i = 0; i < nr; i++) {
			if (capped[i] || inst[i].guarantee +
			    level * inst[i].weight <= inst[i].cap)
				continue;
			capped[i] = true;
			again = true;
			rest -= (double)inst[i].cap - inst[i].guarantee;
			weights -= inst[i].weight;
		}
	}
	for (i = 0; i < nr; i++) {
		share = capped[i] ? inst[i].cap :
			inst[i].guarantee + level * inst[i].weight;
		due[i] = takes_part(&inst[i]) ? (uint64_t)(share * 10 + 0.5) : 0;
	}
	free(capped);
	return true;
}

/* @size_gb: per vGPU, what its type takes of the GPU's framebuffer. */
bool due_shares(const struct vgpu_ctl_gpu *gpu,
		const struct vgpu_ctl_instance *inst, const uint32_t *size_gb,
		uint32_t nr, uint64_t *due)
{
	uint64_t region_gb = gpu->fb_bytes >> 30;
	uint32_t i;

	if (ctl_text_is(gpu->policy, sizeof(gpu->policy), "best_effort")) {
		due_equal(inst, nr, takes_part, due);
		return true;
	}
	if (ctl_text_is(gpu->policy, sizeof(gpu->policy), "equal_share")) {
		due_equal(inst, nr, has_slot, due);
		return true;
	}
	if (ctl_text_is(gpu->policy, sizeof(gpu->policy), "fixed_share") &&
	    region_gb) {
		for (i = 0; i < nr; i++)
			due[i] = has_slot(&inst[i]) ?
				(uint64_t)(WHOLE * size_gb[i] /
					   (double)region_gb + 0.5) : 0;
		return true;
	}
	if (ctl_text_is(gpu->policy, sizeof(gpu->policy), "qos"))
		return due_qos(inst, nr, due);
	return false;
}
