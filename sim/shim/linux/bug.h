/* SPDX-License-Identifier: GPL-2.0 */
/* A warning of the kernel ends a test. */
#ifndef _SHIM_LINUX_BUG_H
#define _SHIM_LINUX_BUG_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/compiler.h>

#define SHIM_DIE_IF(what, cond) ({					\
	bool __die = !!(cond);						\
									\
	if (__die) {							\
		fprintf(stderr, "%s:%d: %s(%s)\n", __FILE__, __LINE__,	\
			what, #cond);					\
		abort();						\
	}								\
	__die;								\
})

#define WARN_ON(cond)		SHIM_DIE_IF("WARN_ON", cond)
#define WARN_ON_ONCE(cond)	SHIM_DIE_IF("WARN_ON_ONCE", cond)
#define WARN(cond, ...)		SHIM_DIE_IF("WARN", cond)
#define WARN_ONCE(cond, ...)	SHIM_DIE_IF("WARN_ONCE", cond)
#define BUG_ON(cond)		((void)SHIM_DIE_IF("BUG_ON", cond))
#define BUG()			BUG_ON(true)

#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#define BUILD_BUG_ON_MSG(cond, msg) _Static_assert(!(cond), msg)
#ifndef static_assert
#define static_assert(cond, ...) _Static_assert(cond, #cond)
#endif

#endif /* _SHIM_LINUX_BUG_H */
