/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame-rate limiter: decides when a vGPU's next frame may be shown. It takes no lock; callers
 * hold one.
 */
#ifndef _VGPU_FRL_H
#define _VGPU_FRL_H

#include <linux/types.h>

/**
 * struct vgpu_frl - a vGPU's frame-rate limiter
 * @fps:     frames per s, 0: no limit
 * @next_ns: when the next frame is due (CLOCK_MONOTONIC)
 *
 * A zeroed limiter acts as if the first frame had been due at time 0: a guest may show its first
 * two frames at once.
 */
struct vgpu_frl {
	u32 fps;
	u64 next_ns;
};

void vgpu_frl_set(struct vgpu_frl *frl, u32 fps);
u64 vgpu_frl_present(struct vgpu_frl *frl, u64 now_ns);

#endif /* _VGPU_FRL_H */
