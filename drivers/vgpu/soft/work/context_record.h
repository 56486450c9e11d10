/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A DISPATCH that has begun, and its program, as records: see context_state.c and
 * program_state.c. What the interpreter has of it is in records of its own. Compiles in user space,
 * too.
 */
#ifndef _VGPU_SOFT_CONTEXT_RECORD_H
#define _VGPU_SOFT_CONTEXT_RECORD_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "head.h"

/**
 * struct soft_program_record - a program; a record with its text follows
 * @text_bytes: length of its text, a multiple of 4, at least 4, at most VGPU_HW_TEXT_MAX
 * @pad:    0
 */
struct soft_program_record {
	__le32 text_bytes;
	__le32 pad;
};

/**
 * struct soft_context_record - a DISPATCH that has begun
 * @head:   the head of its program, as it was when it began
 * @program: number of its program among those that were saved, from 1
 * @pad:    0
 */
struct soft_context_record {
	struct vgpu_hw_program head;
	__le32 program;
	__le32 pad;
};

const char *soft_program_record_check(const struct soft_program_record *record);
const char *soft_context_record_check(const struct soft_context_record *record,
				      const struct soft_limits *limits,
				      const struct soft_dispatch_operands *op, u32 nr_programs,
				      struct soft_program_head *head);

#endif /* _VGPU_SOFT_CONTEXT_RECORD_H */
