/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_RCUPDATE_H
#define _SHIM_LINUX_RCUPDATE_H

#include <linux/compiler.h>

struct rcu_head {
	void *next;
};

#define __rcu
#define cond_resched_tasks_rcu_qs()	((void)0)
#define rcu_access_pointer(p)	READ_ONCE(p)

static inline void rcu_read_lock(void)
{
}

static inline void rcu_read_unlock(void)
{
}

#endif /* _SHIM_LINUX_RCUPDATE_H */
