/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_RCUPDATE_H
#define _DMA_SHIM_LINUX_RCUPDATE_H

#define cond_resched_tasks_rcu_qs()	((void)0)

#endif /* _DMA_SHIM_LINUX_RCUPDATE_H */
