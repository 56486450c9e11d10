/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types of the records that a vGPU's state is made of, in their order. Each record belongs to
 * one topic, which alone knows what is in it. A number that a type has had stays its own (see
 * linux/vgpu_record.h), so a new type gets a new number, wherever in the order it comes.
 */
#ifndef _VGPU_SOFT_RECORDS_H
#define _VGPU_SOFT_RECORDS_H

#include <linux/build_bug.h>
#include <linux/vgpu_record.h>

enum soft_record_type {
	SOFT_RECORD_DEVICE = 0x100,	/* face/regs_state.c */
	SOFT_RECORD_DISPLAY = 0x101,	/* face/display_state.c */
	SOFT_RECORD_PROGRAM = 0x102,	/* work/program_state.c: what dispatches have begun with */
	SOFT_RECORD_TEXT = 0x103,	/* its instructions, as little endian words */
	SOFT_RECORD_CHANNEL = 0x104,	/* queue/channel_record.c: each channel that was used */
	SOFT_RECORD_PACKET = 0x105,	/* likewise: the packet at get, if it has been read */
	SOFT_RECORD_MOVE = 0x106,	/* work/move_state.c: what a FILL or a COPY remembers */
	SOFT_RECORD_CONTEXT = 0x107,	/* work/context_state.c: a DISPATCH that has begun */
	SOFT_RECORD_DISPATCH = 0x108,	/* simt/state.h: likewise, its position */
	SOFT_RECORD_GROUP = 0x109,	/* likewise, each group in flight */
	SOFT_RECORD_LOCAL = 0x10a,	/* the bytes of that group's local memory */
	SOFT_RECORD_PRIVATE = 0x10b,	/* and of its private memory */
	SOFT_RECORD_WARP = 0x10c,	/* simt/state.h: each of its warps */
};

static_assert(SOFT_RECORD_DEVICE >= VGPU_RECORD_BACKEND);

#endif /* _VGPU_SOFT_RECORDS_H */
