/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types of the records that a vGPU's state is made of, in their order. Each record belongs to
 * one topic, which alone knows what is in it.
 */
#ifndef _VGPU_SOFT_RECORDS_H
#define _VGPU_SOFT_RECORDS_H

#include <linux/vgpu_record.h>

enum soft_record_type {
	SOFT_RECORD_DEVICE = VGPU_RECORD_BACKEND, /* face/regs_state.c */
	SOFT_RECORD_DISPLAY,	/* face/display_state.c */
	SOFT_RECORD_PROGRAM,	/* work/program_state.c: what dispatches have begun with */
	SOFT_RECORD_TEXT,	/* its instructions, as little endian words */
	SOFT_RECORD_CHANNEL,	/* queue/channel_record.c: one of each channel that was used */
	SOFT_RECORD_PACKET,	/* likewise: the packet at get, if it has been read */
	SOFT_RECORD_MOVE,	/* work/move_state.c: what a FILL or a COPY remembers */
	SOFT_RECORD_CONTEXT,	/* work/context_state.c: a DISPATCH that has begun */
	SOFT_RECORD_DISPATCH,	/* simt/state.c: likewise, its position */
	SOFT_RECORD_GROUP,	/* likewise, the group that is being executed */
	SOFT_RECORD_LOCAL,	/* the bytes of that group's local memory */
	SOFT_RECORD_PRIVATE,	/* and of its private memory */
	SOFT_RECORD_WARP,	/* simt/state.c: each of its warps */
};

#endif /* _VGPU_SOFT_RECORDS_H */
