/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets: what all types have in common, and the description of a type. The table of types is in
 * work/packet_types.c; card/part.c gives it to each engine. Pure logic, compiled in user space too.
 */
#ifndef _VGPU_SOFT_PACKET_H
#define _VGPU_SOFT_PACKET_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "../memory/fault.h"

#define SOFT_PACKET_OPERANDS	6	/* words of 64 bits for a packet's operands */

struct soft_channel;
struct soft_limits;
struct soft_packet;
struct soft_unit;
struct vgpu_dma;
struct vgpu_record_reader;
struct vgpu_records;

/* Why an engine stops working on a channel, or on a step of a packet. */
enum soft_end {
	SOFT_END_EMPTY,		/* the channel has no packet */
	SOFT_END_PACKET,	/* a packet, or a step of one, is complete */
	SOFT_END_STOPPED,	/* the run must stop, or addresses must be translated anew */
	SOFT_END_WAIT,		/* the channel waits for guest memory, or for pages */
	SOFT_END_PACED,		/* the channel waits for its due_ns: the frame-rate limit */
	SOFT_END_FAULT,		/* the channel faults: see struct soft_fault */
	SOFT_END_AGAIN,		/* from execute only: the packet must be prepared again */
};

/**
 * struct soft_packet_desc - a packet type: a row of an engine's table
 * @name:     name in Documentation/hardware.rst; NULL: there is no such type
 * @engines:  the engine classes that execute the type, 1 << enum vgpu_hw_engine_class each; 0:
 *            there is no such type
 * @op_flags: flags that a packet may have in struct vgpu_hw_packet.op_flags
 * @must_tell: a packet must have a signal or an interrupt
 * @paced:    the frame-rate limit may hold a packet back before it is executed
 * @decode:   check a packet's operands against the limits; set @operands and @bytes of struct
 *            soft_packet. Sets @fault_addr if it returns FAULT_ADDRESS or FAULT_ALIGN. NULL: the
 *            type has no operands, and all their fields must be 0
 * @prepare:  optional: make what the execution needs, in the engine's thread; return
 *            SOFT_END_PACKET when all is there. Until then it is called again whenever the channel
 *            can continue: with @dma, the request that it submitted, if that has completed and was
 *            not cancelled, else with NULL. Sets @fault with SOFT_END_FAULT
 * @execute:  do the packet's work on memory, in the engine's thread; return SOFT_END_PACKET when
 *            the work is complete. Until then it is called again whenever the channel can continue;
 *            soft_exec_work() has how far it has come. Sets @fault with SOFT_END_FAULT. NULL: there
 *            is nothing to do; always NULL in user space
 * @help:     optional: likewise in the thread of a unit that helps (team.h), until struct
 *            soft_unit.until_ns, until struct soft_team.leave, or until there is nothing to do;
 *            with preemption off. Also of a packet that the leader is not at: one whose execution
 *            has begun
 * @starved:  optional: the host has no memory for pages that the execution asked for: set @fault
 *            and return SOFT_END_FAULT. NULL: FAULT_MEMORY at the address that was asked for
 * @cancel:   optional: the packet faults after its preparation has begun: give back what it holds.
 *            In the engine's thread; may sleep
 * @drop:     optional: the channel is disabled; its packet, if any, may have any type: free what a
 *            packet of this type holds, and what the type keeps for later packets. May sleep
 * @begun:    optional, with @prepare: tell whether what the execution has done must be kept when
 *            the packet is put aside; else the packet is prepared anew when it is brought back
 * @put_aside: optional: the execution has begun: add what the type remembers of the packet to
 *            records. @answered: the request that it made has succeeded; one that has not is made
 *            again. The packet goes on as if nothing had happened. Sleeps
 * @bring_back: with @put_aside: check what it has added, all of which may be hostile, and remember
 *            it again. The channel has the packet, and nothing is remembered of it. Returns 0 or
 *            -errno. Sleeps
 *
 * All ops but @decode are called with the channel busy, or owned by the thread that disables it, or
 * that saves or loads the paused vGPU.
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
	enum soft_end (*execute)(struct soft_unit *unit, struct soft_channel *ch,
				 struct soft_fault *fault);
	void (*help)(struct soft_unit *unit, struct soft_channel *ch);
	enum soft_end (*starved)(struct soft_channel *ch, struct soft_fault *fault);
	void (*cancel)(struct soft_channel *ch);
	void (*drop)(struct soft_channel *ch);
	bool (*begun)(const struct soft_channel *ch);
	void (*put_aside)(const struct soft_channel *ch, bool answered, struct vgpu_records *to);
	int (*bring_back)(struct soft_channel *ch, struct vgpu_record_reader *from);
};

/**
 * struct soft_limits - what a packet is checked against
 * @fb_bytes:     length of the vGPU's framebuffer
 * @virt:         the channel has a root: addresses are virtual
 * @engine_class: enum vgpu_hw_engine_class of the engine that is to execute the packet
 * @vectors:      number of MSI-X vectors that the vGPU has
 * @num_heads:    number of heads that the vGPU has
 */
struct soft_limits {
	u64 fb_bytes;
	bool virt;
	u32 engine_class;
	u32 vectors;
	u32 num_heads;
};

/**
 * struct soft_packet - a valid packet, in the CPU's byte order
 * @desc:    row of the packet's type
 * @type:    enum vgpu_hw_packet_type
 * @signal:  write @signal_value to @signal_addr
 * @signal_sys: @signal_addr is in guest memory
 * @irq:     raise @vector
 * @vector:  MSI-X vector, below the number of vectors
 * @bytes:   bytes that the packet writes to its destination, for statistics
 * @signal_addr: address of the signal, a multiple of 8
 * @signal_value: the 64 bits that are written there
 * @operands: operands of the packet, see soft_packet_operands()
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
 * soft_packet_operands() - get the operands of a packet
 * @packet: the packet
 * @type: the structure that the packet's type uses for them; all 0 when decode is called
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
