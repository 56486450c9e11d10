/* SPDX-License-Identifier: GPL-2.0 */
/* BAR 2 of a vGPU: its registers. */
#ifndef _VGPU_SOFT_REGS_H
#define _VGPU_SOFT_REGS_H

#include <linux/types.h>

struct soft_instance;

int soft_regs_rw(struct soft_instance *inst, u64 offset, void *buf, size_t count, bool write);

#endif /* _VGPU_SOFT_REGS_H */
