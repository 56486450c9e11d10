/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#define cond_resched()	do { } while (0)

#endif /* _SHIM_LINUX_SCHED_H */
