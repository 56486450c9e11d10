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
	SOFT_RECORD_CHANNEL,	/* queue/channel_record.c: one of each channel that was used */
	SOFT_RECORD_PACKET,	/* likewise: the packet at get, if it has been read */
	SOFT_RECORD_MOVE,	/* work/move_state.c: what a FILL or a COPY remembers */
};

#endif /* _VGPU_SOFT_RECORDS_H */
