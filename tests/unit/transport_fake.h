/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device of libvgpu without registers, channel pages and page tables, as a render node is: its
 * queues execute packets when they are waited for, its address spaces are lists of what was bound,
 * and its framebuffer is there for the CPU only where it was allocated.
 */
#ifndef TRANSPORT_FAKE_H
#define TRANSPORT_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "libvgpu/internal.h"

#define FAKE_FB_BYTES	(1u << 20)
#define FAKE_QUEUES	3
#define PAGE		VGPU_HW_PAGE_SIZE
#define RW		(VGPU_HW_PTE_R | VGPU_HW_PTE_W)

extern const struct vgpu_transport fake_transport;
extern struct vgpu_dev *fake_dev;
extern struct vgpu_elf fake_elf;	/* whose program it can execute */
extern uint32_t fake_vms_lost;		/* address spaces destroyed */
extern unsigned int fake_invalidated;
extern bool fake_hangs;			/* nothing is executed */

#endif /* TRANSPORT_FAKE_H */
