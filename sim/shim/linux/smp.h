/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SMP_H
#define _SHIM_LINUX_SMP_H

#ifndef raw_smp_processor_id
#define raw_smp_processor_id()	0U
#endif

#endif /* _SHIM_LINUX_SMP_H */
