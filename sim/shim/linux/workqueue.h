/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_WORKQUEUE_H
#define _SHIM_LINUX_WORKQUEUE_H

#include <linux/types.h>

struct work_struct;
struct workqueue_struct;

typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	work_func_t func;
};

#define INIT_WORK(work, fn)	((void)((work)->func = (fn)))

#define WQ_UNBOUND		0x2
#define WQ_MEM_RECLAIM		0x8
#define WQ_HIGHPRI		0x10

#define alloc_workqueue(...)	sim_workqueue()

struct workqueue_struct *sim_workqueue(void);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
void flush_workqueue(struct workqueue_struct *wq);
void destroy_workqueue(struct workqueue_struct *wq);

#endif /* _SHIM_LINUX_WORKQUEUE_H */
