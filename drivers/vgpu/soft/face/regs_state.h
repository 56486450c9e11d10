/* SPDX-License-Identifier: GPL-2.0 */
/* The device registers of a vGPU as a record. */
#ifndef _VGPU_SOFT_REGS_STATE_H
#define _VGPU_SOFT_REGS_STATE_H

#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "../queue/engine.h"

struct soft_queues;
struct vgpu_record_reader;
struct vgpu_records;

/**
 * struct soft_regs_record - the device registers
 * @intr:   VGPU_HW_INTR
 * @fault_channel: VGPU_HW_FAULT_CHANNEL
 * @guest: VGPU_HW_GUEST_INFO without the OS: any bytes
 * @service_ns: VGPU_HW_USAGE_SERVICE() of each engine: any numbers
 * @guest_os: the OS of VGPU_HW_GUEST_INFO: any bytes
 *
 * A record of hardware 1.2 ends with @guest: what follows is 0 then.
 */
struct soft_regs_record {
	__le32 intr;
	__le32 fault_channel;
	__u8 guest[offsetof(struct vgpu_hw_guest_info, os)];
	__le64 service_ns[SOFT_ENGINES];
	__u8 guest_os[sizeof_field(struct vgpu_hw_guest_info, os)];
};

const char *soft_regs_record_check(const struct soft_regs_record *record, u32 nr_channels);
void soft_regs_guest_info(struct soft_queues *queues, struct vgpu_hw_guest_info *info);
void soft_regs_save(struct soft_queues *queues, struct vgpu_records *to);
int soft_regs_load(struct soft_queues *queues, struct vgpu_record_reader *from);

#endif /* _VGPU_SOFT_REGS_STATE_H */
