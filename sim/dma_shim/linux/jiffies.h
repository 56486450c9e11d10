/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_JIFFIES_H
#define _DMA_SHIM_LINUX_JIFFIES_H

#include "tasks.h"

#define HZ			1000UL
#define jiffies			((unsigned long)(sim_now_ns() / 1000000))
#define msecs_to_jiffies(ms)	((unsigned long)(ms))

#endif /* _DMA_SHIM_LINUX_JIFFIES_H */
