/* SPDX-License-Identifier: GPL-2.0 */
/* The registers in BAR 2. */
#ifndef _VGPU_SOFT_REGS_H
#define _VGPU_SOFT_REGS_H

#include <linux/types.h>

struct soft_display;
struct soft_queues;

int soft_regs_vga_rw(struct soft_display *display, u64 offset, void *buf, size_t count, bool write);
int soft_regs_rw(struct soft_queues *queues, u64 offset, void *buf, size_t count, bool write);

#endif /* _VGPU_SOFT_REGS_H */
