// SPDX-License-Identifier: GPL-2.0
/* What a vGPU, or a new one of a type, is for one that is to take over its state. */
#include <linux/minmax.h>
#include <linux/string.h>

#include "../core.h"
#include "about.h"

/**
 * vgpu_gpu_can_move() - tell how vGPUs of a GPU can move
 * @gpu: the GPU
 *
 * Context: any.
 * Return: VGPU_MIGRATION_*; 0 if its back end cannot do that.
 */
u32 vgpu_gpu_can_move(const struct vgpu_gpu *gpu)
{
	if (!gpu->ops->state_save || !gpu->ops->dirty_start)
		return 0;
	return VGPU_MIGRATION_STOP_COPY | VGPU_MIGRATION_PRE_COPY;
}

/* Fills in what belongs to the GPU; the rest is 0. */
static void about_gpu(const struct vgpu_gpu_info *info, struct vgpu_stream_about *about)
{
	u32 i;

	*about = (struct vgpu_stream_about){
		.version = cpu_to_le16(VGPU_STREAM_VERSION),
		.least = cpu_to_le16(VGPU_STREAM_VERSION),
		.hw_version = cpu_to_le32(info->hw_version),
		.engines = cpu_to_le32(info->nr_engines),
	};
	memcpy(about->magic, VGPU_STREAM_MAGIC, sizeof(about->magic));
	strscpy(about->board, info->board, sizeof(about->board));
	for (i = 0; i < min_t(u32, info->nr_engines, VGPU_STREAM_ENGINES); i++)
		about->engine[i] = cpu_to_le32(info->engines[i].engine_class << 8 |
					       info->engines[i].instance);
}

/**
 * vgpu_instance_about() - describe a vGPU
 * @instance: the vGPU; if it is not open, it is described as the next open will make it
 * @about: set
 *
 * Context: any, without the lock of the GPU's data.
 */
void vgpu_instance_about(struct vgpu_instance *instance, struct vgpu_stream_about *about)
{
	const struct vgpu_instance_info *info = &instance->info;
	struct vgpu_ctl_share settings;
	bool vga = info->vga;

	if (!READ_ONCE(instance->started_ns)) {
		vgpu_shares_get(instance, &settings);
		vga = settings.vga;
	}
	about_gpu(&instance->gpu->info, about);
	strscpy(about->type, info->type_name, sizeof(about->type));
	about->fb_bytes = cpu_to_le64(info->fb_bytes);
	about->channels = cpu_to_le32(info->nr_channels);
	about->heads = cpu_to_le32(info->num_heads);
	about->max_width = cpu_to_le32(info->max_width);
	about->max_height = cpu_to_le32(info->max_height);
	about->vga = cpu_to_le32(vga);
}

/**
 * vgpu_type_about() - describe a new vGPU of a type
 * @gpu: the GPU
 * @type: one of its types
 * @about: set; its vGPUs may have a channel more than it says, and be VGA cards or not
 *
 * Context: any.
 */
void vgpu_type_about(const struct vgpu_gpu *gpu, const struct vgpu_type *type,
		     struct vgpu_stream_about *about)
{
	about_gpu(&gpu->info, about);
	strscpy(about->type, type->name, sizeof(about->type));
	about->fb_bytes = cpu_to_le64((u64)type->size_gb << 30);
	about->channels = cpu_to_le32(type->channels);
	about->heads = cpu_to_le32(type->num_heads);
	about->max_width = cpu_to_le32(type->max_width);
	about->max_height = cpu_to_le32(type->max_height);
	about->vga = cpu_to_le32(VGPU_STREAM_VGA_ANY);
}
