// SPDX-License-Identifier: GPL-2.0
/*
 * The device registers as bytes in memory: what the host shows of them, and the record of a paused
 * vGPU's registers, which is saved, and from which they are set.
 */
#include <linux/string.h>
#include <asm/byteorder.h>

#include "../queue/queues.h"
#include "../state/records.h"
#include "regs_state.h"

/**
 * soft_regs_guest_info() - struct vgpu_gpu_ops.guest_info
 * @queues: queues of the vGPU
 * @info: set to the registers VGPU_HW_GUEST_INFO
 * Context: any; takes queue_lock.
 */
void soft_regs_guest_info(struct soft_queues *queues, struct vgpu_hw_guest_info *info)
{
	__le32 words[SOFT_GUEST_WORDS];
	unsigned int i;

	raw_spin_lock(&queues->queue_lock);
	for (i = 0; i < SOFT_GUEST_WORDS; i++)
		words[i] = cpu_to_le32(queues->regs.guest_info[i]);
	raw_spin_unlock(&queues->queue_lock);
	memcpy(info, words, sizeof(*info));
}

/**
 * soft_regs_save() - save the device registers
 * @queues: queues of the vGPU
 * @to: add the record there
 * Context: no trapped write is under way; sleeps.
 */
void soft_regs_save(struct soft_queues *queues, struct vgpu_records *to)
{
	struct soft_regs_record *record = vgpu_record_add(to, SOFT_RECORD_DEVICE, sizeof(*record));
	struct vgpu_hw_guest_info info;

	if (!record)
		return;
	soft_regs_guest_info(queues, &info);
	memcpy(record->guest, &info, sizeof(record->guest));
	memcpy(record->guest_os, info.os, sizeof(record->guest_os));
	soft_usage_save(queues, record->service_ns);
	raw_spin_lock(&queues->queue_lock);
	record->intr = cpu_to_le32(queues->regs.intr);
	record->fault_channel = cpu_to_le32(queues->regs.fault_channel);
	raw_spin_unlock(&queues->queue_lock);
}

/**
 * soft_regs_record_check() - check all fields of a record of the device registers
 * @record: one that no thread changes
 * @nr_channels: number of channels that the vGPU has
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_regs_record_check(const struct soft_regs_record *record, u32 nr_channels)
{
	u32 fault_channel = le32_to_cpu(record->fault_channel);

	if (le32_to_cpu(record->intr) & ~VGPU_HW_INTR_CAUSES)
		return "intr";
	if (fault_channel != ~0U && fault_channel >= nr_channels)
		return "fault_channel";
	return NULL;
}

/**
 * soft_regs_load() - set the device registers from their record
 * @queues: queues of the vGPU
 * @from: the record comes next
 * Context: as soft_regs_save().
 * Return: 0, or -EINVAL with the reason in @from.
 */
int soft_regs_load(struct soft_queues *queues, struct vgpu_record_reader *from)
{
	__le32 guest[SOFT_GUEST_WORDS];
	struct soft_regs_record record;
	struct soft_regs regs = {};
	const char *field;
	unsigned int i;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_DEVICE, "device", &record, guest);
	if (ret)
		return ret;
	field = soft_regs_record_check(&record, queues->nr_channels);
	if (field)
		return vgpu_record_refuse(from, "device", field);
	memcpy(guest, record.guest, sizeof(record.guest));
	memcpy((u8 *)guest + sizeof(record.guest), record.guest_os, sizeof(record.guest_os));
	for (i = 0; i < SOFT_GUEST_WORDS; i++)
		regs.guest_info[i] = le32_to_cpu(guest[i]);
	regs.intr = le32_to_cpu(record.intr);
	regs.fault_channel = le32_to_cpu(record.fault_channel);
	soft_usage_load(queues, &regs, record.service_ns);
	raw_spin_lock(&queues->queue_lock);
	queues->regs = regs;
	raw_spin_unlock(&queues->queue_lock);
	return 0;
}
