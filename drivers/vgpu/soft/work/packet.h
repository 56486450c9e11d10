/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets: their types, and how they are decoded and checked. Needs no memory and no engine, so
 * it compiles in user space, too.
 */
#ifndef _VGPU_SOFT_PACKET_H
#define _VGPU_SOFT_PACKET_H

#include <linux/types.h>
#include <linux/vgpu_scanout.h>
#include <uapi/linux/vgpu_hw.h>

#include "../memory/fault.h"

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
 * struct soft_packet_desc - a kind of packet: a row of the table in packet.c
 * @name:     as the manual has it (Documentation/hardware.rst); NULL: there is no such type
 * @engines:  the engine classes that execute the type, 1 << enum vgpu_hw_engine_class each; 0:
 *            there is no such type
 * @op_flags: flags that a packet may have in struct vgpu_hw_packet.op_flags
 * @must_tell: a packet must have a signal or an interrupt
 * @paced:    the frame-rate limit may hold a packet back before it is executed
 * @decode:   checks a packet's operands against the limits, and sets those fields of struct
 *            soft_packet that the type uses and soft_packet_decode() does not set. Sets
 *            @fault_addr if it returns FAULT_ADDRESS or FAULT_ALIGN. May set @bytes where that is
 *            not width * rows. NULL: the type has no operands: all their fields must be 0
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
 * @cancel:   optional: the packet faults, or its channel is being disabled, after its preparation
 *            has begun: gives back what the packet holds. In the engine's thread, or when no engine
 *            works on the channel; may sleep
 * @drop:     optional: the channel is disabled, and its packet was cancelled: frees what is kept
 *            for the channel's next packets. May sleep
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
 * @dst_sys: @dst is in guest memory
 * @src_sys: @src is in guest memory
 * @vector:  MSI-X vector, below the number of vectors
 * @value:   FILL: the pattern
 * @dst:     address of the destination; DISPATCH: of the struct vgpu_hw_program
 * @src:     COPY: address of the source; DISPATCH: of the arguments, any number
 * @width:   bytes per row; rows that follow each other without a gap have been joined into one
 * @rows:    rows; 0: nothing to move
 * @dst_pitch: bytes from row to row of the destination
 * @src_pitch: bytes from row to row of the source
 * @bytes:   bytes that the packet writes to its destination
 * @signal_addr: address that the signal is written to, a multiple of 8
 * @signal_value: the 64 bits that are written there
 * @head:    PRESENT: display that shows @scanout, below the number of heads
 * @scanout: PRESENT: the surface, in the partition; where addresses are virtual, its offset is
 *           the virtual one until the packet is executed
 * @grid:    DISPATCH: work-items per dimension, at least 1
 * @group:   DISPATCH: work-items of a group per dimension, at least 1; their product is at most
 *           VGPU_HW_GROUP_MAX
 * @local_bytes: DISPATCH: memory of a group, a multiple of 8, at most VGPU_HW_LOCAL_MAX
 */
struct soft_packet {
	const struct soft_packet_desc *desc;
	u8 type;
	bool signal;
	bool signal_sys;
	bool irq;
	bool dst_sys;
	bool src_sys;
	u16 vector;
	u32 value;
	u64 dst;
	u64 src;
	u64 width;
	u32 rows;
	u32 dst_pitch;
	u32 src_pitch;
	u64 bytes;
	u64 signal_addr;
	u64 signal_value;
	u32 head;
	struct vgpu_scanout scanout;
	u32 grid[3];
	u32 group[3];
	u32 local_bytes;
};

/**
 * struct soft_program_head - a struct vgpu_hw_program that was found good, in the CPU's byte order
 * @image:    address of the image
 * @image_bytes: length of the image
 * @text_bytes: how much of it is instructions
 * @entry:    offset of the first instruction
 * @private_bytes: private memory of a work-item
 */
struct soft_program_head {
	u64 image;
	u32 image_bytes;
	u32 text_bytes;
	u32 entry;
	u32 private_bytes;
};

/* packet.c */
const char *soft_packet_name(u64 type);
void soft_packet_drop(struct soft_channel *ch);
enum vgpu_hw_fault soft_packet_decode(const struct vgpu_hw_packet *raw,
				      const struct soft_limits *limits,
				      struct soft_packet *packet, u64 *fault_addr);
enum vgpu_hw_fault soft_ring_check(u64 addr, u32 order, bool sys,
				   const struct soft_limits *limits);

/* head.c */
enum vgpu_hw_fault soft_program_decode(const struct vgpu_hw_program *raw,
				       const struct soft_limits *limits,
				       const struct soft_packet *packet,
				       struct soft_program_head *head, u64 *fault_addr);

/* move.c: execute functions of struct soft_packet_desc */
enum soft_end soft_move_fill(struct soft_engine *engine, struct soft_channel *ch,
			     struct soft_fault *fault);
enum soft_end soft_move_copy(struct soft_engine *engine, struct soft_channel *ch,
			     struct soft_fault *fault);

/* display.c: likewise */
enum soft_end soft_display_present(struct soft_engine *engine, struct soft_channel *ch,
				   struct soft_fault *fault);

/* dispatch.c: likewise, and its other functions */
enum soft_end soft_dispatch_prepare(struct soft_channel *ch, const struct vgpu_dma *dma,
				    struct soft_fault *fault);
enum soft_end soft_dispatch(struct soft_engine *engine, struct soft_channel *ch,
			    struct soft_fault *fault);
enum soft_end soft_dispatch_fault(struct soft_channel *ch, struct soft_fault *fault);

/* context.c: likewise */
void soft_context_end(struct soft_channel *ch);
void soft_context_exit(struct soft_channel *ch);

#endif /* _VGPU_SOFT_PACKET_H */
