/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_WAIT_H
#define _SHIM_LINUX_WAIT_H

#include <linux/types.h>

typedef struct {
	unsigned int waiters;
} wait_queue_head_t;

void host_sleep(void);

static inline void init_waitqueue_head(wait_queue_head_t *head)
{
	head->waiters = 0;
}

/* There is one thread: what a memory barrier is for cannot happen here. */
static inline bool waitqueue_active(wait_queue_head_t *head)
{
	return head->waiters;
}

/* wait_event() looks at its condition again after each thing that happens. */
static inline void wake_up_all(wait_queue_head_t *head)
{
}

#define wait_event(head, cond) do {	\
	(head).waiters++;		\
	while (!(cond))			\
		host_sleep();		\
	(head).waiters--;		\
} while (0)

#endif /* _SHIM_LINUX_WAIT_H */
