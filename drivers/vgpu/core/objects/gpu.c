// SPDX-License-Identifier: GPL-2.0
/* The life of a GPU: its back end registers it and unregisters it. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../core.h"
#include "place.h"

/**
 * vgpu_gpu_available() - count how many more instances of a type fit
 * @gpu: the GPU; the caller has entered it (see vgpu_gpu_enter())
 * @type: index into the GPU's types
 *
 * Context: sleeps.
 * Return: the number of instances that could be created now; 0 if the GPU is being unregistered.
 */
unsigned int vgpu_gpu_available(struct vgpu_gpu *gpu, unsigned int type)
{
	u32 size_gb = gpu->types[type].size_gb;
	unsigned int nr;

	nr = vgpu_place_available(gpu, &gpu->types[type]);
	if (nr && gpu->ops->fb_room)
		nr = min_t(u64, nr, div_u64(gpu->ops->fb_room(gpu) >> 30, size_gb));
	return nr;
}

/**
 * vgpu_gpu_backend() - get the back end's data of a GPU
 * @gpu: the GPU
 *
 * Context: any.
 * Return: the pointer that vgpu_register_gpu() was given.
 */
void *vgpu_gpu_backend(const struct vgpu_gpu *gpu)
{
	return gpu->backend;
}
EXPORT_SYMBOL_GPL(vgpu_gpu_backend);

static int vgpu_gpu_check(struct device *dev, const struct vgpu_gpu_info *info)
{
	u64 gb = info->fb_bytes >> 30;

	if (!gb || info->fb_bytes != gb << 30 || gb > 1024) {
		dev_err(dev, "vgpu: framebuffer of %llu bytes: must be 1..1024 whole GiB\n",
			info->fb_bytes);
		return -EINVAL;
	}
	if (info->channels < gb || info->channels > VGPU_HW_MAX_CHANNELS) {
		dev_err(dev, "vgpu: %u channels: must be %llu (one per GiB)..%u\n",
			info->channels, gb, VGPU_HW_MAX_CHANNELS);
		return -EINVAL;
	}
	/* A VM has a register for each. */
	BUILD_BUG_ON(VGPU_MAX_ENGINES > VGPU_HW_MAX_ENGINES);
	if (!info->nr_engines || info->nr_engines > VGPU_MAX_ENGINES) {
		dev_err(dev, "vgpu: %u engines: must be 1..%u\n",
			info->nr_engines, VGPU_MAX_ENGINES);
		return -EINVAL;
	}
	return 0;
}

static int vgpu_gpu_init_types(struct vgpu_gpu *gpu)
{
	const struct vgpu_placement *p = &gpu->part0.placement;
	const struct vgpu_gpu_info *info = &gpu->info;
	bool divisible = gpu->ops->partition_create;

	gpu->nr_types = vgpu_types_build(info->board, p, info->channels, divisible, NULL, 0);
	gpu->types = kcalloc(gpu->nr_types, sizeof(*gpu->types), GFP_KERNEL);
	if (!gpu->types)
		return -ENOMEM;
	vgpu_types_build(info->board, p, info->channels, divisible, gpu->types, gpu->nr_types);
	return 0;
}

/* Stops the creation of instances; if @gone, also waits until nobody uses scheduler and ops. */
static void vgpu_gpu_set_dying(struct vgpu_gpu *gpu, bool gone)
{
	mutex_lock(&gpu->lock);
	raw_spin_lock(&gpu->data_lock);
	gpu->dying = true;
	gpu->gone = gone;
	raw_spin_unlock(&gpu->data_lock);
	mutex_unlock(&gpu->lock);
	if (!gone)
		return;
	/* A thread that found the GPU before may have entered it. */
	vgpu_gpu_leave(gpu);
	wait_for_completion(&gpu->unused);
}

/**
 * vgpu_register_gpu() - register a GPU, so that vGPUs can be created on it
 * @dev: the physical function; the caller keeps it until vgpu_unregister_gpu() has returned
 * @ops: the back end's ops; the caller keeps them as long as @dev
 * @info: description of the GPU; copied
 * @backend: for vgpu_gpu_backend()
 *
 * The core may call ops before this returns.
 *
 * Context: sleeps.
 * Return: the GPU, or an ERR_PTR: -EINVAL if @info or the module's parameters are not valid (the
 * log says why), -ENOMEM, or a front end's error.
 */
struct vgpu_gpu *vgpu_register_gpu(struct device *dev, const struct vgpu_gpu_ops *ops,
				   const struct vgpu_gpu_info *info, void *backend)
{
	struct vgpu_sched_params params;
	struct vgpu_gpu *gpu;
	int ret;

	ret = vgpu_gpu_check(dev, info);
	if (ret)
		return ERR_PTR(ret);

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return ERR_PTR(-ENOMEM);
	kref_init(&gpu->ref);
	refcount_set(&gpu->users, 1);
	init_completion(&gpu->unused);
	mutex_init(&gpu->lock);
	raw_spin_lock_init(&gpu->data_lock);
	raw_spin_lock_init(&gpu->session_lock);
	vgpu_session_log_init(&gpu->sessions, info->nr_engines);
	vgpu_sampler_init(gpu);
	INIT_LIST_HEAD(&gpu->instances);
	gpu->dev = get_device(dev);
	gpu->name = dev_name(dev);
	gpu->ops = ops;
	gpu->info = *info;
	gpu->backend = backend;
	gpu->registered_ns = ktime_get_ns();
	ratelimit_default_init(&gpu->log_limit);
	vgpu_division_init(gpu);

	ret = -ENOMEM;
	gpu->samples = vgpu_sample_ring_new(info->nr_engines);
	gpu->events = vgpu_event_source_get(NULL);
	gpu->refused = vgpu_event_source_get(NULL);
	if (!gpu->samples || !gpu->events || !gpu->refused)
		goto err_put;
	ret = vgpu_gpu_init_types(gpu);
	if (ret)
		goto err_put;

	ret = vgpu_division_start(gpu);
	if (ret)
		goto err_put;

	vgpu_registry_add(gpu);
	vgpu_debugfs_add_gpu(gpu);
	ret = vgpu_sysfs_add_gpu(gpu);
	if (ret)
		goto err_registry;

	ret = vgpu_fronts_add_gpu(gpu);
	if (ret)
		goto err_sysfs;

	vgpu_sched_params_get(gpu->part0.sched, &params);
	vgpu_gpu_info(gpu, "%s: %llu MiB framebuffer, %u channels, %u engines, %u types, %s, slice %llu us\n",
		      info->board, info->fb_bytes >> 20, info->channels,
		      info->nr_engines, gpu->nr_types, params.policy->name,
		      params.slice_ns / 1000);
	vgpu_gpu_event(gpu, VGPU_EVENT_GPU_ADDED, 0);
	return gpu;

err_sysfs:
	vgpu_sysfs_remove_gpu(gpu);
err_registry:
	vgpu_debugfs_remove_gpu(gpu);
	vgpu_registry_remove(gpu);
	vgpu_sampler_exit(gpu);
	vgpu_gpu_set_dying(gpu, true);
	vgpu_division_stop(gpu);
err_put:
	vgpu_gpu_put(gpu);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(vgpu_register_gpu);

/**
 * vgpu_unregister_gpu() - remove a GPU with all its instances
 * @gpu: registered; the caller must not use it afterwards
 *
 * The core calls no op after this has returned.
 *
 * Context: sleeps, until the users of the instances have closed them. Not from an op.
 */
void vgpu_unregister_gpu(struct vgpu_gpu *gpu)
{
	/* Creates no instance from here on: the front ends would miss it. */
	vgpu_gpu_set_dying(gpu, false);

	vgpu_fronts_remove_gpu(gpu);
	/* These wait for readers and writers, which take locks, so no lock is held here. */
	vgpu_sysfs_remove_gpu(gpu);
	vgpu_debugfs_remove_gpu(gpu);

	vgpu_registry_remove(gpu);
	vgpu_sampler_exit(gpu);
	WARN_ON(!list_empty(&gpu->instances));
	vgpu_gpu_set_dying(gpu, true);

	vgpu_division_stop(gpu);
	vgpu_gpu_event(gpu, VGPU_EVENT_GPU_REMOVED, 0);
	vgpu_gpu_put(gpu);
}
EXPORT_SYMBOL_GPL(vgpu_unregister_gpu);
