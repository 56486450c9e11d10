/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CPUMASK_H
#define _SHIM_LINUX_CPUMASK_H

#include <unistd.h>

#define num_online_cpus()		((unsigned int)sysconf(_SC_NPROCESSORS_ONLN))
#define cpumask_empty(mask)		((void)(mask), true)
#define set_cpus_allowed_ptr(task, mask) ((void)(mask))

#endif /* _SHIM_LINUX_CPUMASK_H */
