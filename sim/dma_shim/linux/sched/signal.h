/* SPDX-License-Identifier: GPL-2.0 */
/* Signals of one task, the worker; other tasks get none. */
#ifndef _DMA_SHIM_LINUX_SCHED_SIGNAL_H
#define _DMA_SHIM_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

#ifndef SIGKILL
#define SIGKILL			9
#endif
#define TASK_KILLABLE		TASK_UNINTERRUPTIBLE
#define allow_signal(sig)	((void)(sig))

bool fatal_signal_pending(const struct task_struct *task);
void flush_signals(struct task_struct *task);
void send_sig(int sig, struct task_struct *task, int priv);
long schedule_timeout_killable(long timeout);

static inline void task_lock(struct task_struct *task)
{
}

static inline void task_unlock(struct task_struct *task)
{
}

#endif /* _DMA_SHIM_LINUX_SCHED_SIGNAL_H */
