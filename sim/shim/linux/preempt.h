/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_PREEMPT_H
#define _SHIM_LINUX_PREEMPT_H

#include "tasks.h"

/* Each task has a processor of its own. */
#define preempt_disable()	sim_yield()
#define preempt_enable()	sim_yield()

#endif /* _SHIM_LINUX_PREEMPT_H */
