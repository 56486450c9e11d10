// SPDX-License-Identifier: GPL-2.0
/*
 * The frame-rate limiter. A frame is due one period after the previous frame was due, not after it
 * was shown. So a guest that always has a frame ready gets fps frames per second even if each is
 * shown up to a period late. A guest that is later than that loses frames: it can catch up by at
 * most one, so at most fps T + 2 frames are shown in any interval T.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "frl.h"

/**
 * vgpu_frl_set() - set the limit
 * @frl: a vGPU's limiter
 * @fps: frames per s, up to VGPU_FRL_MAX; 0: no limit
 *
 * Context: any; the caller serialises calls for one limiter.
 */
void vgpu_frl_set(struct vgpu_frl *frl, u32 fps)
{
	frl->fps = fps;
}

/**
 * vgpu_frl_present() - ask whether a frame may be shown now
 * @frl:    a vGPU's limiter
 * @now_ns: the time
 *
 * Context: any; the caller serialises calls for one limiter.
 * Return: 0 if the frame may be shown, and is counted; else the time of the next try.
 */
u64 vgpu_frl_present(struct vgpu_frl *frl, u64 now_ns)
{
	u64 period_ns;

	if (!frl->fps)
		return 0;
	period_ns = DIV_ROUND_UP((u32)NSEC_PER_SEC, frl->fps);
	/* next_ns may have been computed with a lower limit. */
	frl->next_ns = min(frl->next_ns, now_ns + period_ns);
	if (now_ns < frl->next_ns)
		return frl->next_ns;
	frl->next_ns = max(frl->next_ns + period_ns, now_ns);
	return 0;
}
