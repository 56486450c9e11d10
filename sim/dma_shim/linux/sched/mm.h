/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_SCHED_MM_H
#define _DMA_SHIM_LINUX_SCHED_MM_H

#include <linux/atomic.h>

struct mm_struct {
	atomic_t mm_users;
};

#endif /* _DMA_SHIM_LINUX_SCHED_MM_H */
