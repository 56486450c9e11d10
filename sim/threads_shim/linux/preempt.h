/* SPDX-License-Identifier: GPL-2.0 */
/* A thread of user space is preempted whenever the kernel wants it. */
#ifndef _SHIM_LINUX_PREEMPT_H
#define _SHIM_LINUX_PREEMPT_H

#define preempt_disable()	((void)0)
#define preempt_enable()	((void)0)

#endif /* _SHIM_LINUX_PREEMPT_H */
