/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_WAIT_H
#define _SHIM_LINUX_WAIT_H

#include <linux/list.h>
#include <linux/sched.h>

typedef struct {
	struct list_head entries;
} wait_queue_head_t;

struct wait_entry {
	struct list_head link;
	struct task_struct *task;
};

static inline void init_waitqueue_head(wait_queue_head_t *head)
{
	INIT_LIST_HEAD(&head->entries);
}

/* One task runs at a time: what a memory barrier is for cannot happen here. */
static inline bool waitqueue_active(wait_queue_head_t *head)
{
	return !list_empty(&head->entries);
}

void wait_prepare(wait_queue_head_t *head, struct wait_entry *entry);
void wait_finish(struct wait_entry *entry);
void wake_up_all(wait_queue_head_t *head);

#define wait_event(head, cond) do {			\
	struct wait_entry __entry;			\
							\
	sim_yield();					\
	if (cond)					\
		break;					\
	INIT_LIST_HEAD(&__entry.link);			\
	for (;;) {					\
		wait_prepare(&(head), &__entry);	\
		if (cond)				\
			break;				\
		schedule();				\
	}						\
	wait_finish(&__entry);				\
} while (0)

#endif /* _SHIM_LINUX_WAIT_H */
