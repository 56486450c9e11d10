/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_HRTIMER_H
#define _SHIM_LINUX_HRTIMER_H

#include <time.h>
#include <linux/ktime.h>
#include <linux/list.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

#define HRTIMER_MODE_ABS_HARD	0

struct hrtimer {
	struct list_head link;
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 expires_ns;
	bool queued;
};

static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      int clock, int mode)
{
	timer->function = function;
	timer->queued = false;
}

void hrtimer_start(struct hrtimer *timer, ktime_t expires, int mode);
int hrtimer_cancel(struct hrtimer *timer);

#endif /* _SHIM_LINUX_HRTIMER_H */
