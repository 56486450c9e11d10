/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of engine_shim/ come before those of host_shim/ and shim/ where the execution of
 * packets is compiled (soft/queue/exec.c, soft/work/move.c): there is one engine in one thread, and
 * time passes as the test says that work takes.
 */
#ifndef _ENGINE_SHIM_LINUX_KTIME_H
#define _ENGINE_SHIM_LINUX_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;

u64 ktime_get_ns(void);

#endif /* _ENGINE_SHIM_LINUX_KTIME_H */
