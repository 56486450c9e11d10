/* SPDX-License-Identifier: GPL-2.0 */
/* The last samples of a GPU's or a vGPU's statistics. Pure logic, compiled in user space too. */
#ifndef _VGPU_SAMPLE_RING_H
#define _VGPU_SAMPLE_RING_H

#include <linux/types.h>
#include <uapi/linux/vgpu.h>

/**
 * struct vgpu_sample - statistics of a period; or totals, from the start to the end of a period
 * @time_ns:   end of the period, CLOCK_MONOTONIC
 * @period_ns: length of the period
 * @fb_backed_bytes: framebuffer that host pages back at the end of the period
 * @frames:    frames in the period; in totals all frames until its end
 * @busy_ns:   service of each engine in the period; in totals all service until its end
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
 * @engines: number of engines of the GPU
 * @nr:      number of samples added so far
 * @words:   places of one struct vgpu_sample each. Sample n is in place n modulo VGPU_SAMPLES_KEPT.
 *           Two more places follow: the totals at the end of the last sample, and the totals at the
 *           end of the next one, which the caller fills in
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
