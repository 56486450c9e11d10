/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel, and the packet that it has begun, as records: see channel_state.c. Pure logic,
 * compiled in user space too.
 */
#ifndef _VGPU_SOFT_CHANNEL_RECORD_H
#define _VGPU_SOFT_CHANNEL_RECORD_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "packet.h"

/**
 * struct soft_channel_record - a channel
 * @index:  number of the channel
 * @ctrl:   the registers as the guest wrote them: CTRL
 * @ring:   RING
 * @root:   ROOT
 * @state:  enum vgpu_hw_state
 * @get:    packets completed; of a disabled channel, when it was disabled
 * @put:    as last read, if the channel is SLEEPING or AWAKE. This and the following fields up to
 *          @ring_sys are 0 if the channel is disabled
 * @engine: what was latched when the channel was enabled: the number of the engine
 * @space:  the address space
 * @ring_addr: address of the ring
 * @ring_order: log2 of the ring's packets, if the channel is SLEEPING or AWAKE
 * @ring_sys: 1: the ring is in guest memory
 * @fault_code: enum vgpu_hw_fault, and what else the registers of a fault have
 * @fault_id: see struct soft_fault
 * @fault_pos: index of the packet
 * @fault_addr: see struct soft_fault
 * @fault_pc: likewise
 * @service_ns: as the channel's page shows it: any number; 0 if the channel is disabled
 */
struct soft_channel_record {
	__le32 index;
	__le32 ctrl;
	__le64 ring;
	__le32 root;
	__le32 state;
	__le64 get;
	__le64 put;
	__le32 engine;
	__le32 space;
	__le64 ring_addr;
	__le32 ring_order;
	__le32 ring_sys;
	__le32 fault_code;
	__le32 fault_id[3];
	__le64 fault_pos;
	__le64 fault_addr;
	__le64 fault_pc;
	__le64 service_ns;
};

/* How far a packet has come: see enum soft_step. */
enum soft_record_step {
	SOFT_RECORD_PACE = 1,	/* its frame has not been let through */
	SOFT_RECORD_PREPARE,	/* nothing is done that must be kept */
	SOFT_RECORD_BODY,	/* records of its type follow, if the type has any */
	SOFT_RECORD_SIGNAL,	/* all is done but the signal, the count and the interrupt */
	SOFT_RECORD_STEPS,
};

/**
 * struct soft_packet_record - the packet at get of the channel whose record is before
 * @raw:    as it was read from the ring
 * @step:   enum soft_record_step
 * @signal: 1: its signal has not been written
 */
struct soft_packet_record {
	struct vgpu_hw_packet raw;
	__le32 step;
	__le32 signal;
};

/**
 * struct soft_channel_bounds - what a channel's record is checked against
 * @nr_channels: number of channels that the vGPU has
 * @nr_engines: number of engines of its GPU
 * @fb_bytes: length of its vGPU's framebuffer
 */
struct soft_channel_bounds {
	u32 nr_channels;
	u32 nr_engines;
	u64 fb_bytes;
};

const char *soft_channel_record_check(const struct soft_channel_record *record,
				      const struct soft_channel_bounds *bounds);
const char *soft_packet_record_check(const struct soft_packet_record *record,
				     const struct soft_packet_desc *types,
				     const struct soft_limits *limits, struct soft_packet *packet);

#endif /* _VGPU_SOFT_CHANNEL_RECORD_H */
