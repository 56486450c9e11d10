// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: the calls that tell what a vGPU is for a move, and whether two vGPUs fit. */
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "control.h"
#include "../core.h"
#include "../objects/about.h"

#define VGPU_ABOUT_MAX	0x100000	/* bytes of a caller's description */

/**
 * struct migration_of - what a call is about
 * @gpu:   id of the GPU
 * @type:  index of the type
 * @can:   VGPU_MIGRATION_*
 * @about: the description
 */
struct migration_of {
	u32 gpu;
	u32 type;
	u32 can;
	struct vgpu_stream_about about;
};

static int of_instance(struct vgpu_instance *instance, void *arg)
{
	struct migration_of *of = arg;

	of->gpu = instance->gpu->id;
	of->type = instance->type->index;
	of->can = vgpu_gpu_can_move(instance->gpu);
	vgpu_instance_about(instance, &of->about);
	return 0;
}

static int of_type(u32 id, u32 index, struct migration_of *of)
{
	struct vgpu_gpu *gpu = vgpu_gpu_find(id);
	int ret = -ENODEV;

	if (!gpu)
		return -ENODEV;
	if (!vgpu_gpu_enter(gpu))
		goto out_put;
	ret = -ENOENT;
	if (index < gpu->nr_types) {
		index = array_index_nospec(index, gpu->nr_types);
		of->gpu = id;
		of->type = index;
		of->can = vgpu_gpu_can_move(gpu);
		vgpu_type_about(gpu, &gpu->types[index], &of->about);
		ret = 0;
	}
	vgpu_gpu_leave(gpu);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}

/* What a call names: a type of a GPU, or a vGPU by its UUID. */
static int of_call(u32 flags, u32 gpu, u32 type, const __u8 *uuid, struct migration_of *of)
{
	if (flags & VGPU_MIGRATION_OF_TYPE)
		return of_type(gpu, type, of);
	return vgpu_instance_call(uuid, of_instance, of);
}

/**
 * vgpu_ctl_migration() - VGPU_IOC_MIGRATION: read what a vGPU is for a move
 * @arg: struct vgpu_ctl_migration, in kernel memory
 *
 * Return: 0, -ENODEV, -ENOENT, -EINVAL or -EFAULT.
 */
int vgpu_ctl_migration(void *arg)
{
	struct vgpu_ctl_migration *ctl = arg;
	u32 room = ctl->about_bytes;
	struct migration_of of;
	int ret;

	if (ctl->pad)
		return -EINVAL;
	ret = of_call(ctl->flags, ctl->gpu, ctl->type_index, ctl->uuid, &of);
	if (ret)
		return ret;
	ctl->gpu = of.gpu;
	ctl->type_index = of.type;
	ctl->about_bytes = sizeof(of.about);
	ctl->can = of.can;
	ctl->writes = VGPU_STREAM_VERSION;
	ctl->reads_from = VGPU_STREAM_OLDEST;
	ctl->reads_to = VGPU_STREAM_VERSION;
	if (copy_to_user(u64_to_user_ptr(ctl->about), &of.about,
			 min_t(size_t, room, sizeof(of.about))))
		return -EFAULT;
	return 0;
}

/**
 * vgpu_ctl_migration_check() - VGPU_IOC_MIGRATION_CHECK: can a vGPU take over another one's state?
 * @arg: struct vgpu_ctl_migration_check, in kernel memory
 *
 * Return: 0 with the answer in @arg; or -ENODEV, -ENOENT, -E2BIG, -EFAULT.
 */
int vgpu_ctl_migration_check(void *arg)
{
	struct vgpu_ctl_migration_check *ctl = arg;
	struct vgpu_stream_about theirs = {};
	struct migration_of of;
	int ret;

	BUILD_BUG_ON(sizeof(ctl->text) != VGPU_TEXT_LEN);
	if (ctl->about_bytes > VGPU_ABOUT_MAX)
		return -E2BIG;
	ret = of_call(ctl->flags, ctl->gpu, ctl->type_index, ctl->uuid, &of);
	if (ret)
		return ret;
	/* What is too short keeps no magic. What is longer says who can read it. */
	if (ctl->about_bytes >= sizeof(theirs) &&
	    copy_from_user(&theirs, u64_to_user_ptr(ctl->about), sizeof(theirs)))
		return -EFAULT;
	ctl->fits = of.can && vgpu_about_fits(&of.about, &theirs, ctl->text, sizeof(ctl->text));
	if (!of.can)
		snprintf(ctl->text, sizeof(ctl->text),
			 "the vGPUs of GPU %u cannot move: its driver has no such call", of.gpu);
	return 0;
}
