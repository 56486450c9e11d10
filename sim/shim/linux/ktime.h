/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_KTIME_H
#define _SHIM_LINUX_KTIME_H

#include <linux/types.h>

#include "tasks.h"

typedef s64 ktime_t;

#define KTIME_MAX	((s64)~((u64)1 << 63))

static inline u64 ktime_get_ns(void)
{
	return sim_now_ns();
}

static inline ktime_t ns_to_ktime(u64 ns)
{
	return ns;
}

#endif /* _SHIM_LINUX_KTIME_H */
