/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets: what is the same for all types, and what a type is. Which types there are is said by a
 * table that an engine is given (work/packet_types.c). Needs no memory and no engine, so it
 * compiles in user space, too.
 */
#ifndef _VGPU_SOFT_PACKET_H
#define _VGPU_SOFT_PACKET_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "../memory/fault.h"

#define SOFT_PACKET_OPERANDS	6	/* words of 64 bits for the operands of a type */

struct soft_channel;
struct soft_engine;
struct soft_limits;
struct soft_packet;
struct vgpu_dma;

/* How an engine leaves a channel. */
enum soft_end {
	SOFT_END_EMPTY,		/* the channel has no packet */
	SOFT_END_PACKET,	/* a packet, or a step of one, is complete */
	SOFT_END_STOPPED,	/* to stop, or to translate anew; the packet goes on later */
	SOFT_END_WAIT,		/* the channel waits for guest memory, or for pages */
	SOFT_END_PACED,		/* the channel goes on at its due_ns */
	SOFT_END_FAULT,		/* the channel cannot go on: see struct soft_fault */
	SOFT_END_AGAIN,		/* the packet is to be prepared again (of execute only) */
};

/**
 * struct soft_packet_desc - a packet type: a row of an engine's table
 * @name:     as the manual has it (Documentation/hardware.rst); NULL: there is no such type
 * @engines:  the engine classes that execute the type, 1 << enum vgpu_hw_engine_class each; 0:
 *            there is no such type
 * @op_flags: flags that a packet may have in struct vgpu_hw_packet.op_flags
 * @must_tell: a packet must have a signal or an interrupt
 * @paced:    the frame-rate limit may hold a packet back before it is executed
 * @decode:   checks a packet's operands against the limits, and sets those that the type has in
 *            struct soft_packet, and @bytes there. Sets @fault_addr if it returns FAULT_ADDRESS or
 *            FAULT_ALIGN. NULL: the type has no operands: all their fields must be 0
 * @prepare:  optional: makes what the execution needs, in the engine's thread, and returns
 *            SOFT_END_PACKET when that is there. Until then it is called again whenever the channel
 *            can go on: with @dma, the request that it has submitted, if that has completed and was
 *            not cancelled, else with NULL. It sets @fault with SOFT_END_FAULT
 * @execute:  does a packet's work on memory, in the engine's thread. It returns SOFT_END_PACKET
 *            when the work is complete. Until then it is called again whenever the channel can
 *            go on, and finds in struct soft_exec how far it has come. It sets @fault with
 *            SOFT_END_FAULT. NULL: there is nothing to do; also in user space
 * @starved:  optional: pages that the execution has asked for cannot be had: sets @fault, and
 *            returns SOFT_END_FAULT. NULL: FAULT_MEMORY at the address that was asked for
 * @cancel:   optional: the packet faults, after its preparation has begun: gives back what it
 *            holds. In the engine's thread; may sleep
 * @drop:     optional: the channel is disabled, with a packet of any type or none: frees what one
 *            of this type holds, and what the type keeps for the next ones. May sleep
 *
 * All but @decode are called with the channel busy, or owned by the thread that disables it.
 */
struct soft_packet_desc {
	const char *name;
	u8 engines;
	u8 op_flags;
	bool must_tell;
	bool paced;
	enum vgpu_hw_fault (*decode)(const struct vgpu_hw_packet *raw,
				     const struct soft_limits *limits,
				     struct soft_packet *packet, u64 *fault_addr);
	enum soft_end (*prepare)(struct soft_channel *ch, const struct vgpu_dma *dma,
				 struct soft_fault *fault);
	enum soft_end (*execute)(struct soft_engine *engine, struct soft_channel *ch,
				 struct soft_fault *fault);
	enum soft_end (*starved)(struct soft_channel *ch, struct soft_fault *fault);
	void (*cancel)(struct soft_channel *ch);
	void (*drop)(struct soft_channel *ch);
};

/**
 * struct soft_limits - what a packet is checked against
 * @fb_bytes:     length of the vGPU's framebuffer partition
 * @virt:         the channel has a root: addresses are virtual
 * @engine_class: enum vgpu_hw_engine_class of the engine that is to execute the packet
 * @vectors:      number of MSI-X vectors that the vGPU has
 * @num_heads:    number of displays that the vGPU has
 */
struct soft_limits {
	u64 fb_bytes;
	bool virt;
	u32 engine_class;
	u32 vectors;
	u32 num_heads;
};

/**
 * struct soft_packet - a packet that was found good, in the CPU's byte order
 * @desc:    row of the packet's type
 * @type:    enum vgpu_hw_packet_type
 * @signal:  write @signal_value to @signal_addr
 * @signal_sys: @signal_addr is in guest memory
 * @irq:     raise @vector
 * @vector:  MSI-X vector, below the number of vectors
 * @bytes:   bytes that the packet writes to its destination
 * @signal_addr: address that the signal is written to, a multiple of 8
 * @signal_value: the 64 bits that are written there
 * @operands: the type's own, see soft_packet_operands()
 */
struct soft_packet {
	const struct soft_packet_desc *desc;
	u8 type;
	bool signal;
	bool signal_sys;
	bool irq;
	u16 vector;
	u64 bytes;
	u64 signal_addr;
	u64 signal_value;
	u64 operands[SOFT_PACKET_OPERANDS];
};

/**
 * soft_packet_operands() - the operands of a packet
 * @packet: the packet
 * @type: the structure that its type has for them; 0 when it is decoded
 */
#define soft_packet_operands(packet, type) ({				\
	BUILD_BUG_ON(sizeof(type) > sizeof((packet)->operands));	\
	(type *)(packet)->operands;					\
})

const char *soft_packet_name(const struct soft_packet_desc *types, u64 type);
bool soft_packet_range_ok(u64 addr, u64 len, bool sys, const struct soft_limits *limits);
enum vgpu_hw_fault soft_packet_decode(const struct soft_packet_desc *types,
				      const struct vgpu_hw_packet *raw,
				      const struct soft_limits *limits,
				      struct soft_packet *packet, u64 *fault_addr);
enum vgpu_hw_fault soft_ring_check(u64 addr, u32 order, bool sys,
				   const struct soft_limits *limits);

#endif /* _VGPU_SOFT_PACKET_H */
