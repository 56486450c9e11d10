// SPDX-License-Identifier: GPL-2.0
/*
 * The table of packet types, and what each of them checks in a packet of its own. card/part.c
 * gives the table to the engines that it makes; no other file knows a type by its name.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/overflow.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#define SOFT_KERNEL(fn)	(fn)
#else
#include <endian.h>
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#ifdef VGPU_WORLD	/* a whole vGPU */
#define SOFT_KERNEL(fn)	(fn)
#else
/* Most tests are about the decoding, and are linked without the other functions. */
#define SOFT_KERNEL(fn)	__builtin_choose_expr(1, NULL, fn)
#endif
#endif

#include "packet_types.h"

/*
 * As soft_packet_range_ok(), for @rows rows of @width bytes, @pitch bytes apart. The caller has
 * checked that @pitch is 0 where there is one row, and at least @width where there are more.
 */
static bool soft_surface_ok(u64 addr, u64 width, u32 rows, u32 pitch, bool sys,
			    const struct soft_limits *limits)
{
	u64 span;

	if (check_mul_overflow((u64)rows - 1, (u64)pitch, &span) ||
	    check_add_overflow(span, width, &span))
		return false;
	return soft_packet_range_ok(addr, span, sys, limits);
}

static bool soft_pitch_ok(u64 width, u32 rows, u32 pitch)
{
	return rows == 1 ? !pitch : pitch >= width;
}

/*
 * Rows without gaps are one long row: fewer, larger pieces. Cannot overflow: with more than one
 * row, the width is at most a 32-bit pitch.
 */
static void soft_decode_join(struct soft_move_operands *op)
{
	op->width *= op->rows;
	op->rows = 1;
	op->dst_pitch = 0;
	op->src_pitch = 0;
}

static enum vgpu_hw_fault soft_decode_fill(const struct vgpu_hw_packet *raw,
					   const struct soft_limits *limits,
					   struct soft_packet *packet, u64 *fault_addr)
{
	struct soft_move_operands *op = soft_packet_operands(packet, struct soft_move_operands);

	if (raw->value_pad || raw->pad || raw->src_pitch)
		return VGPU_HW_FAULT_PACKET;
	op->dst = le64_to_cpu(raw->dst);
	op->dst_sys = le32_to_cpu(raw->op_flags) & VGPU_HW_OP_DST_SYS;
	op->value = le32_to_cpu(raw->value);
	op->width = le64_to_cpu(raw->width);
	op->rows = le32_to_cpu(raw->rows);
	op->dst_pitch = le32_to_cpu(raw->dst_pitch);
	if (!op->width || !op->rows || !soft_pitch_ok(op->width, op->rows, op->dst_pitch))
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = op->dst;
	if (op->dst % 4 || op->width % 4 || op->dst_pitch % 4)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_surface_ok(op->dst, op->width, op->rows, op->dst_pitch, op->dst_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	if (op->dst_pitch == op->width)
		soft_decode_join(op);
	packet->bytes = op->width * op->rows;
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault soft_decode_copy(const struct vgpu_hw_packet *raw,
					   const struct soft_limits *limits,
					   struct soft_packet *packet, u64 *fault_addr)
{
	struct soft_move_operands *op = soft_packet_operands(packet, struct soft_move_operands);

	op->dst = le64_to_cpu(raw->dst);
	op->dst_sys = le32_to_cpu(raw->op_flags) & VGPU_HW_OP_DST_SYS;
	op->src = le64_to_cpu(raw->src);
	op->src_sys = le32_to_cpu(raw->op_flags) & VGPU_HW_OP_SRC_SYS;
	op->width = le64_to_cpu(raw->width);
	op->rows = le32_to_cpu(raw->rows);
	op->dst_pitch = le32_to_cpu(raw->dst_pitch);
	op->src_pitch = le32_to_cpu(raw->src_pitch);
	if (raw->pad || !op->width || !op->rows ||
	    !soft_pitch_ok(op->width, op->rows, op->dst_pitch) ||
	    !soft_pitch_ok(op->width, op->rows, op->src_pitch))
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = op->dst;
	if (!soft_surface_ok(op->dst, op->width, op->rows, op->dst_pitch, op->dst_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	*fault_addr = op->src;
	if (!soft_surface_ok(op->src, op->width, op->rows, op->src_pitch, op->src_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	if (op->dst_pitch == op->width && op->src_pitch == op->width)
		soft_decode_join(op);
	packet->bytes = op->width * op->rows;
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault soft_decode_present(const struct vgpu_hw_packet *raw,
					      const struct soft_limits *limits,
					      struct soft_packet *packet, u64 *fault_addr)
{
	struct soft_present_operands *op =
		soft_packet_operands(packet, struct soft_present_operands);
	struct vgpu_scanout *s = &op->surface;

	op->head = le32_to_cpu(raw->present_head);
	op->va = le64_to_cpu(raw->dst);
	s->offset = op->va;
	s->width = le32_to_cpu(raw->present_width);
	s->height = le32_to_cpu(raw->present_height);
	s->pitch = le32_to_cpu(raw->present_pitch);

	if (le32_to_cpu(raw->present_format) != VGPU_HW_FORMAT_XRGB8888 ||
	    op->head >= limits->num_heads || raw->present_pad ||
	    raw->dst_pitch || raw->src_pitch ||
	    !s->width || !s->height || s->pitch < (u64)s->width * 4)
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = s->offset;
	if (s->offset % 4 || s->pitch % 4)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_surface_ok(s->offset, (u64)s->width * 4, s->height, s->pitch, false, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

/* The program may be handed any address for its arguments: it faults when it reads there. */
static enum vgpu_hw_fault soft_decode_dispatch(const struct vgpu_hw_packet *raw,
					       const struct soft_limits *limits,
					       struct soft_packet *packet, u64 *fault_addr)
{
	struct soft_dispatch_operands *op =
		soft_packet_operands(packet, struct soft_dispatch_operands);
	u64 items = 1;
	unsigned int i;

	if (raw->group_pad)
		return VGPU_HW_FAULT_PACKET;
	op->head = le64_to_cpu(raw->dst);
	op->args = le64_to_cpu(raw->src);
	op->local_bytes = le32_to_cpu(raw->local_bytes);
	for (i = 0; i < 3; i++) {
		op->grid[i] = le32_to_cpu(raw->grid[i]);
		op->group[i] = le16_to_cpu(raw->group[i]);
		if (!op->grid[i] || !op->group[i])
			return VGPU_HW_FAULT_GRID;
		items *= op->group[i];	/* three times 16 bits */
	}
	if (items > VGPU_HW_GROUP_MAX || op->local_bytes > VGPU_HW_LOCAL_MAX)
		return VGPU_HW_FAULT_GRID;
	op->local_bytes = ALIGN(op->local_bytes, 8);

	*fault_addr = op->head;
	if (op->head % sizeof(struct vgpu_hw_program))
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_packet_range_ok(op->head, sizeof(struct vgpu_hw_program), false, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

/* Engines that move bytes. Each row names its classes: a new class executes nothing unasked. */
#define SOFT_MOVERS	(BIT(VGPU_HW_ENGINE_GR) | BIT(VGPU_HW_ENGINE_CE))

/* A type is its number, its row and the functions named there; the core counts PRESENT, too. */
const struct soft_packet_desc soft_packet_types[VGPU_HW_PKT_END] = {
	[VGPU_HW_PKT_NOP] = { .name = "NOP", .engines = SOFT_MOVERS },
	[VGPU_HW_PKT_FENCE] = { .name = "FENCE", .engines = SOFT_MOVERS, .must_tell = true },
	[VGPU_HW_PKT_FILL] = {
		.name = "FILL", .engines = SOFT_MOVERS, .op_flags = VGPU_HW_OP_DST_SYS,
		.decode = soft_decode_fill, .execute = SOFT_KERNEL(soft_move_fill),
		.put_aside = SOFT_KERNEL(soft_move_put_aside),
		.bring_back = SOFT_KERNEL(soft_move_bring_back),
	},
	[VGPU_HW_PKT_COPY] = {
		.name = "COPY", .engines = SOFT_MOVERS,
		.op_flags = VGPU_HW_OP_DST_SYS | VGPU_HW_OP_SRC_SYS,
		.decode = soft_decode_copy, .execute = SOFT_KERNEL(soft_move_copy),
		.put_aside = SOFT_KERNEL(soft_move_put_aside),
		.bring_back = SOFT_KERNEL(soft_move_bring_back),
	},
	[VGPU_HW_PKT_PRESENT] = {
		.name = "PRESENT", .engines = BIT(VGPU_HW_ENGINE_GR), .paced = true,
		.decode = soft_decode_present, .execute = SOFT_KERNEL(soft_present),
	},
	[VGPU_HW_PKT_DISPATCH] = {
		.name = "DISPATCH", .engines = BIT(VGPU_HW_ENGINE_GR),
		.decode = soft_decode_dispatch, .prepare = SOFT_KERNEL(soft_dispatch_prepare),
		.execute = SOFT_KERNEL(soft_dispatch), .help = SOFT_KERNEL(soft_dispatch_help),
		.starved = SOFT_KERNEL(soft_dispatch_fault),
		.cancel = SOFT_KERNEL(soft_context_end), .drop = SOFT_KERNEL(soft_context_exit),
		.begun = SOFT_KERNEL(soft_context_begun),
		.put_aside = SOFT_KERNEL(soft_context_put_aside),
		.bring_back = SOFT_KERNEL(soft_context_bring_back),
	},
};
