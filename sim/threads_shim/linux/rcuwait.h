/* SPDX-License-Identifier: GPL-2.0 */
/* Real threads that wait for each other. */
#ifndef _SHIM_LINUX_RCUWAIT_H
#define _SHIM_LINUX_RCUWAIT_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * struct rcuwait - where one thread waits
 * @wakes:   how often it was woken
 * @waiting: it is asleep, or about to be
 */
struct rcuwait {
	uint32_t wakes;
	bool waiting;
};

static inline int rcuwait_wake_up(struct rcuwait *w)
{
	__atomic_add_fetch(&w->wakes, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&w->waiting, __ATOMIC_SEQ_CST))
		return 0;
	return (int)syscall(SYS_futex, &w->wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#define rcuwait_wait_event(w, cond, state) do {					\
	uint32_t shim_wakes;							\
										\
	for (;;) {								\
		shim_wakes = __atomic_load_n(&(w)->wakes, __ATOMIC_SEQ_CST);	\
		__atomic_store_n(&(w)->waiting, true, __ATOMIC_SEQ_CST);	\
		if (cond)							\
			break;							\
		syscall(SYS_futex, &(w)->wakes, FUTEX_WAIT_PRIVATE, shim_wakes,	\
			NULL, NULL, 0);						\
	}									\
	__atomic_store_n(&(w)->waiting, false, __ATOMIC_SEQ_CST);		\
} while (0)

#endif /* _SHIM_LINUX_RCUWAIT_H */
