// SPDX-License-Identifier: GPL-2.0
/*
 * A frame is due one period after the one before was due, not after it was
 * shown: a guest that always has one ready gets fps frames a second though each
 * comes up late, by up to a period. What is later than that is lost: the most
 * that can be caught up with is one frame, so that in no interval T more than
 * fps T + 2 are shown.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "frl.h"

/**
 * vgpu_frl_set() - another limit
 * @frl: limiter
 * @fps: frames per s, up to VGPU_FRL_MAX; 0: none
 *
 * Context: any; the caller locks.
 */
void vgpu_frl_set(struct vgpu_frl *frl, u32 fps)
{
	frl->fps = fps;
}

/**
 * vgpu_frl_present() - may a frame be shown?
 * @frl:    limiter
 * @now_ns: the time
 *
 * Context: any; the caller locks.
 * Return: 0, and it is booked; or when to ask again.
 */
u64 vgpu_frl_present(struct vgpu_frl *frl, u64 now_ns)
{
	u64 period_ns;

	if (!frl->fps)
		return 0;
	period_ns = DIV_ROUND_UP((u32)NSEC_PER_SEC, frl->fps);
	/* Of a time when the limit was lower. */
	frl->next_ns = min(frl->next_ns, now_ns + period_ns);
	if (now_ns < frl->next_ns)
		return frl->next_ns;
	frl->next_ns = max(frl->next_ns + period_ns, now_ns);
	return 0;
}
