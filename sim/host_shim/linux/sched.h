/* SPDX-License-Identifier: GPL-2.0 */
/* There is one thread: nothing of this header is needed. */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#endif /* _SHIM_LINUX_SCHED_H */
