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
 * @fb_backed_bytes: framebuffer that is backed by host pages at that time
 * @frames:    frames in the period, or all frames so far
 * @busy_ns:   service in the period, for each engine that the GPU has; or all service so far
 */
struct vgpu_sample {
	u64 time_ns;
	u64 period_ns;
	u64 fb_backed_bytes;
	u64 frames;
	u64 busy_ns[];
};

/**
 * struct vgpu_sample_ring - the last VGPU_SAMPLES_KEPT samples
 * @engines: how many the GPU has
 * @nr:      samples that there were
 * @words:   the samples, one after the other: sample n is in place n modulo VGPU_SAMPLES_KEPT;
 *           behind them all service and frames at the end of the last one, and the sample that is
 *           being taken
 */
struct vgpu_sample_ring {
	unsigned int engines;
	u64 nr;
	u64 words[];
};

struct vgpu_sample_ring *vgpu_sample_ring_new(unsigned int engines);
struct vgpu_sample *vgpu_sample_ring_next(struct vgpu_sample_ring *ring);
void vgpu_sample_ring_add(struct vgpu_sample_ring *ring);
const struct vgpu_sample *vgpu_sample_ring_after(const struct vgpu_sample_ring *ring, u64 since_ns);
const struct vgpu_sample *vgpu_sample_ring_at(const struct vgpu_sample_ring *ring, u64 time_ns);

#endif /* _VGPU_SAMPLE_RING_H */
