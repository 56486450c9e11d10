/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _STATE_SHIM_LINUX_SCHED_MM_H
#define _STATE_SHIM_LINUX_SCHED_MM_H

#include <linux/memcontrol.h>

#endif /* _STATE_SHIM_LINUX_SCHED_MM_H */
