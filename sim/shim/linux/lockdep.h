/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LOCKDEP_H
#define _SHIM_LINUX_LOCKDEP_H

#include <linux/bug.h>

#include "tasks.h"

#define lockdep_assert_held(lock) \
	((void)SHIM_DIE_IF("not held", (lock)->owner != sim_current()))

#endif /* _SHIM_LINUX_LOCKDEP_H */
