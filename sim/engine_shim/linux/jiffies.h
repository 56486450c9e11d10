/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_JIFFIES_H
#define _ENGINE_SHIM_LINUX_JIFFIES_H

/* Of the worker, which waits for memory: here is none. */
#define jiffies		0UL
#define HZ		1000UL
#define time_before(a, b)	((long)((a) - (b)) < 0)

#endif /* _ENGINE_SHIM_LINUX_JIFFIES_H */
