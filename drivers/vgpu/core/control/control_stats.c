// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: the calls that read statistics, samples and sessions of all vGPUs of a GPU. */
#include <linux/timekeeping.h>

#include "control.h"
#include "../core.h"

/* Bytes of an array's element in the first version of its call. */
#define VGPU_INSTANCE_SIZE_6	1320
#define VGPU_SAMPLE_SIZE_1	112
#define VGPU_SESSION_SIZE_1	240

/* Maximum number of elements that one call returns. */
#define VGPU_SAMPLES_MAX	1024
#define VGPU_SESSIONS_MAX	256

static int stats_fill(struct vgpu_gpu *gpu, void *arg, void *array, unsigned int nr)
{
	struct vgpu_ctl_instance *entries = array;
	struct vgpu_ctl_stats *ctl = arg;
	u32 size = min_t(u32, ctl->entry_size ?: VGPU_INSTANCE_SIZE_6, sizeof(*entries));
	unsigned int i;

	memset_startat(ctl, 0, now_ns);
	vgpu_stats_gpu(gpu, ctl, entries);
	for (i = 0; i < ctl->count; i++)
		entries[i].size = size;
	return ctl->count;
}

/**
 * vgpu_ctl_stats() - VGPU_IOC_STATS: read a GPU and all its vGPUs
 * @arg: struct vgpu_ctl_stats, in kernel memory; its entries are in user memory
 *
 * Return: as vgpu_ctl_array_read().
 */
int vgpu_ctl_stats(void *arg)
{
	struct vgpu_ctl_stats *ctl = arg;
	const struct vgpu_ctl_array array = {
		.gpu = ctl->gpu,
		.to = ctl->entries,
		.entry_size = ctl->entry_size,
		.first_size = VGPU_INSTANCE_SIZE_6,
		.known_size = sizeof(struct vgpu_ctl_instance),
		.nr = VGPU_PLACEMENT_MAX,
		.room = ctl->count,
		.fill = stats_fill,
	};

	BUILD_BUG_ON(sizeof(struct vgpu_ctl_instance) < VGPU_INSTANCE_SIZE_6);
	return vgpu_ctl_array_read(&array, ctl);
}

static int samples_fill(struct vgpu_gpu *gpu, void *arg, void *entries, unsigned int nr)
{
	struct vgpu_ctl_samples *ctl = arg;

	ctl->engines = gpu->info.nr_engines;
	vgpu_sample_list(gpu, ctl, entries, nr);
	ctl->now_ns = ktime_get_ns();
	return ctl->count;
}

/**
 * vgpu_ctl_samples() - VGPU_IOC_SAMPLES: read samples of a GPU and its vGPUs
 * @arg: struct vgpu_ctl_samples, in kernel memory; its entries are in user memory
 *
 * Return: as vgpu_ctl_array_read().
 */
int vgpu_ctl_samples(void *arg)
{
	struct vgpu_ctl_samples *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_SAMPLES_MAX);
	const struct vgpu_ctl_array array = {
		.gpu = ctl->gpu,
		.to = ctl->entries,
		.entry_size = ctl->entry_size,
		.first_size = VGPU_SAMPLE_SIZE_1,
		.known_size = sizeof(struct vgpu_ctl_sample),
		.nr = room,
		.room = room,
		.fill = samples_fill,
	};

	BUILD_BUG_ON(sizeof(struct vgpu_ctl_sample) < VGPU_SAMPLE_SIZE_1);
	if (ctl->pad || room < VGPU_SAMPLES_ROOM)
		return -EINVAL;
	return vgpu_ctl_array_read(&array, ctl);
}

static int sessions_fill(struct vgpu_gpu *gpu, void *arg, void *entries, unsigned int nr)
{
	struct vgpu_ctl_sessions *ctl = arg;

	ctl->engines = gpu->info.nr_engines;
	vgpu_session_list(gpu, ctl, entries, nr);
	ctl->now_ns = ktime_get_ns();
	return ctl->count;
}

/**
 * vgpu_ctl_sessions() - VGPU_IOC_SESSIONS: read sessions of a GPU's vGPUs
 * @arg: struct vgpu_ctl_sessions, in kernel memory; its entries are in user memory
 *
 * Return: as vgpu_ctl_array_read().
 */
int vgpu_ctl_sessions(void *arg)
{
	struct vgpu_ctl_sessions *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_SESSIONS_MAX);
	const struct vgpu_ctl_array array = {
		.gpu = ctl->gpu,
		.to = ctl->entries,
		.entry_size = ctl->entry_size,
		.first_size = VGPU_SESSION_SIZE_1,
		.known_size = sizeof(struct vgpu_ctl_session),
		.nr = room,
		.room = room,
		.fill = sessions_fill,
	};

	BUILD_BUG_ON(sizeof(struct vgpu_ctl_session) < VGPU_SESSION_SIZE_1);
	return vgpu_ctl_array_read(&array, ctl);
}
