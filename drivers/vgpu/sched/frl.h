/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frame-rate limiter: when a vGPU's next frame may be shown. Pure, the caller
 * locks.
 */
#ifndef _VGPU_FRL_H
#define _VGPU_FRL_H

#include <linux/types.h>

/**
 * struct vgpu_frl - a vGPU's
 * @fps:     frames per s, 0: no limit
 * @next_ns: the frame after the last one is due then (CLOCK_MONOTONIC)
 *
 * All 0: as if the first frame had been due at time 0. Once the clock is past one
 * period, that is long ago, and a guest may show its first two frames at once.
 */
struct vgpu_frl {
	u32 fps;
	u64 next_ns;
};

void vgpu_frl_set(struct vgpu_frl *frl, u32 fps);
u64 vgpu_frl_present(struct vgpu_frl *frl, u64 now_ns);

#endif /* _VGPU_FRL_H */
