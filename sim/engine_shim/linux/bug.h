/* SPDX-License-Identifier: GPL-2.0 */
/* Here warnings are counted: a test may want one, and engine_world.c wants no other. */
#ifndef _ENGINE_SHIM_LINUX_BUG_H
#define _ENGINE_SHIM_LINUX_BUG_H

#include_next <linux/bug.h>

extern unsigned int engine_warnings;

#undef WARN_ON_ONCE
#define WARN_ON_ONCE(cond) ({						\
	bool __warn = !!(cond);						\
									\
	engine_warnings += __warn;					\
	__warn;								\
})

#endif /* _ENGINE_SHIM_LINUX_BUG_H */
