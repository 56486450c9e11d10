/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_SCHED_H
#define _ENGINE_SHIM_LINUX_SCHED_H

#include <linux/compiler.h>

#define cond_resched()		do { } while (0)
#define cpu_relax()		do { } while (0)
#define schedule_timeout_idle(jiffies) do { } while (0)

#endif /* _ENGINE_SHIM_LINUX_SCHED_H */
