// SPDX-License-Identifier: GPL-2.0
/*
 * How much framebuffer the vGPUs of all software GPUs may have together.
 *
 * Framebuffer becomes host memory when it is touched, and a GPU may have more of it than the
 * host has memory. So the framebuffer that is promised to vGPUs is limited by the host's memory:
 * by all of it, which is constant, and not by the part that is free, so that available_instances
 * changes with vGPUs only.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/vgpu.h>

#include "admit.h"

#define SOFT_OVERCOMMIT_MAX	10000

static unsigned int fb_overcommit = 100;

static int soft_overcommit_set(const char *text, const struct kernel_param *kp)
{
	return param_set_uint_minmax(text, kp, 0, SOFT_OVERCOMMIT_MAX);
}

static const struct kernel_param_ops soft_overcommit_ops = {
	.set = soft_overcommit_set,
	.get = param_get_uint,
};

module_param_cb(fb_overcommit, &soft_overcommit_ops, &fb_overcommit, 0644);
__MODULE_PARM_TYPE(fb_overcommit, "uint");
MODULE_PARM_DESC(fb_overcommit, "Framebuffer of all vGPUs together, in percent of host memory, 0..10000; 0: no limit (100)");

static DEFINE_RAW_SPINLOCK(soft_admit_lock);	/* protects soft_admitted; readers take it */
static u64 soft_admitted;		/* framebuffer bytes of all vGPUs there are */

static u64 soft_admit_limit(unsigned int percent)
{
	return mul_u64_u32_div((u64)totalram_pages() << PAGE_SHIFT, percent, 100);
}

static u64 soft_admit_left(unsigned int percent)
{
	u64 limit;

	lockdep_assert_held(&soft_admit_lock);
	if (!percent)
		return U64_MAX;
	limit = soft_admit_limit(percent);
	return limit > soft_admitted ? limit - soft_admitted : 0;
}

/*
 * struct vgpu_gpu_ops.fb_room: how many bytes of framebuffer new vGPUs may have. The answer is the
 * same for all software GPUs. Does not sleep.
 */
u64 soft_admit_room(struct vgpu_gpu *vgpu)
{
	u64 left;

	raw_spin_lock(&soft_admit_lock);
	left = soft_admit_left(READ_ONCE(fb_overcommit));
	raw_spin_unlock(&soft_admit_lock);
	return left;
}

/**
 * soft_admit() - promise a vGPU its framebuffer
 * @vgpu: the new vGPU
 * @info: its framebuffer and type
 * @gpu_name: name of the GPU, for the message of a refusal
 * Context: may sleep.
 * Return: 0, to be undone by soft_admit_end(), or -ENOSPC, for which the log has the reason.
 */
int soft_admit(struct vgpu_instance *vgpu, const struct vgpu_instance_info *info,
	       const char *gpu_name)
{
	unsigned int percent = READ_ONCE(fb_overcommit);
	u64 left;

	raw_spin_lock(&soft_admit_lock);
	left = soft_admit_left(percent);
	if (left >= info->fb_bytes)
		soft_admitted += info->fb_bytes;
	raw_spin_unlock(&soft_admit_lock);
	if (left >= info->fb_bytes)
		return 0;
	return vgpu_refuse(vgpu, -ENOSPC,
			   "%s on %s: host memory: %llu MiB wanted, %llu of %llu MiB left for vGPUs, %llu MiB would fit; vgpu_soft.fb_overcommit=%u sets that (%% of host memory, 0: no limit)",
			   info->type_name, gpu_name, info->fb_bytes >> 20, left >> 20,
			   soft_admit_limit(percent) >> 20, left >> 30 << 10, percent);
}

/* Undoes soft_admit() of a framebuffer whose memory has been given back. May sleep. */
void soft_admit_end(u64 fb_bytes)
{
	raw_spin_lock(&soft_admit_lock);
	soft_admitted -= fb_bytes;
	raw_spin_unlock(&soft_admit_lock);
}
