/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_KERNEL_H
#define _DMA_SHIM_LINUX_KERNEL_H

#include <linux/bug.h>
#include_next <linux/kernel.h>

#include "tasks.h"

#undef might_sleep
#define might_sleep()	((void)SHIM_DIE_IF("may not sleep", sim_current()->locks))

#endif /* _DMA_SHIM_LINUX_KERNEL_H */
