/* SPDX-License-Identifier: GPL-2.0 */
/* Real threads: struct task_struct of the program that uses them. */
#ifndef _SHIM_LINUX_KTHREAD_H
#define _SHIM_LINUX_KTHREAD_H

#include <stdbool.h>

bool kthread_should_stop(void);

#endif /* _SHIM_LINUX_KTHREAD_H */
