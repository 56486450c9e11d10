/* SPDX-License-Identifier: GPL-2.0 */
/* Service of vGPUs and of their channels, as VGPU_IOC_INSTANCE and VGPU_IOC_CHANNELS have it. */
#ifndef SERVICE_H
#define SERVICE_H

#include "fixture.h"

/**
 * struct service_base - what a vGPU had before the test
 * @busy_ns: service on all engines
 */
struct service_base {
	uint64_t busy_ns;
};

/*
 * One call of the control node: @ctl has what the caller wants, but for what is about @entries.
 * Returns 0 or a negative errno.
 */
int service_call(const struct fx_vgpu *v, struct vgpu_ctl_channels *ctl,
		 struct vgpu_ctl_channel *entries, uint32_t room);

/* Reads all channels, and checks that they are in order; returns how many. */
unsigned int service_list(const struct fx_vgpu *v, struct vgpu_ctl_channel *list,
			  unsigned int room);

/* A channel that has been enabled since the vGPU was opened. */
void service_of(const struct fx_vgpu *v, uint32_t channel, struct vgpu_ctl_channel *out);

/* Before the vGPU is opened, or before it works. */
void service_begin(const struct fx_vgpu *v, struct service_base *base);

/* Returns when the vGPU, which has nothing to do, is on no engine. */
void service_settle(const struct fx_vgpu *v);

/* The same; then by how much the channels' sum exceeds the vGPU's service since @base, in ns. */
int64_t service_off(const struct fx_vgpu *v, const struct service_base *base);

/* The same; the channels' sum is the vGPU's service since @base, within 0.1 %. */
void service_check(const struct fx_vgpu *v, const struct service_base *base);

/* Pauses the vGPU, or ends the pause. */
void service_pause(const struct fx_vgpu *v, bool pause);

#endif /* SERVICE_H */
