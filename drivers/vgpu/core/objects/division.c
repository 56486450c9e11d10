// SPDX-License-Identifier: GPL-2.0
/*
 * The division of a GPU into partitions: a mode, in which partitions are created and removed while
 * the instances of others run.
 *
 * No op is called with the GPU's lock held. So a partition gets its place first, and is put on the
 * list when it is ready for instances; it is removed from the list first, and gives its place back
 * when nothing is left of it.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../core.h"

/**
 * vgpu_division_init() - set up a GPU that is not divided
 * @gpu: its info and ops are set
 */
void vgpu_division_init(struct vgpu_gpu *gpu)
{
	struct vgpu_division *division = &gpu->division;
	u32 size_gb = gpu->info.fb_bytes >> 30;

	INIT_LIST_HEAD(&division->partitions);
	division->map.region_gb = size_gb;
	vgpu_partition_init(&gpu->part0, gpu, 0, size_gb);
	gpu->part0.created_ns = gpu->registered_ns;
	list_add(&gpu->part0.link, &division->partitions);
}

/* Gives a partition its first settings, and starts its scheduler. */
static int division_start(struct vgpu_partition *part)
{
	struct vgpu_sched_params params = {};
	struct vgpu_gpu *gpu = part->gpu;
	struct vgpu_sched *sched;
	char name[VGPU_ADDR_LEN];
	int ret;

	ret = vgpu_settings_init(part, &params);
	if (ret)
		return ret;
	sched = vgpu_sched_create(vgpu_partition_name(part, name, sizeof(name)),
				  gpu->info.nr_engines, &vgpu_engine_ops, part,
				  &part->clock, &params);
	if (IS_ERR(sched))
		return PTR_ERR(sched);
	part->sched = sched;
	return 0;
}

/**
 * vgpu_division_start() - start partition 0
 * @gpu: private to the caller; its types are set
 *
 * Context: sleeps.
 * Return: 0, which vgpu_division_stop() undoes; -EINVAL for module parameters that contradict each
 * other (the log has the reason); or the error of vgpu_sched_create().
 */
int vgpu_division_start(struct vgpu_gpu *gpu)
{
	return division_start(&gpu->part0);
}

/* With the lock held, so that the order of events is that of what has happened. */
static void division_event(struct vgpu_gpu *gpu, enum vgpu_ctl_partition_event what, u32 id,
			   u32 slices)
{
	lockdep_assert_held(&gpu->lock);
	vgpu_gpu_event(gpu, VGPU_EVENT_PARTITION, id, what, slices);
}

static struct vgpu_partition *division_new(struct vgpu_gpu *gpu, const struct vgpu_profile *profile,
					   unsigned int start, u32 id)
{
	u32 size_gb = vgpu_profile_size_gb(profile, gpu->division.map.region_gb);
	struct vgpu_partition *part;

	part = kzalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);
	if (!part)
		return NULL;
	part->last = kcalloc(gpu->info.nr_engines, sizeof(*part->last), GFP_KERNEL_ACCOUNT);
	if (!part->last) {
		kfree(part);
		return NULL;
	}
	part->id = id;
	part->profile = profile;
	vgpu_partition_init(part, gpu, start * size_gb / profile->eighths, size_gb);
	if (gpu->info.share_time)
		vgpu_clock_slots(&part->clock, start, profile->slices);
	return part;
}

/* Makes a partition at the place that it has. Returns 0, and it is on the list; or -errno. */
static int division_build(struct vgpu_gpu *gpu, const struct vgpu_profile *profile,
			  unsigned int start, u32 id)
{
	struct vgpu_partition *part = division_new(gpu, profile, start, id);
	int ret;

	if (!part)
		return -ENOMEM;
	part->backend = gpu->ops->partition_create(part, id);
	if (IS_ERR(part->backend)) {
		ret = PTR_ERR(part->backend);
		goto err_put;
	}
	ret = division_start(part);
	if (ret)
		goto err_backend;

	mutex_lock(&gpu->lock);
	raw_spin_lock(&gpu->data_lock);
	list_add_tail(&part->link, &gpu->division.partitions);
	raw_spin_unlock(&gpu->data_lock);
	vgpu_gpu_info(gpu, "partition %u created: %s at %u/8 of the framebuffer\n", id,
		      profile->name, start);
	division_event(gpu, VGPU_PARTITION_CREATED, id, profile->slices);
	mutex_unlock(&gpu->lock);
	return 0;

err_backend:
	gpu->ops->partition_destroy(part);
err_put:
	vgpu_partition_put(part);
	return ret;
}

static void division_free_place(struct vgpu_gpu *gpu, u32 id)
{
	lockdep_assert_held(&gpu->lock);
	raw_spin_lock(&gpu->data_lock);
	vgpu_profile_put(&gpu->division.map, id);
	raw_spin_unlock(&gpu->data_lock);
}

static int division_take_place(struct vgpu_gpu *gpu, const struct vgpu_profile *profile,
			       u32 *start, u32 *id, char *why, size_t size)
{
	struct vgpu_division *division = &gpu->division;
	struct vgpu_profile_map map;
	int ret;

	mutex_lock(&gpu->lock);
	map = division->map;
	if (gpu->dying) {
		scnprintf(why, size, "the GPU is going away");
		ret = -ENODEV;
	} else if (!division->on) {
		scnprintf(why, size, "%s: %s is not divided: the mode is off", profile->name,
			  gpu->name);
		ret = -EOPNOTSUPP;
	} else if (division->last_id == U32_MAX) {
		scnprintf(why, size, "%s: all numbers of partitions have been used on %s",
			  profile->name, gpu->name);
		ret = -ENOSPC;
	} else {
		ret = vgpu_profile_take(&map, profile, *start, division->last_id + 1, why, size);
	}
	if (ret >= 0) {
		*start = ret;
		raw_spin_lock(&gpu->data_lock);
		division->map = map;
		*id = ++division->last_id;
		raw_spin_unlock(&gpu->data_lock);
	}
	mutex_unlock(&gpu->lock);
	return min(ret, 0);
}

/**
 * vgpu_division_create() - create a partition
 * @gpu:     the GPU; the caller has entered it (see vgpu_gpu_enter())
 * @profile: the partition's profile
 * @start:   the eighth of the framebuffer at which it is to start, or VGPU_PROFILE_ANYWHERE; set to
 *           the eighth at which it does
 * @id:      set to the partition's number
 * @why:     set to the reason of a refusal, for the user
 * @size:    bytes of @why
 *
 * Context: sleeps.
 * Return: 0; -EOPNOTSUPP if the mode is off, -ENODEV, -EINVAL, -ENOSPC, -ENOMEM, or the back end's
 * error.
 */
int vgpu_division_create(struct vgpu_gpu *gpu, const struct vgpu_profile *profile,
			 u32 *start, u32 *id, char *why, size_t size)
{
	int ret;

	ret = division_take_place(gpu, profile, start, id, why, size);
	if (ret)
		return ret;
	ret = division_build(gpu, profile, *start, *id);
	if (ret) {
		mutex_lock(&gpu->lock);
		division_free_place(gpu, *id);
		mutex_unlock(&gpu->lock);
		if (ret == -ENOMEM)
			scnprintf(why, size, "%s at %u: %s: no memory for its engines",
				  profile->name, *start, gpu->name);
		else
			scnprintf(why, size, "%s at %u: %s: its engines do not start: %pe",
				  profile->name, *start, gpu->name, ERR_PTR(ret));
	}
	return ret;
}

/*
 * Takes a partition off the list. Its statistics become part of the sums of those that are gone in
 * the same critical section, so that readers of sums never miss them.
 */
static void division_unlist(struct vgpu_partition *part)
{
	struct vgpu_gpu *gpu = part->gpu;
	unsigned int i;

	lockdep_assert_held(&gpu->lock);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_timeline_retire(vgpu_sched_timeline(part->sched, i), &part->last[i]);
	raw_spin_lock(&gpu->data_lock);
	list_del_init(&part->link);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_timeline_stats_add(&gpu->division.gone[i], &part->last[i]);
	raw_spin_unlock(&gpu->data_lock);
}

/* Ends a partition that is off the list, and has no instances. */
static void division_end(struct vgpu_partition *part)
{
	u32 id = part->id, slices = part->profile->slices;
	struct vgpu_gpu *gpu = part->gpu;

	vgpu_sched_stop(part->sched);
	gpu->ops->partition_destroy(part);
	vgpu_partition_put(part);
	mutex_lock(&gpu->lock);
	division_free_place(gpu, id);
	vgpu_gpu_info(gpu, "partition %u removed\n", id);
	division_event(gpu, VGPU_PARTITION_REMOVED, id, slices);
	mutex_unlock(&gpu->lock);
}

static struct vgpu_partition *division_find(struct vgpu_gpu *gpu, u32 id)
{
	struct vgpu_partition *part;

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(part, &gpu->division.partitions, link)
		if (part->id == id)
			return part;
	return NULL;
}

/**
 * vgpu_division_remove() - remove a partition
 * @gpu:  the GPU; the caller has entered it (see vgpu_gpu_enter())
 * @id:   number of the partition
 * @why:  set to the reason of a refusal, for the user
 * @size: bytes of @why
 *
 * Context: sleeps.
 * Return: 0; -ENOENT if there is no such partition, -EINVAL if it is the whole GPU, -EBUSY if it
 * has vGPUs.
 */
int vgpu_division_remove(struct vgpu_gpu *gpu, u32 id, char *why, size_t size)
{
	struct vgpu_partition *part;
	int ret = 0;

	mutex_lock(&gpu->lock);
	part = division_find(gpu, id);
	if (!part) {
		scnprintf(why, size, "%s has no partition %u", gpu->name, id);
		ret = -ENOENT;
	} else if (part == &gpu->part0) {
		scnprintf(why, size, "partition 0 is the whole GPU, %s", gpu->name);
		ret = -EINVAL;
	} else if (part->placement.nr) {
		scnprintf(why, size, "partition %u of %s has %u vGPUs: remove them first", id,
			  gpu->name, part->placement.nr);
		ret = -EBUSY;
	} else {
		division_unlist(part);
	}
	mutex_unlock(&gpu->lock);
	if (!ret)
		division_end(part);
	return ret;
}

/*
 * While the GPU is divided the engines of partition 0 are there for nobody. If their time went on,
 * the sums of an engine would say that a partition which has all of the GPU and always works does
 * so half of the time.
 */
static void division_hold_whole(struct vgpu_gpu *gpu, bool hold)
{
	unsigned int i;

	lockdep_assert_held(&gpu->lock);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_timeline_hold(vgpu_sched_timeline(gpu->part0.sched, i), hold);
}

/**
 * vgpu_division_set_mode() - decide whether a GPU is to be divided
 * @gpu:  the GPU; the caller has entered it (see vgpu_gpu_enter())
 * @on:   from now on there are vGPUs in partitions only; else on the whole GPU only
 * @why:  set to the reason of a refusal, for the user
 * @size: bytes of @why
 *
 * Context: sleeps.
 * Return: 0; -EOPNOTSUPP if the back end has no partitions; -EBUSY if there are vGPUs of the whole
 * GPU, or partitions.
 */
int vgpu_division_set_mode(struct vgpu_gpu *gpu, bool on, char *why, size_t size)
{
	struct vgpu_division *division = &gpu->division;
	struct vgpu_profile_map *map = &division->map;
	int ret = 0;

	if (!gpu->ops->partition_create) {
		scnprintf(why, size, "%s has no partitions", gpu->name);
		return -EOPNOTSUPP;
	}
	mutex_lock(&gpu->lock);
	if (on && gpu->part0.placement.nr) {
		scnprintf(why, size, "%s as a whole has %u vGPUs: remove them first", gpu->name,
			  gpu->part0.placement.nr);
		ret = -EBUSY;
	} else if (!on && memchr_inv(map->owner, 0, sizeof(map->owner))) {
		scnprintf(why, size, "%s has partitions: remove them first", gpu->name);
		ret = -EBUSY;
	} else if (division->on != on) {
		raw_spin_lock(&gpu->data_lock);
		division->on = on;
		raw_spin_unlock(&gpu->data_lock);
		division_hold_whole(gpu, on);
		division_event(gpu, on ? VGPU_PARTITION_ON : VGPU_PARTITION_OFF, 0, 0);
	}
	mutex_unlock(&gpu->lock);
	return ret;
}

/**
 * vgpu_division_refuse() - refuse settings of the whole GPU while it is divided
 * @gpu:  its lock is held
 * @why:  set to the reason of a refusal, for the user
 * @size: bytes of @why
 *
 * They would seem to be in force, and change nothing.
 *
 * Return: 0 if the GPU is not divided, or -EBUSY.
 */
int vgpu_division_refuse(struct vgpu_gpu *gpu, char *why, size_t size)
{
	const char *before = ": name a partition (vgpuctl sched set --partition), there are";
	struct vgpu_partition *part;
	size_t length;

	lockdep_assert_held(&gpu->lock);
	if (!gpu->division.on)
		return 0;
	length = scnprintf(why, size, "%s is divided", gpu->name);
	if (list_is_singular(&gpu->division.partitions))
		scnprintf(why + length, size - length,
			  ", and has no partition yet: nothing is to be set");
	list_for_each_entry(part, &gpu->division.partitions, link) {
		if (!part->id)
			continue;
		length += scnprintf(why + length, size - length, "%s %u", before, part->id);
		before = ",";
	}
	return -EBUSY;
}

/* Any partition but partition 0, off the list; NULL: there is none. */
static struct vgpu_partition *division_next(struct vgpu_gpu *gpu)
{
	struct vgpu_partition *part;

	mutex_lock(&gpu->lock);
	part = list_last_entry(&gpu->division.partitions, struct vgpu_partition, link);
	if (part == &gpu->part0)
		part = NULL;
	else
		division_unlist(part);
	mutex_unlock(&gpu->lock);
	return part;
}

/**
 * vgpu_division_stop() - remove all partitions of a GPU, and stop partition 0
 * @gpu: has no instances, and nobody uses its ops or schedulers
 *
 * Afterwards no op of an engine, or about a partition, is called.
 *
 * Context: sleeps.
 */
void vgpu_division_stop(struct vgpu_gpu *gpu)
{
	struct vgpu_partition *part;

	while ((part = division_next(gpu)))
		division_end(part);
	vgpu_sched_stop(gpu->part0.sched);
	vgpu_sched_free(gpu->part0.sched);
}
