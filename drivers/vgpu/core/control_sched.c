// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/vgpu: the scheduler. What is set, what it did.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "control.h"
#include "core.h"

#define VGPU_SHARES_MAX	256

/**
 * vgpu_ctl_sched() - VGPU_IOC_SCHED
 * @arg: struct vgpu_ctl_sched
 *
 * Return: 0, -ENODEV, or -EINVAL if something is to be set.
 */
int vgpu_ctl_sched(void *arg)
{
	struct vgpu_ctl_sched *ctl = arg;
	struct vgpu_gpu *gpu;
	int ret;

	if (ctl->valid)
		return -EINVAL;
	gpu = vgpu_gpu_find(ctl->gpu);
	if (!gpu)
		return -ENODEV;
	ret = vgpu_settings_get(gpu, ctl);
	vgpu_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_sched_set() - VGPU_IOC_SCHED_SET
 * @arg: struct vgpu_ctl_sched
 *
 * Return: as vgpu_settings_set().
 */
int vgpu_ctl_sched_set(void *arg)
{
	struct vgpu_ctl_sched *ctl = arg;
	struct vgpu_gpu *gpu = vgpu_gpu_find(ctl->gpu);
	int ret;

	if (!gpu) {
		snprintf(ctl->text, sizeof(ctl->text), "no GPU %u", ctl->gpu);
		return -ENODEV;
	}
	ret = vgpu_settings_set(gpu, ctl);
	vgpu_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_shares_set() - VGPU_IOC_SHARES_SET
 * @arg: struct vgpu_ctl_shares
 *
 * Return: as vgpu_shares_set(), or -EFAULT.
 */
int vgpu_ctl_shares_set(void *arg)
{
	struct vgpu_ctl_shares *ctl = arg;
	struct vgpu_ctl_share *entries;
	char why[VGPU_TEXT_LEN] = "";
	unsigned int culprit;
	guid_t uuid;
	int ret;

	if (!ctl->count || ctl->count > VGPU_SHARES_MAX || ctl->pad) {
		snprintf(ctl->text, sizeof(ctl->text),
			 "%u entries: must be 1..%u, and what is reserved must be 0",
			 ctl->count, VGPU_SHARES_MAX);
		return -EINVAL;
	}
	entries = vmemdup_array_user(u64_to_user_ptr(ctl->entries), ctl->count,
				     sizeof(*entries));
	if (IS_ERR(entries)) {
		snprintf(ctl->text, sizeof(ctl->text), "cannot read the entries");
		return PTR_ERR(entries);
	}
	ret = vgpu_shares_set(entries, ctl->count, &culprit, why, sizeof(why));
	if (ret) {
		vgpu_uuid_import(&uuid, entries[culprit].uuid);
		scnprintf(ctl->text, sizeof(ctl->text), "%pUl: %s", &uuid, why);
	}
	kvfree(entries);
	return ret;
}

/**
 * vgpu_ctl_sched_log() - VGPU_IOC_SCHED_LOG
 * @arg: struct vgpu_ctl_sched_log
 *
 * Return: 0, -ENODEV, -ENOENT, -EINVAL, -ENOMEM or -EFAULT.
 */
int vgpu_ctl_sched_log(void *arg)
{
	struct vgpu_ctl_sched_log *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_SCHED_LOG);
	struct vgpu_ctl_switch *entries;
	struct vgpu_gpu *gpu;
	int ret = 0;

	if (ctl->pad)
		return -EINVAL;
	gpu = vgpu_gpu_find(ctl->gpu);
	if (!gpu)
		return -ENODEV;
	entries = kvcalloc(room ?: 1, sizeof(*entries), GFP_KERNEL);
	if (!entries) {
		ret = -ENOMEM;
		goto out_put;
	}

	mutex_lock(&gpu->lock);
	if (gpu->gone)
		ret = -ENODEV;
	else if (ctl->engine >= gpu->info.nr_engines)
		ret = -ENOENT;
	else
		ctl->count = vgpu_timeline_log(vgpu_sched_timeline(gpu->sched,
								   ctl->engine),
					       entries, room, &ctl->total);
	mutex_unlock(&gpu->lock);

	if (!ret && copy_to_user(u64_to_user_ptr(ctl->entries), entries,
				 ctl->count * sizeof(*entries)))
		ret = -EFAULT;
	kvfree(entries);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}

static int vgpu_ctl_hist_locked(struct vgpu_instance *instance, void *arg)
{
	struct vgpu_ctl_hist *ctl = arg;
	struct vgpu_entity_stats s;

	if (ctl->engine >= instance->gpu->info.nr_engines)
		return -ENOENT;
	vgpu_entity_stats(&instance->entity[ctl->engine], &s);
	memcpy(ctl->wait, s.wait_hist.count, sizeof(ctl->wait));
	memcpy(ctl->overrun, s.overrun_hist.count, sizeof(ctl->overrun));
	memcpy(ctl->preempt, s.preempt_hist.count, sizeof(ctl->preempt));
	return 0;
}

/**
 * vgpu_ctl_hist() - VGPU_IOC_HIST
 * @arg: struct vgpu_ctl_hist
 *
 * Return: 0, -ENODEV, -ENOENT or -EINVAL.
 */
int vgpu_ctl_hist(void *arg)
{
	struct vgpu_ctl_hist *ctl = arg;

	BUILD_BUG_ON(sizeof(ctl->wait) != sizeof(struct vgpu_hist));
	if (ctl->pad)
		return -EINVAL;
	return vgpu_ctl_with_instance(ctl->uuid, arg, vgpu_ctl_hist_locked);
}
