// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the records of a channel and of its packet. What is good could have come about by what a
 * guest can do, so a hostile record can do no more than a hostile guest.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#endif

#include "../memory/walk.h"
#include "channel_record.h"

static const char *soft_record_registers(const struct soft_channel_record *record,
					 const struct soft_channel_bounds *bounds)
{
	u32 ctrl = le32_to_cpu(record->ctrl), state = le32_to_cpu(record->state);

	if (le32_to_cpu(record->index) >= bounds->nr_channels)
		return "index";
	if (ctrl & ~VGPU_HW_CTRL_BITS)
		return "ctrl";
	if (!soft_walk_value_ok(le32_to_cpu(record->root)))
		return "root";
	if (state > VGPU_HW_STATE_FAULTED)
		return "state";
	if (ctrl & VGPU_HW_CTRL_ENABLE)
		return state == VGPU_HW_STATE_DISABLED ? "state" : NULL;
	return state == VGPU_HW_STATE_DISABLED ? NULL : "state";
}

static const char *soft_record_fault(const struct soft_channel_record *record)
{
	u32 code = le32_to_cpu(record->fault_code), state = le32_to_cpu(record->state);

	/* A disabled channel shows its last fault, which it loses when it is enabled. */
	if (code >= VGPU_HW_FAULT_END || (state == VGPU_HW_STATE_FAULTED && !code) ||
	    ((state == VGPU_HW_STATE_SLEEPING || state == VGPU_HW_STATE_AWAKE) && code))
		return "fault_code";
	if (code)
		return NULL;
	if (record->fault_pos)
		return "fault_pos";
	if (record->fault_addr)
		return "fault_addr";
	if (record->fault_pc)
		return "fault_pc";
	if (record->fault_id[0] || record->fault_id[1] || record->fault_id[2])
		return "fault_id";
	return NULL;
}

static const char *soft_record_disabled(const struct soft_channel_record *record)
{
	if (record->put)
		return "put";
	if (record->engine)
		return "engine";
	if (record->space)
		return "space";
	if (record->ring_addr)
		return "ring_addr";
	if (record->ring_order)
		return "ring_order";
	return record->ring_sys ? "ring_sys" : NULL;
}

static const char *soft_record_ring(const struct soft_channel_record *record, u64 fb_bytes)
{
	u64 ring = le64_to_cpu(record->ring_addr), known;
	u32 order = le32_to_cpu(record->ring_order), space = le32_to_cpu(record->space);
	const struct soft_limits limits = { .fb_bytes = fb_bytes, .virt = space };

	if (soft_ring_check(ring, order, le32_to_cpu(record->ring_sys), &limits))
		return "ring_addr";
	if (space && !soft_walk_root_ok(space, fb_bytes))
		return "space";
	known = le64_to_cpu(record->put) - le64_to_cpu(record->get);
	if (known > 1ULL << order ||
	    (known && le32_to_cpu(record->state) == VGPU_HW_STATE_SLEEPING))
		return "put";
	return NULL;
}

/**
 * soft_channel_record_check() - check all fields of a channel's record
 * @record: a private copy, or one that no thread changes
 * @bounds: what the vGPU has
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_channel_record_check(const struct soft_channel_record *record,
				      const struct soft_channel_bounds *bounds)
{
	const char *field = soft_record_registers(record, bounds) ?: soft_record_fault(record);
	u32 state = le32_to_cpu(record->state);

	if (field)
		return field;
	if (state == VGPU_HW_STATE_DISABLED)
		return soft_record_disabled(record);
	if (le32_to_cpu(record->engine) >= bounds->nr_engines)
		return "engine";
	if (le32_to_cpu(record->ring_sys) > 1)
		return "ring_sys";
	if (!soft_walk_value_ok(le32_to_cpu(record->space)))
		return "space";
	if (state != VGPU_HW_STATE_FAULTED)
		return soft_record_ring(record, bounds->fb_bytes);
	/* The engine does not look at the channel any more, and what it shows may be its fault. */
	if (record->put)
		return "put";
	return record->ring_order ? "ring_order" : NULL;
}

/**
 * soft_packet_record_check() - check the record of a packet, and decode the packet
 * @record: as above
 * @types: the packet types, by number
 * @limits: what the packet may access and use
 * @packet: set to the packet, if it is good
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_packet_record_check(const struct soft_packet_record *record,
				     const struct soft_packet_desc *types,
				     const struct soft_limits *limits, struct soft_packet *packet)
{
	u32 step = le32_to_cpu(record->step), signal = le32_to_cpu(record->signal);
	u64 addr;

	if (soft_packet_decode(types, &record->raw, limits, packet, &addr))
		return "raw";
	if (!step || step >= SOFT_RECORD_STEPS ||
	    (step == SOFT_RECORD_PACE && !packet->desc->paced) ||
	    (step == SOFT_RECORD_PREPARE && !packet->desc->prepare))
		return "step";
	/* Only the last step can have written the signal. */
	if (signal > packet->signal || (signal != packet->signal && step != SOFT_RECORD_SIGNAL))
		return "signal";
	packet->signal = signal;
	return NULL;
}
