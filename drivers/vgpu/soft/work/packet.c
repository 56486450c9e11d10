// SPDX-License-Identifier: GPL-2.0
/*
 * The table of packet types, and the decoding and checking of packets and rings. The input is a
 * private copy of what the guest wrote. A packet that passes can be executed without further
 * checks of the partition's bounds; or, where addresses are virtual, translates any of its own.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/string.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#define SOFT_KERNEL(fn)	(fn)
#else
#include <endian.h>
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
/* User space tests the decoding, and is linked without the other functions. */
#define SOFT_KERNEL(fn)	__builtin_choose_expr(1, NULL, fn)
#endif

#include "packet.h"
#include "../memory/walk.h"

/*
 * Whether a range lies in the partition; or, in guest memory, does not wrap around; or, of virtual
 * addresses, lies in one half of them.
 */
static bool soft_range_ok(u64 addr, u64 len, bool sys, const struct soft_limits *limits)
{
	u64 last;

	/* A range may end with the last byte of the address space. */
	if (check_add_overflow(addr, len - 1, &last))
		return false;
	if (sys)
		return true;
	if (limits->virt)
		return soft_walk_va_ok(addr) && soft_walk_va_ok(last) && !((addr ^ last) >> 63);
	return last < limits->fb_bytes;
}

/*
 * The same for @rows rows of @width bytes, @pitch bytes apart. The caller has checked that
 * @pitch is 0 where there is one row, and at least @width where there are more.
 */
static bool soft_surface_ok(u64 addr, u64 width, u32 rows, u32 pitch, bool sys,
			    const struct soft_limits *limits)
{
	u64 span;

	if (check_mul_overflow((u64)rows - 1, (u64)pitch, &span) ||
	    check_add_overflow(span, width, &span))
		return false;
	return soft_range_ok(addr, span, sys, limits);
}

static bool soft_pitch_ok(u64 width, u32 rows, u32 pitch)
{
	return rows == 1 ? !pitch : pitch >= width;
}

static enum vgpu_hw_fault soft_decode_signal(const struct vgpu_hw_packet *raw,
					     const struct soft_limits *limits,
					     struct soft_packet *packet, u64 *fault_addr)
{
	packet->signal = raw->flags & VGPU_HW_PKT_SIGNAL;
	packet->signal_sys = raw->flags & VGPU_HW_PKT_SIGNAL_SYS;
	packet->signal_addr = le64_to_cpu(raw->signal_addr);
	packet->signal_value = le64_to_cpu(raw->signal_value);
	packet->irq = raw->flags & VGPU_HW_PKT_IRQ;
	packet->vector = le16_to_cpu(raw->vector);

	if (packet->irq ? packet->vector >= limits->vectors : packet->vector)
		return VGPU_HW_FAULT_PACKET;
	if (!packet->signal) {
		if (packet->signal_sys || packet->signal_addr || packet->signal_value)
			return VGPU_HW_FAULT_PACKET;
		return VGPU_HW_FAULT_NONE;
	}
	*fault_addr = packet->signal_addr;
	if (packet->signal_addr % 8)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_range_ok(packet->signal_addr, 8, packet->signal_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

/*
 * Rows without gaps are one long row: fewer, larger pieces. Cannot overflow: with more than one
 * row, the width is at most a 32-bit pitch.
 */
static void soft_packet_join(struct soft_packet *packet)
{
	packet->width *= packet->rows;
	packet->rows = 1;
	packet->dst_pitch = 0;
	packet->src_pitch = 0;
}

static enum vgpu_hw_fault soft_decode_fill(const struct vgpu_hw_packet *raw,
					   const struct soft_limits *limits,
					   struct soft_packet *packet, u64 *fault_addr)
{
	if (raw->value_pad || raw->pad || raw->src_pitch)
		return VGPU_HW_FAULT_PACKET;
	packet->value = le32_to_cpu(raw->value);
	packet->width = le64_to_cpu(raw->width);
	packet->rows = le32_to_cpu(raw->rows);
	packet->dst_pitch = le32_to_cpu(raw->dst_pitch);
	if (!packet->width || !packet->rows ||
	    !soft_pitch_ok(packet->width, packet->rows, packet->dst_pitch))
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = packet->dst;
	if (packet->dst % 4 || packet->width % 4 || packet->dst_pitch % 4)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_surface_ok(packet->dst, packet->width, packet->rows, packet->dst_pitch,
			     packet->dst_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	if (packet->dst_pitch == packet->width)
		soft_packet_join(packet);
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault soft_decode_copy(const struct vgpu_hw_packet *raw,
					   const struct soft_limits *limits,
					   struct soft_packet *packet, u64 *fault_addr)
{
	packet->src = le64_to_cpu(raw->src);
	packet->width = le64_to_cpu(raw->width);
	packet->rows = le32_to_cpu(raw->rows);
	packet->dst_pitch = le32_to_cpu(raw->dst_pitch);
	packet->src_pitch = le32_to_cpu(raw->src_pitch);
	if (raw->pad || !packet->width || !packet->rows ||
	    !soft_pitch_ok(packet->width, packet->rows, packet->dst_pitch) ||
	    !soft_pitch_ok(packet->width, packet->rows, packet->src_pitch))
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = packet->dst;
	if (!soft_surface_ok(packet->dst, packet->width, packet->rows, packet->dst_pitch,
			     packet->dst_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	*fault_addr = packet->src;
	if (!soft_surface_ok(packet->src, packet->width, packet->rows, packet->src_pitch,
			     packet->src_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	if (packet->dst_pitch == packet->width && packet->src_pitch == packet->width)
		soft_packet_join(packet);
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault soft_decode_present(const struct vgpu_hw_packet *raw,
					      const struct soft_limits *limits,
					      struct soft_packet *packet, u64 *fault_addr)
{
	struct vgpu_scanout *s = &packet->scanout;

	packet->head = le32_to_cpu(raw->present_head);
	s->offset = packet->dst;
	s->width = le32_to_cpu(raw->present_width);
	s->height = le32_to_cpu(raw->present_height);
	s->pitch = le32_to_cpu(raw->present_pitch);

	if (le32_to_cpu(raw->present_format) != VGPU_HW_FORMAT_XRGB8888 ||
	    packet->head >= limits->num_heads || raw->present_pad ||
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
	u64 items = 1;
	unsigned int i;

	if (raw->group_pad)
		return VGPU_HW_FAULT_PACKET;
	packet->src = le64_to_cpu(raw->src);
	packet->local_bytes = le32_to_cpu(raw->local_bytes);
	for (i = 0; i < 3; i++) {
		packet->grid[i] = le32_to_cpu(raw->grid[i]);
		packet->group[i] = le16_to_cpu(raw->group[i]);
		if (!packet->grid[i] || !packet->group[i])
			return VGPU_HW_FAULT_GRID;
		items *= packet->group[i];	/* three times 16 bits */
	}
	if (items > VGPU_HW_GROUP_MAX || packet->local_bytes > VGPU_HW_LOCAL_MAX)
		return VGPU_HW_FAULT_GRID;
	packet->local_bytes = ALIGN(packet->local_bytes, 8);

	*fault_addr = packet->dst;
	if (packet->dst % sizeof(struct vgpu_hw_program))
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_range_ok(packet->dst, sizeof(struct vgpu_hw_program), false, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

/* For the types that have no operands. */
static enum vgpu_hw_fault soft_decode_empty(const struct vgpu_hw_packet *raw)
{
	if (raw->dst || raw->src || raw->width || raw->rows || raw->pad ||
	    raw->dst_pitch || raw->src_pitch)
		return VGPU_HW_FAULT_PACKET;
	return VGPU_HW_FAULT_NONE;
}

/* Engines that move bytes. Each row names its classes: a new class executes nothing unasked. */
#define SOFT_MOVERS	(BIT(VGPU_HW_ENGINE_GR) | BIT(VGPU_HW_ENGINE_CE))

/* A type is its number, its row and the functions named there; the core counts PRESENT, too. */
static const struct soft_packet_desc soft_packet_descs[VGPU_HW_PKT_END] = {
	[VGPU_HW_PKT_NOP] = { .name = "NOP", .engines = SOFT_MOVERS },
	[VGPU_HW_PKT_FENCE] = { .name = "FENCE", .engines = SOFT_MOVERS, .must_tell = true },
	[VGPU_HW_PKT_FILL] = {
		.name = "FILL", .engines = SOFT_MOVERS, .op_flags = VGPU_HW_OP_DST_SYS,
		.decode = soft_decode_fill, .execute = SOFT_KERNEL(soft_move_fill),
	},
	[VGPU_HW_PKT_COPY] = {
		.name = "COPY", .engines = SOFT_MOVERS,
		.op_flags = VGPU_HW_OP_DST_SYS | VGPU_HW_OP_SRC_SYS,
		.decode = soft_decode_copy, .execute = SOFT_KERNEL(soft_move_copy),
	},
	[VGPU_HW_PKT_PRESENT] = {
		.name = "PRESENT", .engines = BIT(VGPU_HW_ENGINE_GR), .paced = true,
		.decode = soft_decode_present, .execute = SOFT_KERNEL(soft_display_present),
	},
	[VGPU_HW_PKT_DISPATCH] = {
		.name = "DISPATCH", .engines = BIT(VGPU_HW_ENGINE_GR),
		.decode = soft_decode_dispatch, .prepare = SOFT_KERNEL(soft_dispatch_prepare),
		.execute = SOFT_KERNEL(soft_dispatch), .starved = SOFT_KERNEL(soft_dispatch_fault),
		.cancel = SOFT_KERNEL(soft_context_end), .drop = SOFT_KERNEL(soft_context_exit),
	},
};

/* The name of a type, any number that no guest has chosen; NULL: no engine executes it. */
const char *soft_packet_name(u64 type)
{
	return type < VGPU_HW_PKT_END ? soft_packet_descs[type].name : NULL;
}

/* Frees what kinds of packets keep for a channel, which is disabled. May sleep. */
void soft_packet_drop(struct soft_channel *ch)
{
	unsigned int i;

	for (i = 0; i < VGPU_HW_PKT_END; i++)
		if (soft_packet_descs[i].drop)
			soft_packet_descs[i].drop(ch);
}

/**
 * soft_packet_decode() - check a packet and bring it into the CPU's order
 * @raw: a private copy of the packet
 * @limits: what the packet may touch and use
 * @packet: set up; valid when the packet is good
 * @fault_addr: set to the address that is wrong with FAULT_ADDRESS and FAULT_ALIGN, else to 0
 * Context: any; pure.
 * Return: VGPU_HW_FAULT_NONE, or the fault of the channel.
 */
enum vgpu_hw_fault soft_packet_decode(const struct vgpu_hw_packet *raw,
				      const struct soft_limits *limits,
				      struct soft_packet *packet, u64 *fault_addr)
{
	u32 op_flags = le32_to_cpu(raw->op_flags);
	const struct soft_packet_desc *desc;
	enum vgpu_hw_fault fault;

	memset(packet, 0, sizeof(*packet));
	*fault_addr = 0;
	if (raw->type >= VGPU_HW_PKT_END)
		return VGPU_HW_FAULT_PACKET;
	desc = &soft_packet_descs[array_index_nospec(raw->type, VGPU_HW_PKT_END)];
	if (!(desc->engines & BIT(limits->engine_class)) ||
	    raw->flags & ~VGPU_HW_PKT_FLAGS || op_flags & ~desc->op_flags ||
	    (limits->virt && (raw->flags & VGPU_HW_PKT_SIGNAL_SYS ||
			      op_flags & (VGPU_HW_OP_DST_SYS | VGPU_HW_OP_SRC_SYS))) ||
	    (desc->must_tell && !(raw->flags & (VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_IRQ))))
		return VGPU_HW_FAULT_PACKET;
	packet->desc = desc;
	packet->type = raw->type;
	packet->dst = le64_to_cpu(raw->dst);
	packet->dst_sys = op_flags & VGPU_HW_OP_DST_SYS;
	packet->src_sys = op_flags & VGPU_HW_OP_SRC_SYS;

	if (desc->decode)
		fault = desc->decode(raw, limits, packet, fault_addr);
	else
		fault = soft_decode_empty(raw);
	if (fault)
		return fault;

	*fault_addr = 0;
	fault = soft_decode_signal(raw, limits, packet, fault_addr);
	if (fault)
		return fault;

	*fault_addr = 0;
	if (!packet->bytes)
		packet->bytes = packet->width * packet->rows;
	return VGPU_HW_FAULT_NONE;
}

/**
 * soft_ring_check() - check a ring that is to be latched
 * @addr: address of the first packet
 * @order: log2 of the number of packets
 * @sys: the ring is in guest memory
 * @limits: the partition, and whether @addr is virtual
 * Context: any; pure.
 * Return: VGPU_HW_FAULT_NONE, or the fault of the channel.
 */
enum vgpu_hw_fault soft_ring_check(u64 addr, u32 order, bool sys,
				   const struct soft_limits *limits)
{
	if (order < VGPU_HW_RING_ORDER_MIN || order > VGPU_HW_RING_ORDER_MAX ||
	    (limits->virt && sys))
		return VGPU_HW_FAULT_RING;
	if (addr % sizeof(struct vgpu_hw_packet))
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_range_ok(addr, sizeof(struct vgpu_hw_packet) << order, sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}
