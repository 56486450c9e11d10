/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_FPU_H
#define _SHIM_LINUX_FPU_H

/* A process has the vector registers always, and cannot switch preemption off. */
#define kernel_fpu_begin()	do { } while (0)
#define kernel_fpu_end()	do { } while (0)

#endif /* _SHIM_LINUX_FPU_H */
