/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of lanes_shim/ come before those of shim/ where soft/work/lanes.c is measured on this
 * CPU: there time is real, and nothing is simulated.
 */
#ifndef _SHIM_LINUX_KTIME_H
#define _SHIM_LINUX_KTIME_H

#include <linux/types.h>

#include "clk.h"

static inline u64 ktime_get_ns(void)
{
	return clk_ns();
}

#endif /* _SHIM_LINUX_KTIME_H */
