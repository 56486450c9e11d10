// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: the calls that read what all vGPUs of a GPU did: statistics, samples, sessions. */
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "control.h"
#include "core.h"

/* Bytes of an array's element in the first version of its call. */
#define VGPU_INSTANCE_SIZE_6	1320
#define VGPU_SAMPLE_SIZE_1	112
#define VGPU_SESSION_SIZE_1	240

/* Most elements that one call gives. */
#define VGPU_SAMPLES_MAX	1024
#define VGPU_SESSIONS_MAX	256

static void stats_locked(struct vgpu_gpu *gpu, struct vgpu_ctl_stats *ctl,
			 struct vgpu_ctl_instance *entries, u32 entry_size)
{
	unsigned int i;

	memset_startat(ctl, 0, now_ns);
	vgpu_stats_gpu(gpu, ctl, entries);
	for (i = 0; i < ctl->count; i++)
		entries[i].size = min_t(u32, entry_size, sizeof(*entries));
}

/**
 * vgpu_ctl_stats() - VGPU_IOC_STATS: read a GPU and all its vGPUs
 * @arg: struct vgpu_ctl_stats, in kernel memory; its entries are in the caller's
 *
 * Return: 0, -ENODEV, -EINVAL, -E2BIG, -ENOMEM or -EFAULT.
 */
int vgpu_ctl_stats(void *arg)
{
	struct vgpu_ctl_stats *ctl = arg;
	struct vgpu_ctl_instance *entries;
	unsigned int room = ctl->count;
	struct vgpu_gpu *gpu;
	int size, ret = 0;

	BUILD_BUG_ON(sizeof(*entries) < VGPU_INSTANCE_SIZE_6);
	size = vgpu_ctl_entry_size(ctl->entry_size, VGPU_INSTANCE_SIZE_6);
	if (size < 0)
		return size;
	gpu = vgpu_gpu_find(ctl->gpu);
	if (!gpu)
		return -ENODEV;
	entries = kvcalloc(VGPU_PLACEMENT_MAX, sizeof(*entries), GFP_KERNEL);
	if (!entries) {
		ret = -ENOMEM;
		goto out_put;
	}

	mutex_lock(&gpu->lock);
	if (gpu->gone)
		ret = -ENODEV;
	else
		stats_locked(gpu, ctl, entries, size);
	mutex_unlock(&gpu->lock);

	if (!ret)
		ret = vgpu_ctl_entries_put(ctl->entries, size, entries, sizeof(*entries),
					   min(ctl->count, room));
	kvfree(entries);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_samples() - VGPU_IOC_SAMPLES: read samples of a GPU and its vGPUs
 * @arg: struct vgpu_ctl_samples, in kernel memory; its entries are in the caller's
 *
 * Return: 0, -ENODEV, -EINVAL, -E2BIG, -ENOMEM or -EFAULT.
 */
int vgpu_ctl_samples(void *arg)
{
	struct vgpu_ctl_samples *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_SAMPLES_MAX);
	struct vgpu_ctl_sample *entries;
	struct vgpu_gpu *gpu;
	int size, ret = 0;

	BUILD_BUG_ON(sizeof(*entries) < VGPU_SAMPLE_SIZE_1);
	size = vgpu_ctl_entry_size(ctl->entry_size, VGPU_SAMPLE_SIZE_1);
	if (size < 0)
		return size;
	if (ctl->pad || room < VGPU_SAMPLES_ROOM)
		return -EINVAL;
	gpu = vgpu_gpu_find(ctl->gpu);
	if (!gpu)
		return -ENODEV;
	entries = kvcalloc(room, sizeof(*entries), GFP_KERNEL);
	if (!entries) {
		ret = -ENOMEM;
		goto out_put;
	}

	mutex_lock(&gpu->lock);
	if (gpu->gone) {
		ret = -ENODEV;
	} else {
		ctl->engines = gpu->info.nr_engines;
		vgpu_sample_list(gpu, ctl, entries, room);
		ctl->now_ns = ktime_get_ns();
	}
	mutex_unlock(&gpu->lock);

	if (!ret)
		ret = vgpu_ctl_entries_put(ctl->entries, size, entries, sizeof(*entries),
					   ctl->count);
	kvfree(entries);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_sessions() - VGPU_IOC_SESSIONS: read sessions of a GPU's vGPUs
 * @arg: struct vgpu_ctl_sessions, in kernel memory; its entries are in the caller's
 *
 * Return: 0, -ENODEV, -EINVAL, -E2BIG, -ENOMEM or -EFAULT.
 */
int vgpu_ctl_sessions(void *arg)
{
	struct vgpu_ctl_sessions *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_SESSIONS_MAX);
	struct vgpu_ctl_session *entries;
	struct vgpu_gpu *gpu;
	int size, ret = 0;

	BUILD_BUG_ON(sizeof(*entries) < VGPU_SESSION_SIZE_1);
	size = vgpu_ctl_entry_size(ctl->entry_size, VGPU_SESSION_SIZE_1);
	if (size < 0)
		return size;
	gpu = vgpu_gpu_find(ctl->gpu);
	if (!gpu)
		return -ENODEV;
	entries = kvcalloc(room ?: 1, sizeof(*entries), GFP_KERNEL);
	if (!entries) {
		ret = -ENOMEM;
		goto out_put;
	}

	mutex_lock(&gpu->lock);
	if (gpu->gone) {
		ret = -ENODEV;
	} else {
		ctl->engines = gpu->info.nr_engines;
		vgpu_session_list(gpu, ctl, entries, room);
		ctl->now_ns = ktime_get_ns();
	}
	mutex_unlock(&gpu->lock);

	if (!ret)
		ret = vgpu_ctl_entries_put(ctl->entries, size, entries, sizeof(*entries),
					   ctl->count);
	kvfree(entries);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}
