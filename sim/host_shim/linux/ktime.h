/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of host_shim/ come before those of shim/ on the simulated host of host.h, where there
 * is one thread, locks have nothing to do and time is virtual.
 */
#ifndef _SHIM_LINUX_KTIME_H
#define _SHIM_LINUX_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;

#define KTIME_MAX	((s64)~((u64)1 << 63))

u64 host_now_ns(void);

static inline u64 ktime_get_ns(void)
{
	return host_now_ns();
}

static inline ktime_t ns_to_ktime(u64 ns)
{
	return ns;
}

#endif /* _SHIM_LINUX_KTIME_H */
