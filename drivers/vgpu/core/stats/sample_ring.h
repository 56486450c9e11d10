/* SPDX-License-Identifier: GPL-2.0 */
/* The last samples of a GPU or a vGPU. Pure logic, compiled in user space too. */
#ifndef _VGPU_SAMPLE_RING_H
#define _VGPU_SAMPLE_RING_H

#include <linux/types.h>
#include <uapi/linux/vgpu.h>

/**
 * struct vgpu_sample - a period, or what there was until a time
 * @time_ns:   end of the period, CLOCK_MONOTONIC
 * @period_ns: its length
 * @busy_ns:   service in the period, by engine; or all service so far
 * @fb_backed_bytes: framebuffer that is backed by host pages at that time
 * @frames:    frames in the period, or all frames so far
 */
struct vgpu_sample {
	u64 time_ns;
	u64 period_ns;
	u64 busy_ns[VGPU_MAX_ENGINES];
	u64 fb_backed_bytes;
	u64 frames;
};

/**
 * struct vgpu_sample_ring - the last VGPU_SAMPLES_KEPT samples
 * @nr:     samples that there were
 * @so_far: all service and frames at the end of the last one
 * @slot:   sample n is in slot n modulo VGPU_SAMPLES_KEPT
 */
struct vgpu_sample_ring {
	u64 nr;
	struct vgpu_sample so_far;
	struct vgpu_sample slot[VGPU_SAMPLES_KEPT];
};

void vgpu_sample_ring_add(struct vgpu_sample_ring *ring, const struct vgpu_sample *so_far);
const struct vgpu_sample *vgpu_sample_ring_after(const struct vgpu_sample_ring *ring, u64 since_ns);
const struct vgpu_sample *vgpu_sample_ring_at(const struct vgpu_sample_ring *ring, u64 time_ns);

#endif /* _VGPU_SAMPLE_RING_H */
