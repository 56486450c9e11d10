// SPDX-License-Identifier: GPL-2.0
/*
 * The common part of all back ends whose vGPUs follow Documentation/hardware.rst: the PCI function,
 * and the registers that identify the vGPU to a driver.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "../core.h"

/**
 * vgpu_hw_describe() - the op describe of struct vgpu_gpu_ops
 * @instance: the instance
 * @desc: filled in with the function of Documentation/hardware.rst
 *
 * The function has a display if the back end has the op scanout.
 *
 * Context: any.
 */
void vgpu_hw_describe(struct vgpu_instance *instance, struct vgpu_function_desc *desc)
{
	const struct vgpu_instance_info *info = &instance->info;

	*desc = (struct vgpu_function_desc) {
		.vendor_id = info->vga ? VGPU_HW_VGA_VENDOR_ID : VGPU_HW_VENDOR_ID,
		.device_id = info->vga ? VGPU_HW_VGA_DEVICE_ID : VGPU_HW_DEVICE_ID,
		.class = info->vga ? VGPU_HW_VGA_CLASS : VGPU_HW_CLASS,
		.region = {
			[VGPU_HW_BAR_FB] = {
				.owned_bytes = info->fb_bytes,
				.flags = VGPU_REGION_MMAP | VGPU_REGION_64BIT |
					 VGPU_REGION_PREFETCH,
			},
			[VGPU_HW_BAR_REGS] = {
				.owned_bytes = VGPU_HW_REGS_SIZE,
			},
			[VGPU_HW_BAR_CHANNELS] = {
				.owned_bytes = (u64)info->nr_channels * VGPU_HW_PAGE_SIZE,
				.flags = VGPU_REGION_MMAP | VGPU_REGION_64BIT,
			},
		},
		.vectors = VGPU_HW_VECTORS,
		.msix_bar = VGPU_HW_BAR_REGS,
		.msix_table = VGPU_HW_MSIX_TABLE,
		.msix_pba = VGPU_HW_MSIX_PBA,
	};
	/* OVMF counts a 64-bit BAR as one, so it takes BAR 3 for BAR 2. */
	if (info->vga)
		desc->region[VGPU_HW_BAR_VGA].owned_bytes = VGPU_HW_DEV_BASE;
	if (instance->gpu->ops->scanout)
		desc->plane_bytes = PAGE_ALIGN((u64)info->max_width * info->max_height * 4);
}
EXPORT_SYMBOL_GPL(vgpu_hw_describe);

static bool hw_engine(const struct vgpu_gpu_info *gpu, u32 i, u32 *value)
{
	if (i >= gpu->nr_engines)
		return false;
	i = array_index_nospec(i, gpu->nr_engines);
	*value = gpu->engines[i].engine_class << 8 | gpu->engines[i].instance;
	return true;
}

static u32 hw_word(const u8 *bytes, u32 i)
{
	return get_unaligned_le32(bytes + 4 * i);
}

static u32 hw_uuid(const struct vgpu_instance *instance, u32 i)
{
	u8 uuid[VGPU_HW_UUID_BYTES];

	BUILD_BUG_ON(sizeof(uuid) != UUID_SIZE);
	vgpu_uuid_export(uuid, &instance->uuid);
	return hw_word(uuid, array_index_nospec(i, sizeof(uuid) / 4));
}

static u32 hw_type(const struct vgpu_instance *instance, u32 i)
{
	u8 type[VGPU_HW_TYPE_BYTES] = {};

	strscpy(type, instance->type->name, sizeof(type));
	return hw_word(type, array_index_nospec(i, sizeof(type) / 4));
}

/* Those of 1.3: who the vGPU is, in the host's words. */
static noinline bool hw_name(const struct vgpu_instance *instance, u64 reg, u32 *value)
{
	switch (reg) {
	case VGPU_HW_UUID(0) ... VGPU_HW_UUID(VGPU_HW_UUID_BYTES / 4 - 1):
		*value = hw_uuid(instance, (reg - VGPU_HW_UUID(0)) / 4);
		return true;
	case VGPU_HW_TYPE(0) ... VGPU_HW_TYPE(VGPU_HW_TYPE_BYTES / 4 - 1):
		*value = hw_type(instance, (reg - VGPU_HW_TYPE(0)) / 4);
		return true;
	default:
		return false;
	}
}

/**
 * vgpu_hw_identity_word() - read a word of the registers that identify the vGPU
 * @instance: the instance
 * @offset: offset in BAR 2, a multiple of 4
 * @value: set to the word
 *
 * Like vgpu_hw_identity(), but for back ends whose accesses are mostly of 4 bytes.
 *
 * Context: any.
 * Return: true if there is such a word; else @value has not changed.
 */
bool vgpu_hw_identity_word(struct vgpu_instance *instance, u64 offset, u32 *value)
{
	const struct vgpu_gpu_info *gpu = &instance->gpu->info;
	const struct vgpu_instance_info *info = &instance->info;
	u64 reg = offset - VGPU_HW_DEV_BASE;

	switch (reg) {
	case VGPU_HW_ID:
		*value = VGPU_HW_ID_MAGIC;
		return true;
	case VGPU_HW_VERSION:
		*value = gpu->hw_version;
		return true;
	case VGPU_HW_STATUS:
		*value = vgpu_instance_quarantined(instance) ? VGPU_HW_STATUS_QUARANTINE : 0;
		return true;
	case VGPU_HW_CHANNELS:
		*value = info->nr_channels;
		return true;
	case VGPU_HW_FB_SIZE:
		*value = lower_32_bits(info->fb_bytes);
		return true;
	case VGPU_HW_FB_SIZE + 4:
		*value = upper_32_bits(info->fb_bytes);
		return true;
	case VGPU_HW_ENGINES:
		*value = gpu->nr_engines;
		return true;
	case VGPU_HW_NR_VECTORS:
		*value = VGPU_HW_VECTORS;
		return true;
	case VGPU_HW_ENGINE(0) ... VGPU_HW_ENGINE(7):
		return hw_engine(gpu, (reg - VGPU_HW_ENGINE(0)) / 4, value);
	case VGPU_HW_ENGINE_8(8) ... VGPU_HW_ENGINE_8(VGPU_HW_MAX_ENGINES - 1):
		return hw_engine(gpu, 8 + (reg - VGPU_HW_ENGINE_8(8)) / 4, value);
	default:
		return gpu->hw_version >= VGPU_HW_VERSION_1_3 && hw_name(instance, reg, value);
	}
}
EXPORT_SYMBOL_GPL(vgpu_hw_identity_word);

/**
 * vgpu_hw_identity() - read a register that identifies the vGPU
 * @instance: the instance
 * @offset: offset in BAR 2, aligned to @count
 * @buf: set to the register's value, little endian
 * @count: 1, 2, 4 or 8 bytes
 *
 * These are the registers from VGPU_HW_ID to VGPU_HW_ENGINE_8() and, of hardware of version 1.3,
 * VGPU_HW_UUID() and VGPU_HW_TYPE(). They are read-only.
 *
 * Context: any.
 * Return: true if all bytes belong to such registers; else @buf has not changed.
 */
bool vgpu_hw_identity(struct vgpu_instance *instance, u64 offset, void *buf, size_t count)
{
	__le32 words[2] = {};
	u32 i, value;

	for (i = 0; i < DIV_ROUND_UP(count, 4); i++) {
		if (!vgpu_hw_identity_word(instance, ALIGN_DOWN(offset, 4) + 4 * i, &value))
			return false;
		words[i] = cpu_to_le32(value);
	}
	memcpy(buf, (u8 *)words + offset % 4, count);
	return true;
}
EXPORT_SYMBOL_GPL(vgpu_hw_identity);
