// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: the calls about partitions of a GPU. */
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "control.h"
#include "../core.h"
#include "../stats/stats.h"

/* Finds a GPU, and enters it, for partition_gpu_put(). NULL: there is none, as @why says then. */
static struct vgpu_gpu *partition_gpu_get(u32 id, __u8 *why)
{
	struct vgpu_gpu *gpu = vgpu_gpu_find(id);

	if (gpu && vgpu_gpu_enter(gpu))
		return gpu;
	if (gpu)
		vgpu_gpu_put(gpu);
	if (why)
		snprintf((char *)why, VGPU_TEXT_LEN, "no GPU %u", id);
	return NULL;
}

static void partition_gpu_put(struct vgpu_gpu *gpu)
{
	vgpu_gpu_leave(gpu);
	vgpu_gpu_put(gpu);
}

static int profile_fill(struct vgpu_gpu *gpu, struct vgpu_ctl_profile *out)
{
	const struct vgpu_profile *profile;
	struct vgpu_profile_map map;

	if (out->index >= vgpu_gpu_profiles(gpu))
		return -ENOENT;
	profile = &vgpu_profiles[array_index_nospec(out->index, VGPU_PROFILES)];
	raw_spin_lock(&gpu->data_lock);
	map = gpu->division.map;
	raw_spin_unlock(&gpu->data_lock);
	memset_startat(out, 0, slices);
	out->slices = profile->slices;
	out->eighths = profile->eighths;
	out->starts = profile->starts;
	out->fits = vgpu_profile_fits(&map, profile);
	out->fb_bytes = (u64)vgpu_profile_size_gb(profile, map.region_gb) << 30;
	strscpy(out->name, profile->name, sizeof(out->name));
	return 0;
}

/**
 * vgpu_ctl_profile() - VGPU_IOC_PROFILE: read a profile of partitions
 * @arg: struct vgpu_ctl_profile, in kernel memory
 *
 * Return: 0, -ENODEV, or -ENOENT if the GPU has no profile of that index.
 */
int vgpu_ctl_profile(void *arg)
{
	struct vgpu_ctl_profile *out = arg;
	struct vgpu_gpu *gpu = partition_gpu_get(out->gpu, NULL);
	int ret;

	BUILD_BUG_ON(VGPU_PARTITION_SLICES != VGPU_PROFILE_SLICES);
	BUILD_BUG_ON(VGPU_PARTITION_EIGHTHS != VGPU_PROFILE_EIGHTHS);
	if (!gpu)
		return -ENODEV;
	ret = profile_fill(gpu, out);
	partition_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_partitions() - VGPU_IOC_PARTITIONS: list the partitions of a GPU, without partition 0
 * @arg: struct vgpu_ctl_list, in kernel memory; its ids are in user memory
 *
 * Return: 0, -ENODEV or -EFAULT.
 */
int vgpu_ctl_partitions(void *arg)
{
	struct vgpu_ctl_list *list = arg;
	struct vgpu_gpu *gpu = vgpu_gpu_find(list->gpu);
	u32 ids[VGPU_PARTITIONS_MAX], room = list->count;
	struct vgpu_partition *part;
	u32 nr = 0;

	if (!gpu)
		return -ENODEV;
	raw_spin_lock(&gpu->data_lock);
	list_for_each_entry(part, &gpu->division.partitions, link)
		if (part->id)
			ids[nr++] = part->id;
	raw_spin_unlock(&gpu->data_lock);
	vgpu_gpu_put(gpu);
	list->count = nr;
	return copy_to_user(u64_to_user_ptr(list->ids), ids, min(nr, room) * sizeof(*ids)) ?
	       -EFAULT : 0;
}

static void partition_fill_settings(struct vgpu_partition *part, struct vgpu_ctl_partition *out)
{
	const struct vgpu_placement *placement = &part->placement;
	struct vgpu_gpu *gpu = part->gpu;
	u32 used_gb;

	raw_spin_lock(&gpu->data_lock);
	used_gb = placement->region_gb - vgpu_placement_free_gb(placement);
	out->instances = placement->nr;
	out->guarantee_sum = part->guarantee_sum;
	out->slice_ns = part->settings.slice_ns;
	strscpy(out->policy, part->settings.policy, sizeof(out->policy));
	raw_spin_unlock(&gpu->data_lock);
	out->fb_used_bytes = (u64)used_gb << 30;
	out->due = vgpu_sched_policy(out->policy)->due;
}

static void partition_fill(struct vgpu_partition *part, struct vgpu_ctl_partition *out)
{
	const struct vgpu_profile *profile = part->profile;
	struct vgpu_timeline_stats stats;
	struct vgpu_gpu *gpu = part->gpu;
	unsigned int i;
	u32 units;

	out->eighths = profile ? profile->eighths : VGPU_PROFILE_EIGHTHS;
	out->start = vgpu_partition_place(part, &out->slices);
	out->shared_time = part->clock.length_ns != 0;
	out->fb_start = (u64)part->start_gb << 30;
	out->fb_bytes = (u64)part->placement.region_gb << 30;
	out->created_ns = part->created_ns;
	if (profile)
		strscpy(out->profile, profile->name, sizeof(out->profile));
	partition_fill_settings(part, out);
	out->engines = gpu->info.nr_engines;
	for (i = 0; i < out->engines; i++) {
		vgpu_timeline_stats(vgpu_sched_timeline(part->sched, i), &stats);
		vgpu_stats_set_engine(&out->engine[i], &stats);
		units = max(gpu->info.engines[i].units, 1U);
		out->engine[i].units = vgpu_partition_units(part, units);
	}
	out->now_ns = ktime_get_ns();
}

/**
 * vgpu_ctl_partition() - VGPU_IOC_PARTITION: read a partition
 * @arg: struct vgpu_ctl_partition, in kernel memory
 *
 * Return: 0, -ENODEV or -ENOENT.
 */
int vgpu_ctl_partition(void *arg)
{
	struct vgpu_ctl_partition *out = arg;
	struct vgpu_gpu *gpu = partition_gpu_get(out->gpu, NULL);
	struct vgpu_partition *part;

	if (!gpu)
		return -ENODEV;
	part = vgpu_partition_find(gpu, out->partition);
	if (part) {
		vgpu_ctl_clear(out, slices);
		partition_fill(part, out);
		vgpu_partition_put(part);
	}
	partition_gpu_put(gpu);
	return part ? 0 : -ENOENT;
}

static int partition_create(struct vgpu_gpu *gpu, struct vgpu_ctl_partition_create *ctl)
{
	u32 profiles = vgpu_gpu_profiles(gpu), index = ctl->profile;

	if (!profiles) {
		scnprintf(ctl->text, sizeof(ctl->text), "%s has no partitions", gpu->name);
		return -EOPNOTSUPP;
	}
	if (index >= profiles) {
		scnprintf(ctl->text, sizeof(ctl->text), "profile %u of partitions: must be 0..%u",
			  index, profiles - 1);
		return -EINVAL;
	}
	index = array_index_nospec(index, VGPU_PROFILES);
	return vgpu_division_create(gpu, &vgpu_profiles[index], &ctl->start, &ctl->partition,
				    ctl->text, sizeof(ctl->text));
}

/**
 * vgpu_ctl_partition_create() - VGPU_IOC_PARTITION_CREATE: create a partition
 * @arg: struct vgpu_ctl_partition_create, in kernel memory
 *
 * Return: as vgpu_division_create().
 */
int vgpu_ctl_partition_create(void *arg)
{
	struct vgpu_ctl_partition_create *ctl = arg;
	struct vgpu_gpu *gpu = partition_gpu_get(ctl->gpu, ctl->text);
	int ret;

	BUILD_BUG_ON(VGPU_PARTITION_ANYWHERE != VGPU_PROFILE_ANYWHERE);
	if (!gpu)
		return -ENODEV;
	ret = partition_create(gpu, ctl);
	partition_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_partition_remove() - VGPU_IOC_PARTITION_REMOVE: remove a partition
 * @arg: struct vgpu_ctl_partition_remove, in kernel memory
 *
 * Return: as vgpu_division_remove().
 */
int vgpu_ctl_partition_remove(void *arg)
{
	struct vgpu_ctl_partition_remove *ctl = arg;
	struct vgpu_gpu *gpu = partition_gpu_get(ctl->gpu, ctl->text);
	int ret;

	if (!gpu)
		return -ENODEV;
	ret = vgpu_division_remove(gpu, ctl->partition, ctl->text, sizeof(ctl->text));
	partition_gpu_put(gpu);
	return ret;
}

/**
 * vgpu_ctl_partition_mode() - VGPU_IOC_PARTITION_MODE: decide whether a GPU is to be divided
 * @arg: struct vgpu_ctl_partition_set_mode, in kernel memory
 *
 * Return: as vgpu_division_set_mode(), or -EINVAL.
 */
int vgpu_ctl_partition_mode(void *arg)
{
	struct vgpu_ctl_partition_set_mode *ctl = arg;
	struct vgpu_gpu *gpu;
	int ret;

	if (ctl->mode > VGPU_PARTITION_MODE_ON) {
		snprintf(ctl->text, sizeof(ctl->text), "mode %u of partitions: must be %u or %u",
			 ctl->mode, VGPU_PARTITION_MODE_OFF, VGPU_PARTITION_MODE_ON);
		return -EINVAL;
	}
	gpu = partition_gpu_get(ctl->gpu, ctl->text);
	if (!gpu)
		return -ENODEV;
	ret = vgpu_division_set_mode(gpu, ctl->mode == VGPU_PARTITION_MODE_ON, ctl->text,
				     sizeof(ctl->text));
	partition_gpu_put(gpu);
	return ret;
}
