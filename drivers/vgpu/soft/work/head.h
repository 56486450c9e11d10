/* SPDX-License-Identifier: GPL-2.0 */
/* Heads of programs. Compiles in user space, too. */
#ifndef _VGPU_SOFT_HEAD_H
#define _VGPU_SOFT_HEAD_H

#include "packet_types.h"

/**
 * struct soft_program_head - a struct vgpu_hw_program that was found good, in the CPU's byte order
 * @image:    address of the image
 * @image_bytes: length of the image
 * @text_bytes: how much of it is instructions
 * @entry:    offset of the first instruction
 * @private_bytes: private memory of a work-item
 */
struct soft_program_head {
	u64 image;
	u32 image_bytes;
	u32 text_bytes;
	u32 entry;
	u32 private_bytes;
};

enum vgpu_hw_fault soft_program_decode(const struct vgpu_hw_program *raw,
				       const struct soft_limits *limits,
				       const struct soft_dispatch_operands *op,
				       struct soft_program_head *head, u64 *fault_addr);

#endif /* _VGPU_SOFT_HEAD_H */
