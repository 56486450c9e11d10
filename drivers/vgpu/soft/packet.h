/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets: decode and check. No memory, no engine: compiles in user space too.
 */
#ifndef _VGPU_SOFT_PACKET_H
#define _VGPU_SOFT_PACKET_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

/**
 * struct soft_limits - what a packet is checked against
 * @fb_bytes:     the instance's partition
 * @engine_class: enum vgpu_hw_engine_class of the engine that is to execute it
 * @vectors:      MSI-X vectors
 */
struct soft_limits {
	u64 fb_bytes;
	u32 engine_class;
	u32 vectors;
};

/**
 * struct soft_packet - a packet that was found good, in the CPU's byte order
 * @type:    enum vgpu_hw_packet_type
 * @signal:  write @signal_value to @signal_addr
 * @signal_sys: in guest memory
 * @irq:     raise @vector
 * @dst_sys: @dst is in guest memory
 * @src_sys: @src is in guest memory
 * @vector:  MSI-X vector
 * @value:   FILL: the pattern
 * @dst:     destination
 * @src:     COPY: source
 * @width:   bytes per row; rows that follow each other without a gap have been
 *           joined into one
 * @rows:    rows; 0: nothing to move
 * @dst_pitch: bytes from row to row of the destination
 * @src_pitch: of the source
 * @bytes:   written by FILL and COPY
 * @signal_addr: where the signal goes
 * @signal_value: what is written there
 */
struct soft_packet {
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
};

enum vgpu_hw_fault soft_packet_decode(const struct vgpu_hw_packet *raw,
				      const struct soft_limits *limits,
				      struct soft_packet *packet,
				      u64 *fault_addr);
enum vgpu_hw_fault soft_ring_check(u64 addr, u32 order, bool sys,
				   u64 fb_bytes);

#endif /* _VGPU_SOFT_PACKET_H */
