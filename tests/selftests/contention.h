/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who waits for locks of the driver with which a task can be stopped: mutexes, semaphores and,
 * under PREEMPT_RT, all spinlocks but raw ones. The kernel tells each wait, and where it came from.
 */
#ifndef CONTENTION_H
#define CONTENTION_H

/* From here on waits are recorded. Skips the test if the kernel tells none. */
void contention_begin(void);

/*
 * Calls @wait for each wait since contention_begin() or the last call: the name of the task, and
 * the function of the driver that takes the lock, or wakes those on a wait queue. Locks that the
 * kernel takes on the driver's account, such as an allocation's, do not count. Returns how many
 * waits there were, also for these.
 */
unsigned int contention_read(void (*wait)(const char *task, const char *function));

/* Nothing is recorded any more. For a cleanup, too. */
void contention_end(void);

#endif /* CONTENTION_H */
