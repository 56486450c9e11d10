/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_LOCKDEP_H
#define _SHIM_LINUX_LOCKDEP_H

#include <linux/bug.h>

#define lockdep_assert_held(lock)	\
	((void)SHIM_DIE_IF("not held", !(lock)->held))
#define lockdep_assert_not_held(lock)	\
	((void)SHIM_DIE_IF("held", (lock)->held))

#endif /* _SHIM_LINUX_LOCKDEP_H */
