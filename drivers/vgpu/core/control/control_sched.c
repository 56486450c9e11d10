// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/vgpu: the calls about scheduling. They read and change settings of vGPUs, GPUs and
 * partitions, and read logs and histograms of engines.
 */
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "control.h"
#include "../core.h"

#define VGPU_SHARES_MAX	256

/* Bytes of an array's element in the first version of its call. */
#define VGPU_SHARE_SIZE_1	40
#define VGPU_SWITCH_SIZE_1	80

/* Reads the caller's array, with elements of @size bytes. */
static int vgpu_ctl_shares_copy(struct vgpu_ctl_share *entries,
				const struct vgpu_ctl_shares *ctl, size_t size)
{
	u64 from = ctl->entries;
	unsigned int i;
	int ret;

	BUILD_BUG_ON(sizeof(*entries) < VGPU_SHARE_SIZE_1);
	for (i = 0; i < ctl->count; i++, from += size) {
		ret = copy_struct_from_user(&entries[i], sizeof(*entries), u64_to_user_ptr(from),
					    size);
		if (ret)
			return ret;
	}
	return 0;
}

/* The partition that a call about settings names, with a reference; NULL: there is none. */
static struct vgpu_partition *sched_partition(struct vgpu_gpu *gpu,
					      const struct vgpu_ctl_sched *ctl)
{
	return vgpu_partition_find(gpu, ctl->flags & VGPU_SCHED_OF_PARTITION ? ctl->partition : 0);
}

/**
 * vgpu_ctl_sched() - VGPU_IOC_SCHED: read the settings of a GPU or of a partition
 * @arg: struct vgpu_ctl_sched, in kernel memory
 *
 * Return: 0, -ENODEV, -ENOENT, or -EINVAL if the call names settings.
 */
int vgpu_ctl_sched(void *arg)
{
	struct vgpu_ctl_sched *ctl = arg;
	struct vgpu_partition *part;
	struct vgpu_gpu *gpu;
	int ret = -ENOENT;

	if (ctl->valid)
		return -EINVAL;
	gpu = vgpu_gpu_find(ctl->gpu);
	if (!gpu)
		return -ENODEV;
	part = sched_partition(gpu, ctl);
	if (part) {
		ret = vgpu_settings_get(part, ctl);
		vgpu_partition_put(part);
	}
	vgpu_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_sched_set() - VGPU_IOC_SCHED_SET: change the settings of a GPU or of a partition
 * @arg: struct vgpu_ctl_sched, in kernel memory
 *
 * Return: as vgpu_settings_set(), or -ENOENT.
 */
int vgpu_ctl_sched_set(void *arg)
{
	struct vgpu_ctl_sched *ctl = arg;
	struct vgpu_gpu *gpu = vgpu_gpu_find(ctl->gpu);
	struct vgpu_partition *part;
	int ret = -ENOENT;

	if (!gpu) {
		snprintf(ctl->text, sizeof(ctl->text), "no GPU %u", ctl->gpu);
		return -ENODEV;
	}
	part = sched_partition(gpu, ctl);
	if (part) {
		mutex_lock(&gpu->lock);
		ret = vgpu_settings_set(part, ctl);
		mutex_unlock(&gpu->lock);
		vgpu_partition_put(part);
	} else {
		snprintf(ctl->text, sizeof(ctl->text), "%s has no partition %u", gpu->name,
			 ctl->partition);
	}
	vgpu_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_shares_set() - VGPU_IOC_SHARES_SET: change settings of vGPUs
 * @arg: struct vgpu_ctl_shares, in kernel memory; its entries are in user memory
 *
 * Return: as vgpu_shares_set(), or -EFAULT, -E2BIG.
 */
int vgpu_ctl_shares_set(void *arg)
{
	struct vgpu_ctl_shares *ctl = arg;
	struct vgpu_ctl_share *entries;
	char why[VGPU_TEXT_LEN] = "";
	unsigned int culprit;
	guid_t uuid;
	int size, ret;

	if (!ctl->count || ctl->count > VGPU_SHARES_MAX) {
		snprintf(ctl->text, sizeof(ctl->text), "%u entries: must be 1..%u", ctl->count,
			 VGPU_SHARES_MAX);
		return -EINVAL;
	}
	size = vgpu_ctl_entry_size(ctl->entry_size, VGPU_SHARE_SIZE_1);
	if (size < 0) {
		snprintf(ctl->text, sizeof(ctl->text), "entries of %u bytes: must be %u..%u",
			 ctl->entry_size, VGPU_SHARE_SIZE_1, VGPU_CTL_SIZE_MAX);
		return size;
	}
	entries = kvcalloc(ctl->count, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (!entries) {
		snprintf(ctl->text, sizeof(ctl->text), "no memory");
		return -ENOMEM;
	}
	ret = vgpu_ctl_shares_copy(entries, ctl, size);
	if (ret) {
		snprintf(ctl->text, sizeof(ctl->text), ret == -E2BIG ?
			 "the entries have fields that this kernel does not know" :
			 "cannot read the entries");
		goto out_free;
	}
	ret = vgpu_shares_set(entries, ctl->count, &culprit, why, sizeof(why));
	if (ret) {
		vgpu_uuid_import(&uuid, entries[culprit].uuid);
		scnprintf(ctl->text, sizeof(ctl->text), "%pUl: %s", &uuid, why);
	}
out_free:
	kvfree(entries);
	return ret;
}

static int log_fill(struct vgpu_gpu *gpu, void *arg, const struct vgpu_ctl_entries *entries)
{
	struct vgpu_ctl_sched_log *ctl = arg;
	struct vgpu_partition *part;
	u32 engine = ctl->engine;

	if (engine >= gpu->info.nr_engines)
		return -ENOENT;
	engine = array_index_nospec(engine, gpu->info.nr_engines);
	part = vgpu_partition_find(gpu, ctl->partition);
	if (!part)
		return -ENOENT;
	ctl->count = vgpu_timeline_log(vgpu_sched_timeline(part->sched, engine), entries->at,
				       entries->nr, &ctl->total);
	vgpu_partition_put(part);
	return ctl->count;
}

/**
 * vgpu_ctl_sched_log() - VGPU_IOC_SCHED_LOG: read the last runs of an engine
 * @arg: struct vgpu_ctl_sched_log, in kernel memory; its entries are in user memory
 *
 * Return: as vgpu_ctl_array_read(), -ENOENT or -EINVAL.
 */
int vgpu_ctl_sched_log(void *arg)
{
	struct vgpu_ctl_sched_log *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_SCHED_LOG);
	const struct vgpu_ctl_array array = {
		.gpu = ctl->gpu,
		.to = ctl->entries,
		.entry_size = ctl->entry_size,
		.first_size = VGPU_SWITCH_SIZE_1,
		.known_size = sizeof(struct vgpu_ctl_switch),
		.nr = room,
		.room = room,
		.fill = log_fill,
	};

	BUILD_BUG_ON(sizeof(struct vgpu_ctl_switch) < VGPU_SWITCH_SIZE_1);
	if (ctl->pad)
		return -EINVAL;
	return vgpu_ctl_array_read(&array, ctl);
}

static int vgpu_ctl_hist_fill(struct vgpu_instance *instance, void *arg)
{
	struct vgpu_ctl_hist *ctl = arg;
	u32 engines = instance->gpu->info.nr_engines, engine = ctl->engine;
	struct vgpu_entity_stats s;

	if (engine >= engines)
		return -ENOENT;
	vgpu_entity_stats(&instance->entity[array_index_nospec(engine, engines)], &s);
	memcpy(ctl->wait, s.wait_hist.count, sizeof(ctl->wait));
	memcpy(ctl->overrun, s.overrun_hist.count, sizeof(ctl->overrun));
	memcpy(ctl->preempt, s.preempt_hist.count, sizeof(ctl->preempt));
	return 0;
}

/**
 * vgpu_ctl_hist() - VGPU_IOC_HIST: read the histograms of a vGPU on an engine
 * @arg: struct vgpu_ctl_hist, in kernel memory
 *
 * Return: 0, -ENODEV, -ENOENT or -EINVAL.
 */
int vgpu_ctl_hist(void *arg)
{
	struct vgpu_ctl_hist *ctl = arg;

	BUILD_BUG_ON(sizeof(ctl->wait) != sizeof(struct vgpu_hist));
	if (ctl->pad)
		return -EINVAL;
	return vgpu_instance_call(ctl->uuid, vgpu_ctl_hist_fill, arg);
}
