/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SMP_H
#define _SHIM_LINUX_SMP_H

#include <sched.h>

#define raw_smp_processor_id()	((unsigned int)sched_getcpu())

#endif /* _SHIM_LINUX_SMP_H */
