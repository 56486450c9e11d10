/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CPUMASK_H
#define _SHIM_LINUX_CPUMASK_H

struct cpumask {
	unsigned long bits[1];
};

#ifndef num_online_cpus
#define num_online_cpus()	1U
#endif

#endif /* _SHIM_LINUX_CPUMASK_H */
