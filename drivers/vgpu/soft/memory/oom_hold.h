/* SPDX-License-Identifier: GPL-2.0 */
/* For how long the OOM killer may be held up. */
#ifndef _VGPU_SOFT_OOM_HOLD_H
#define _VGPU_SOFT_OOM_HOLD_H

#include <linux/minmax.h>
#include <linux/param.h>
#include <linux/types.h>

/*
 * The OOM killer is held up for SOFT_OOM_HOLD at a time, and for one part in SOFT_OOM_HOLD_SHARE of
 * the time in the long run, whatever reasons tenants make up. Two of its calls that are further
 * apart than SOFT_OOM_HOLD_GAP are not one wait: there was memory in between. (Or the caller takes
 * so long to find that there is none; then it is held up for longer.)
 */
#define SOFT_OOM_HOLD		(10 * HZ)
#define SOFT_OOM_HOLD_SHARE	12
#define SOFT_OOM_HOLD_GAP	HZ

/**
 * struct soft_oom_hold - how long the OOM killer was held up of late
 * @spent:     SOFT_OOM_HOLD_SHARE for each jiffy in which it was, less one for each other jiffy
 * @called_at: when it was last asked whether it may be held up, in jiffies
 * @held:      what the answer was
 */
struct soft_oom_hold {
	unsigned long spent;
	unsigned long called_at;
	bool held;
};

/* Whether the OOM killer, which calls at @now, is held up. @want: there is a reason to. */
static inline bool soft_oom_hold(struct soft_oom_hold *hold, unsigned long now, bool want)
{
	unsigned long gap = now - hold->called_at, used = 0;

	if (hold->held)
		used = min_t(unsigned long, gap, SOFT_OOM_HOLD_GAP);
	hold->spent += used * SOFT_OOM_HOLD_SHARE;
	hold->spent -= min(hold->spent, gap - used);
	hold->called_at = now;
	hold->held = want && hold->spent < SOFT_OOM_HOLD * SOFT_OOM_HOLD_SHARE;
	return hold->held;
}

#endif /* _VGPU_SOFT_OOM_HOLD_H */
