// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/vgpu: the calls that read statistics, samples and sessions of all vGPUs of a GPU, and the
 * channels of a vGPU.
 */
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "control.h"
#include "../core.h"
#include "../stats/stats.h"

/* Maximum number of elements that one call returns. */
#define VGPU_SAMPLES_MAX	1024
#define VGPU_SESSIONS_MAX	256
#define VGPU_CHANNELS_MAX	256

static int stats_fill(struct vgpu_gpu *gpu, void *arg, const struct vgpu_ctl_entries *entries)
{
	struct vgpu_ctl_stats *ctl = arg;
	u32 size = min_t(size_t, ctl->entry_size, entries->stride);
	unsigned int i;

	vgpu_ctl_clear(ctl, now_ns);
	vgpu_stats_gpu(gpu, ctl, entries);
	for (i = 0; i < ctl->count; i++)
		((struct vgpu_ctl_instance *)vgpu_ctl_entry(entries, i))->size = size;
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
		.first_size = offsetof(struct vgpu_ctl_instance, engine),
		.known_size = offsetof(struct vgpu_ctl_instance, engine),
		.engine_size = sizeof_field(struct vgpu_ctl_instance, engine[0]),
		.nr = VGPU_PLACEMENT_MAX,
		.room = ctl->count,
		.fill = stats_fill,
	};

	return vgpu_ctl_array_read(&array, ctl);
}

static int samples_fill(struct vgpu_gpu *gpu, void *arg, const struct vgpu_ctl_entries *entries)
{
	struct vgpu_ctl_samples *ctl = arg;

	vgpu_sample_list(gpu, ctl, entries);
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
		.first_size = offsetof(struct vgpu_ctl_sample, engine),
		.known_size = offsetof(struct vgpu_ctl_sample, engine),
		.engine_size = sizeof_field(struct vgpu_ctl_sample, engine[0]),
		.nr = room,
		.room = room,
		.fill = samples_fill,
	};

	if (ctl->pad || room < VGPU_SAMPLES_ROOM)
		return -EINVAL;
	return vgpu_ctl_array_read(&array, ctl);
}

static int sessions_fill(struct vgpu_gpu *gpu, void *arg, const struct vgpu_ctl_entries *entries)
{
	struct vgpu_ctl_sessions *ctl = arg;

	vgpu_session_list(gpu, ctl, entries);
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
		.first_size = offsetof(struct vgpu_ctl_session, engine),
		.known_size = offsetof(struct vgpu_ctl_session, engine),
		.engine_size = sizeof_field(struct vgpu_ctl_session, engine[0]),
		.nr = room,
		.room = room,
		.fill = sessions_fill,
	};

	return vgpu_ctl_array_read(&array, ctl);
}

/* Argument of channels_list(). */
struct channels_read {
	struct vgpu_ctl_channels *ctl;
	const struct vgpu_ctl_entries *entries;
};

static int channels_list(struct vgpu_instance *instance, void *arg)
{
	struct channels_read *read = arg;

	return vgpu_channel_list(instance, read->ctl, read->entries);
}

static int channels_fill(struct vgpu_gpu *gpu, void *arg, const struct vgpu_ctl_entries *entries)
{
	struct vgpu_ctl_channels *ctl = arg;
	struct channels_read read = { .ctl = ctl, .entries = entries };
	int ret = vgpu_instance_call(ctl->uuid, channels_list, &read);

	ctl->now_ns = ktime_get_ns();
	return ret ?: ctl->count;
}

static int channels_gpu(struct vgpu_instance *instance, void *arg)
{
	*(u32 *)arg = instance->gpu->id;
	return 0;
}

/**
 * vgpu_ctl_channels() - VGPU_IOC_CHANNELS: read channels of a vGPU
 * @arg: struct vgpu_ctl_channels, in kernel memory; its entries are in user memory
 *
 * Return: as vgpu_ctl_array_read().
 */
int vgpu_ctl_channels(void *arg)
{
	struct vgpu_ctl_channels *ctl = arg;
	unsigned int room = min_t(u32, ctl->count, VGPU_CHANNELS_MAX);
	struct vgpu_ctl_array array = {
		.to = ctl->entries,
		.entry_size = ctl->entry_size,
		.first_size = 104,
		.known_size = sizeof(struct vgpu_ctl_channel),
		.nr = room,
		.room = room,
		.fill = channels_fill,
	};
	int ret;

	ret = vgpu_instance_call(ctl->uuid, channels_gpu, &array.gpu);
	return ret ?: vgpu_ctl_array_read(&array, ctl);
}
