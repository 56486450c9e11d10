/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing of it is needed: there is one thread. */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#endif /* _SHIM_LINUX_SCHED_H */
