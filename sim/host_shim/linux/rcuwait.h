/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_RCUWAIT_H
#define _SHIM_LINUX_RCUWAIT_H

#include <linux/bug.h>
#include <linux/types.h>

struct rcuwait {
	bool waits;
};

void host_sleep(void);

static inline void rcuwait_init(struct rcuwait *w)
{
	w->waits = false;
}

static inline int rcuwait_active(struct rcuwait *w)
{
	return w->waits;
}

/* rcuwait_wait_event() looks at its condition again after each thing that happens. */
static inline int rcuwait_wake_up(struct rcuwait *w)
{
	return w->waits;
}

#define rcuwait_wait_event(w, cond, state) do {		\
	SHIM_DIE_IF("two wait", (w)->waits);		\
	(w)->waits = true;				\
	while (!(cond))					\
		host_sleep();				\
	(w)->waits = false;				\
} while (0)

#endif /* _SHIM_LINUX_RCUWAIT_H */
