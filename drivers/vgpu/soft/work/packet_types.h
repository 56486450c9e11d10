/* SPDX-License-Identifier: GPL-2.0 */
/* The packet types that engines have, and the functions that their rows name. */
#ifndef _VGPU_SOFT_PACKET_TYPES_H
#define _VGPU_SOFT_PACKET_TYPES_H

#include <linux/vgpu_scanout.h>

#include "../queue/packet.h"

/**
 * struct soft_move_operands - operands of FILL and COPY
 * @dst:     address of the destination
 * @src:     COPY: address of the source
 * @width:   bytes per row; rows that follow each other without a gap have been joined into one
 * @value:   FILL: the pattern
 * @rows:    rows, at least 1
 * @dst_pitch: bytes from row to row of the destination
 * @src_pitch: COPY: bytes from row to row of the source
 * @dst_sys: @dst is in guest memory
 * @src_sys: COPY: @src is in guest memory
 */
struct soft_move_operands {
	u64 dst;
	u64 src;
	u64 width;
	u32 value;
	u32 rows;
	u32 dst_pitch;
	u32 src_pitch;
	bool dst_sys;
	bool src_sys;
};

/**
 * struct soft_present_operands - operands of PRESENT
 * @va:      address of the surface
 * @surface: the surface, in the framebuffer; where addresses are virtual, its offset is @va until
 *           the packet is executed
 * @head:    display that shows it, below the number of heads
 */
struct soft_present_operands {
	u64 va;
	struct vgpu_scanout surface;
	u32 head;
};

/**
 * struct soft_dispatch_operands - operands of DISPATCH
 * @head:    address of the struct vgpu_hw_program
 * @args:    address of the arguments, any number
 * @grid:    work-items per dimension, at least 1
 * @group:   work-items of a group per dimension, at least 1; their product is at most
 *           VGPU_HW_GROUP_MAX
 * @local_bytes: memory of a group, a multiple of 8, at most VGPU_HW_LOCAL_MAX
 */
struct soft_dispatch_operands {
	u64 head;
	u64 args;
	u32 grid[3];
	u32 group[3];
	u32 local_bytes;
};

/* By number: enum vgpu_hw_packet_type. */
extern const struct soft_packet_desc soft_packet_types[VGPU_HW_PKT_END];

/* move.c: execute functions of struct soft_packet_desc */
enum soft_end soft_move_fill(struct soft_unit *unit, struct soft_channel *ch,
			     struct soft_fault *fault);
enum soft_end soft_move_copy(struct soft_unit *unit, struct soft_channel *ch,
			     struct soft_fault *fault);

/* move_state.c: put_aside and bring_back */
void soft_move_put_aside(const struct soft_channel *ch, bool answered, struct vgpu_records *to);
int soft_move_bring_back(struct soft_channel *ch, struct vgpu_record_reader *from);

/* present.c: execute */
enum soft_end soft_present(struct soft_unit *unit, struct soft_channel *ch,
			   struct soft_fault *fault);

/* dispatch.c: likewise, and its other functions */
enum soft_end soft_dispatch_prepare(struct soft_channel *ch, const struct vgpu_dma *dma,
				    struct soft_fault *fault);
enum soft_end soft_dispatch(struct soft_unit *unit, struct soft_channel *ch,
			    struct soft_fault *fault);
void soft_dispatch_help(struct soft_unit *unit, struct soft_channel *ch);
enum soft_end soft_dispatch_fault(struct soft_channel *ch, struct soft_fault *fault);

/* context.c: likewise */
void soft_context_end(struct soft_channel *ch);
void soft_context_exit(struct soft_channel *ch);

/* context_state.c: begun, put_aside and bring_back */
bool soft_context_begun(const struct soft_channel *ch);
void soft_context_put_aside(const struct soft_channel *ch, bool answered, struct vgpu_records *to);
int soft_context_bring_back(struct soft_channel *ch, struct vgpu_record_reader *from);

#endif /* _VGPU_SOFT_PACKET_TYPES_H */
