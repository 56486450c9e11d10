// SPDX-License-Identifier: GPL-2.0
/*
 * Decode and check of packets and rings. The input is a private copy of what
 * the guest wrote; what passes here can be executed without further checks of
 * the partition's bounds.
 */
#include <linux/overflow.h>
#include <linux/string.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#endif

#include "packet.h"

/* A range of memory: in the partition, or (guest memory) just not wrapping. */
static bool soft_range_ok(u64 addr, u64 len, bool sys, u64 fb_bytes)
{
	u64 end;

	if (sys)	/* the last byte may be the last one there is */
		return !check_add_overflow(addr, len - 1, &end);
	return !check_add_overflow(addr, len, &end) && end <= fb_bytes;
}

/*
 * @rows rows of @width bytes, @pitch apart. Pitch is 0 where there is one row,
 * at least @width where there are more.
 */
static bool soft_surface_ok(u64 addr, u64 width, u32 rows, u32 pitch, bool sys,
			    u64 fb_bytes)
{
	u64 span;

	if (check_mul_overflow((u64)rows - 1, (u64)pitch, &span) ||
	    check_add_overflow(span, width, &span))
		return false;
	return soft_range_ok(addr, span, sys, fb_bytes);
}

static bool soft_pitch_ok(u64 width, u32 rows, u32 pitch)
{
	return rows == 1 ? !pitch : pitch >= width;
}

static enum vgpu_hw_fault
soft_decode_signal(const struct vgpu_hw_packet *raw,
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
		if (packet->signal_sys || packet->signal_addr ||
		    packet->signal_value)
			return VGPU_HW_FAULT_PACKET;
		return VGPU_HW_FAULT_NONE;
	}
	*fault_addr = packet->signal_addr;
	if (packet->signal_addr % 8)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_range_ok(packet->signal_addr, 8, packet->signal_sys,
			   limits->fb_bytes))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault
soft_decode_fill(const struct vgpu_hw_packet *raw,
		 const struct soft_limits *limits, struct soft_packet *packet,
		 u64 *fault_addr)
{
	if (le32_to_cpu(raw->op_flags) & ~VGPU_HW_OP_DST_SYS ||
	    raw->value_pad || raw->src_pitch || raw->pad)
		return VGPU_HW_FAULT_PACKET;
	packet->value = le32_to_cpu(raw->value);
	packet->width = le64_to_cpu(raw->width);
	packet->rows = le32_to_cpu(raw->rows);
	packet->dst_pitch = le32_to_cpu(raw->dst_pitch);
	packet->src_pitch = 0;
	if (!packet->width || !packet->rows ||
	    !soft_pitch_ok(packet->width, packet->rows, packet->dst_pitch))
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = packet->dst;
	if (packet->dst % 4 || packet->width % 4 || packet->dst_pitch % 4)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_surface_ok(packet->dst, packet->width, packet->rows,
			     packet->dst_pitch, packet->dst_sys,
			     limits->fb_bytes))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault
soft_decode_copy(const struct vgpu_hw_packet *raw,
		 const struct soft_limits *limits, struct soft_packet *packet,
		 u64 *fault_addr)
{
	if (le32_to_cpu(raw->op_flags) &
	    ~(VGPU_HW_OP_DST_SYS | VGPU_HW_OP_SRC_SYS) || raw->pad)
		return VGPU_HW_FAULT_PACKET;
	packet->src = le64_to_cpu(raw->src);
	packet->width = le64_to_cpu(raw->width);
	packet->rows = le32_to_cpu(raw->rows);
	packet->dst_pitch = le32_to_cpu(raw->dst_pitch);
	packet->src_pitch = le32_to_cpu(raw->src_pitch);
	if (!packet->width || !packet->rows ||
	    !soft_pitch_ok(packet->width, packet->rows, packet->dst_pitch) ||
	    !soft_pitch_ok(packet->width, packet->rows, packet->src_pitch))
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = packet->dst;
	if (!soft_surface_ok(packet->dst, packet->width, packet->rows,
			     packet->dst_pitch, packet->dst_sys,
			     limits->fb_bytes))
		return VGPU_HW_FAULT_ADDRESS;
	*fault_addr = packet->src;
	if (!soft_surface_ok(packet->src, packet->width, packet->rows,
			     packet->src_pitch, packet->src_sys,
			     limits->fb_bytes))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault
soft_decode_present(const struct vgpu_hw_packet *raw,
		    const struct soft_limits *limits,
		    struct soft_packet *packet, u64 *fault_addr)
{
	u32 width = le32_to_cpu(raw->present_width);
	u32 height = le32_to_cpu(raw->present_height);
	u32 pitch = le32_to_cpu(raw->present_pitch);

	if (limits->engine_class != VGPU_HW_ENGINE_GR || raw->op_flags ||
	    le32_to_cpu(raw->present_format) != VGPU_HW_FORMAT_XRGB8888 ||
	    raw->rows || raw->pad || raw->dst_pitch || raw->src_pitch ||
	    !width || !height || pitch < (u64)width * 4)
		return VGPU_HW_FAULT_PACKET;

	*fault_addr = packet->dst;
	if (packet->dst % 4 || pitch % 4)
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_surface_ok(packet->dst, (u64)width * 4, height, pitch, false,
			     limits->fb_bytes))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

static enum vgpu_hw_fault soft_decode_empty(const struct vgpu_hw_packet *raw)
{
	if (raw->op_flags || raw->dst || raw->src || raw->width || raw->rows ||
	    raw->pad || raw->dst_pitch || raw->src_pitch)
		return VGPU_HW_FAULT_PACKET;
	return VGPU_HW_FAULT_NONE;
}

/*
 * Rows without gaps are one long row: fewer, larger pieces. Cannot overflow:
 * with more than one row, width is at most a 32-bit pitch.
 */
static void soft_packet_join(struct soft_packet *packet)
{
	if (packet->rows == 1 || packet->dst_pitch != packet->width)
		return;
	if (packet->type == VGPU_HW_PKT_COPY &&
	    packet->src_pitch != packet->width)
		return;
	packet->width *= packet->rows;
	packet->rows = 1;
	packet->dst_pitch = 0;
	packet->src_pitch = 0;
}

/**
 * soft_packet_decode() - check a packet and bring it into the CPU's order
 * @raw: the packet, a private copy
 * @limits: what it may touch and use
 * @packet: valid when the packet is good
 * @fault_addr: the address that is wrong, with FAULT_ADDRESS and FAULT_ALIGN
 *
 * Context: any; pure.
 * Return: VGPU_HW_FAULT_NONE, or the fault of the channel.
 */
enum vgpu_hw_fault soft_packet_decode(const struct vgpu_hw_packet *raw,
				      const struct soft_limits *limits,
				      struct soft_packet *packet,
				      u64 *fault_addr)
{
	enum vgpu_hw_fault fault;

	memset(packet, 0, sizeof(*packet));
	*fault_addr = 0;
	if (raw->flags & ~VGPU_HW_PKT_FLAGS)
		return VGPU_HW_FAULT_PACKET;
	packet->type = raw->type;
	packet->dst = le64_to_cpu(raw->dst);
	packet->dst_sys = le32_to_cpu(raw->op_flags) & VGPU_HW_OP_DST_SYS;
	packet->src_sys = le32_to_cpu(raw->op_flags) & VGPU_HW_OP_SRC_SYS;

	switch (raw->type) {
	case VGPU_HW_PKT_NOP:
		fault = soft_decode_empty(raw);
		break;
	case VGPU_HW_PKT_FENCE:
		fault = soft_decode_empty(raw);
		if (!(raw->flags & (VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_IRQ)))
			fault = VGPU_HW_FAULT_PACKET;
		break;
	case VGPU_HW_PKT_FILL:
		fault = soft_decode_fill(raw, limits, packet, fault_addr);
		break;
	case VGPU_HW_PKT_COPY:
		fault = soft_decode_copy(raw, limits, packet, fault_addr);
		break;
	case VGPU_HW_PKT_PRESENT:
		fault = soft_decode_present(raw, limits, packet, fault_addr);
		break;
	default:
		fault = VGPU_HW_FAULT_PACKET;
	}
	if (fault)
		return fault;

	*fault_addr = 0;
	fault = soft_decode_signal(raw, limits, packet, fault_addr);
	if (fault)
		return fault;

	*fault_addr = 0;
	packet->bytes = packet->width * packet->rows;
	if (packet->rows)
		soft_packet_join(packet);
	return VGPU_HW_FAULT_NONE;
}

/**
 * soft_ring_check() - check a ring that is to be latched
 * @addr: where it starts
 * @order: log2 of its packets
 * @sys: in guest memory
 * @fb_bytes: the instance's partition
 *
 * Context: any; pure.
 * Return: VGPU_HW_FAULT_NONE, or the fault of the channel.
 */
enum vgpu_hw_fault soft_ring_check(u64 addr, u32 order, bool sys, u64 fb_bytes)
{
	if (order < VGPU_HW_RING_ORDER_MIN || order > VGPU_HW_RING_ORDER_MAX)
		return VGPU_HW_FAULT_RING;
	if (addr % sizeof(struct vgpu_hw_packet))
		return VGPU_HW_FAULT_ALIGN;
	if (!soft_range_ok(addr, sizeof(struct vgpu_hw_packet) << order, sys,
			   fb_bytes))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}
