// SPDX-License-Identifier: GPL-2.0
/*
 * Checks rings, and decodes what all packets have in common; the packet's type decodes the rest.
 * The input is a private copy of what the guest wrote. Physical addresses in framebuffer of a valid
 * packet are in the framebuffer, and its execution does not check them again. Virtual addresses are
 * checked when they are translated.
 */
#include <linux/bits.h>
#include <linux/nospec.h>
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
#include "../memory/walk.h"

/**
 * soft_packet_range_ok() - check a range of addresses
 * @addr: the first byte
 * @len: length in bytes, at least 1
 * @sys: the range is in guest memory
 * @limits: the vGPU's framebuffer, and whether @addr is virtual
 * Context: any; pure.
 * Return: whether the range is valid: in guest memory it must not wrap around, virtual addresses
 * must be in one half of the address space, and all others in the vGPU's framebuffer.
 */
bool soft_packet_range_ok(u64 addr, u64 len, bool sys, const struct soft_limits *limits)
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
	if (!soft_packet_range_ok(packet->signal_addr, 8, packet->signal_sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}

/* Used instead of decode for types without operands. */
static enum vgpu_hw_fault soft_decode_empty(const struct vgpu_hw_packet *raw)
{
	if (raw->dst || raw->src || raw->width || raw->rows || raw->pad ||
	    raw->dst_pitch || raw->src_pitch)
		return VGPU_HW_FAULT_PACKET;
	return VGPU_HW_FAULT_NONE;
}

/* Returns the name of a type, or NULL. @type is any number, but not one that a guest chose. */
const char *soft_packet_name(const struct soft_packet_desc *types, u64 type)
{
	return type < VGPU_HW_PKT_END ? types[type].name : NULL;
}

/**
 * soft_packet_decode() - check and decode a packet
 * @types: the table of packet types, by number
 * @raw: a private copy of the packet
 * @limits: what the packet may access and use
 * @packet: set to the decoded packet; valid only without a fault
 * @fault_addr: set to the invalid address with FAULT_ADDRESS and FAULT_ALIGN, else to 0
 * Context: any; pure.
 * Return: VGPU_HW_FAULT_NONE, or the fault of the channel.
 */
enum vgpu_hw_fault soft_packet_decode(const struct soft_packet_desc *types,
				      const struct vgpu_hw_packet *raw,
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
	desc = &types[array_index_nospec(raw->type, VGPU_HW_PKT_END)];
	if (!(desc->engines & BIT(limits->engine_class)) ||
	    raw->flags & ~VGPU_HW_PKT_FLAGS || op_flags & ~desc->op_flags ||
	    (limits->virt && (raw->flags & VGPU_HW_PKT_SIGNAL_SYS ||
			      op_flags & (VGPU_HW_OP_DST_SYS | VGPU_HW_OP_SRC_SYS))) ||
	    (desc->must_tell && !(raw->flags & (VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_IRQ))))
		return VGPU_HW_FAULT_PACKET;
	packet->desc = desc;
	packet->type = raw->type;

	if (desc->decode)
		fault = desc->decode(raw, limits, packet, fault_addr);
	else
		fault = soft_decode_empty(raw);
	if (fault)
		return fault;

	*fault_addr = 0;
	fault = soft_decode_signal(raw, limits, packet, fault_addr);
	if (!fault)
		*fault_addr = 0;
	return fault;
}

/**
 * soft_ring_check() - check the ring of a channel that is being enabled
 * @addr: address of the first packet
 * @order: log2 of the number of packets
 * @sys: the ring is in guest memory
 * @limits: the vGPU's framebuffer, and whether @addr is virtual
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
	if (!soft_packet_range_ok(addr, sizeof(struct vgpu_hw_packet) << order, sys, limits))
		return VGPU_HW_FAULT_ADDRESS;
	return VGPU_HW_FAULT_NONE;
}
