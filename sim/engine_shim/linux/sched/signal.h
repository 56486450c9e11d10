/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_SCHED_SIGNAL_H
#define _ENGINE_SHIM_LINUX_SCHED_SIGNAL_H

#define fatal_signal_pending(task)	false

#endif /* _ENGINE_SHIM_LINUX_SCHED_SIGNAL_H */
