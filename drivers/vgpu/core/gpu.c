// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of GPUs.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "core.h"
#include "trace.h"

/*
 * Protects the two lists. Fronts register when the module loads and leave when
 * it unloads; no back end can be there then, so register and unregister walk
 * vgpu_fronts without the lock: remove_gpu may wait for a user.
 */
static DEFINE_MUTEX(vgpu_registry_lock);
static LIST_HEAD(vgpu_gpus);
static LIST_HEAD(vgpu_fronts);
static u32 vgpu_next_id;	/* protected by vgpu_registry_lock */

/**
 * vgpu_front_register() - add a kind of front end
 * @front: must stay until unregistered
 *
 * Called when the module loads, before any GPU is there.
 *
 * Return: 0.
 */
int vgpu_front_register(struct vgpu_front *front)
{
	mutex_lock(&vgpu_registry_lock);
	list_add_tail(&front->link, &vgpu_fronts);
	mutex_unlock(&vgpu_registry_lock);
	return 0;
}

/**
 * vgpu_front_unregister() - remove a kind of front end
 * @front: as registered
 *
 * Called when the module unloads, when no GPU is there any more.
 */
void vgpu_front_unregister(struct vgpu_front *front)
{
	mutex_lock(&vgpu_registry_lock);
	WARN_ON(!list_empty(&vgpu_gpus));
	list_del(&front->link);
	mutex_unlock(&vgpu_registry_lock);
}

static void vgpu_gpu_free(struct kref *ref)
{
	struct vgpu_gpu *gpu = container_of(ref, struct vgpu_gpu, ref);

	vgpu_event_source_put(gpu->events);
	vgpu_event_source_put(gpu->refused);
	put_device(gpu->dev);
	kfree(gpu->types);
	kfree(gpu);
}

/**
 * vgpu_gpu_put() - drop a reference
 * @gpu: may be gone after
 */
void vgpu_gpu_put(struct vgpu_gpu *gpu)
{
	kref_put(&gpu->ref, vgpu_gpu_free);
}

/**
 * vgpu_gpu_find() - look a GPU up
 * @id: in the control ABI
 *
 * Return: with a reference, or NULL.
 */
struct vgpu_gpu *vgpu_gpu_find(u32 id)
{
	struct vgpu_gpu *gpu, *found = NULL;

	mutex_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		if (gpu->id == id) {
			kref_get(&gpu->ref);
			found = gpu;
			break;
		}
	}
	mutex_unlock(&vgpu_registry_lock);
	return found;
}

/**
 * vgpu_gpu_find_device() - look a GPU up by its physical function
 * @dev: which
 *
 * Return: with a reference, or NULL.
 */
struct vgpu_gpu *vgpu_gpu_find_device(const struct device *dev)
{
	struct vgpu_gpu *gpu, *found = NULL;

	mutex_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		if (gpu->dev == dev) {
			kref_get(&gpu->ref);
			found = gpu;
			break;
		}
	}
	mutex_unlock(&vgpu_registry_lock);
	return found;
}

/**
 * vgpu_gpu_ids() - list the GPUs
 * @ids: where to
 * @room: length of @ids
 *
 * Return: how many there are; the first @room are written.
 */
unsigned int vgpu_gpu_ids(u32 *ids, unsigned int room)
{
	struct vgpu_gpu *gpu;
	unsigned int nr = 0;

	mutex_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		if (nr < room)
			ids[nr] = gpu->id;
		nr++;
	}
	mutex_unlock(&vgpu_registry_lock);
	return nr;
}

/**
 * vgpu_instance_find() - look an instance up
 * @uuid: its name
 *
 * Return: with a reference, or NULL. It may be gone (@gone) by the time the
 * caller holds its GPU's lock.
 */
struct vgpu_instance *vgpu_instance_find(const guid_t *uuid)
{
	struct vgpu_instance *instance, *found = NULL;
	struct vgpu_gpu *gpu;

	mutex_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		mutex_lock(&gpu->lock);
		list_for_each_entry(instance, &gpu->instances, link) {
			if (guid_equal(&instance->uuid, uuid)) {
				kref_get(&instance->ref);
				found = instance;
				break;
			}
		}
		mutex_unlock(&gpu->lock);
		if (found)
			break;
	}
	mutex_unlock(&vgpu_registry_lock);
	return found;
}

/**
 * vgpu_gpu_available() - how many more instances of a type fit now
 * @gpu: the GPU; its lock is held
 * @type: index into its types
 *
 * Return: that many; 0 on a GPU that goes away.
 */
unsigned int vgpu_gpu_available(struct vgpu_gpu *gpu, unsigned int type)
{
	const struct vgpu_placement *p = &gpu->placement;
	u32 size_gb = gpu->types[type].size_gb;
	unsigned int nr;

	lockdep_assert_held(&gpu->lock);
	if (gpu->dying)
		return 0;
	nr = vgpu_share_room(gpu->guarantee_sum, size_gb, p->region_gb,
			     vgpu_placement_available(p, size_gb));
	if (nr && gpu->ops->fb_room)
		nr = min_t(u64, nr, div_u64(gpu->ops->fb_room(gpu) >> 30,
					    size_gb));
	return nr;
}

/**
 * vgpu_gpu_backend() - the back end's data
 * @gpu: registered
 *
 * Return: as given to vgpu_register_gpu().
 */
void *vgpu_gpu_backend(const struct vgpu_gpu *gpu)
{
	return gpu->backend;
}
EXPORT_SYMBOL_GPL(vgpu_gpu_backend);

/* What sched asks of engines goes to the back end. */

static void vgpu_tl_run(struct vgpu_timeline *tl, struct vgpu_entity *entity,
			u64 deadline_ns)
{
	struct vgpu_gpu *gpu = vgpu_timeline_data(tl);
	unsigned int engine = vgpu_timeline_index(tl);
	struct vgpu_run run = {
		.instance = vgpu_entity_instance(entity, engine),
		.deadline_ns = deadline_ns,
	};

	trace_vgpu_switch(gpu->name, engine, &run.instance->uuid, deadline_ns);
	gpu->ops->engine_run(gpu, engine, &run);
}

static void vgpu_tl_preempt(struct vgpu_timeline *tl,
			    struct vgpu_entity *entity)
{
	struct vgpu_gpu *gpu = vgpu_timeline_data(tl);
	unsigned int engine = vgpu_timeline_index(tl);

	trace_vgpu_preempt(gpu->name, engine,
			   &vgpu_entity_instance(entity, engine)->uuid);
	gpu->ops->engine_preempt(gpu, engine);
}

static void vgpu_tl_reset(struct vgpu_timeline *tl, struct vgpu_entity *entity)
{
	struct vgpu_gpu *gpu = vgpu_timeline_data(tl);
	unsigned int engine = vgpu_timeline_index(tl);
	struct vgpu_instance *instance = vgpu_entity_instance(entity, engine);
	struct vgpu_sched_params params;

	vgpu_sched_params_get(gpu->sched, &params);
	/* A guest can have this happen again and again. */
	vgpu_inst_notice_limited(instance, "did not leave engine %s within %u us: engine reset\n",
				 gpu->info.engines[engine].name,
				 params.preempt_timeout_us);
	gpu->ops->engine_reset(gpu, engine);
	vgpu_instance_event(instance, VGPU_EVENT_ENGINE_RESET, engine, 0, 0);
}

static void vgpu_tl_overrun(struct vgpu_timeline *tl,
			    struct vgpu_entity *entity, u64 overrun_ns)
{
	unsigned int engine = vgpu_timeline_index(tl);

	vgpu_instance_overrun(vgpu_entity_instance(entity, engine));
}

static u64 vgpu_tl_ran_ns(struct vgpu_timeline *tl)
{
	struct vgpu_gpu *gpu = vgpu_timeline_data(tl);

	if (!gpu->ops->engine_ran_ns)
		return ktime_get_ns();
	return gpu->ops->engine_ran_ns(gpu, vgpu_timeline_index(tl));
}

static const struct vgpu_timeline_ops vgpu_tl_ops = {
	.run = vgpu_tl_run,
	.preempt = vgpu_tl_preempt,
	.reset = vgpu_tl_reset,
	.overrun = vgpu_tl_overrun,
	.ran_ns = vgpu_tl_ran_ns,
};

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
	if (!info->nr_engines || info->nr_engines > VGPU_MAX_ENGINES) {
		dev_err(dev, "vgpu: %u engines: must be 1..%u\n",
			info->nr_engines, VGPU_MAX_ENGINES);
		return -EINVAL;
	}
	return 0;
}

static int vgpu_gpu_init_types(struct vgpu_gpu *gpu)
{
	const struct vgpu_gpu_info *info = &gpu->info;

	gpu->nr_types = vgpu_types_build(info->board, &gpu->placement,
					 info->channels, NULL, 0);
	gpu->types = kcalloc(gpu->nr_types, sizeof(*gpu->types), GFP_KERNEL);
	if (!gpu->types)
		return -ENOMEM;
	vgpu_types_build(info->board, &gpu->placement, info->channels,
			 gpu->types, gpu->nr_types);
	return 0;
}

static void vgpu_gpu_remove_fronts(struct vgpu_gpu *gpu,
				   struct vgpu_front *from)
{
	/* In reverse: only those before @from got the GPU. */
	list_for_each_entry_continue_reverse(from, &vgpu_fronts, link)
		from->remove_gpu(gpu);
}

/**
 * vgpu_register_gpu() - a GPU is there
 * @dev: its physical function; @ops->owner's driver is bound to it
 * @ops: its back end
 * @info: what it is; copied
 * @backend: for vgpu_gpu_backend()
 *
 * Ops can be called before this returns. May sleep.
 *
 * Return: the GPU, or an ERR_PTR: -EINVAL (said in the log), -ENOMEM, or a
 * front end's error.
 */
struct vgpu_gpu *vgpu_register_gpu(struct device *dev,
				   const struct vgpu_gpu_ops *ops,
				   const struct vgpu_gpu_info *info,
				   void *backend)
{
	struct vgpu_sched_params params = {};
	struct vgpu_front *front;
	struct vgpu_gpu *gpu;
	int ret;

	ret = vgpu_gpu_check(dev, info);
	if (ret)
		return ERR_PTR(ret);

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return ERR_PTR(-ENOMEM);
	kref_init(&gpu->ref);
	mutex_init(&gpu->lock);
	INIT_LIST_HEAD(&gpu->instances);
	INIT_LIST_HEAD(&gpu->link);
	gpu->dev = get_device(dev);
	gpu->name = dev_name(dev);
	gpu->ops = ops;
	gpu->info = *info;
	gpu->backend = backend;
	gpu->registered_ns = ktime_get_ns();
	ratelimit_default_init(&gpu->log_limit);
	vgpu_placement_init(&gpu->placement, info->fb_bytes >> 30,
			    info->placement == VGPU_PLACEMENT_HOMOGENEOUS);

	ret = -ENOMEM;
	gpu->events = vgpu_event_source_get(NULL);
	gpu->refused = vgpu_event_source_get(NULL);
	if (!gpu->events || !gpu->refused)
		goto err_put;
	ret = vgpu_gpu_init_types(gpu);
	if (ret)
		goto err_put;

	ret = vgpu_settings_init(gpu, &params);
	if (ret)
		goto err_put;
	gpu->sched = vgpu_sched_create(gpu->name, info->nr_engines,
				       &vgpu_tl_ops, gpu, &params);
	if (IS_ERR(gpu->sched)) {
		ret = PTR_ERR(gpu->sched);
		goto err_put;
	}

	mutex_lock(&vgpu_registry_lock);
	gpu->id = vgpu_next_id++;
	list_add_tail(&gpu->link, &vgpu_gpus);
	mutex_unlock(&vgpu_registry_lock);
	vgpu_debugfs_add_gpu(gpu);
	ret = vgpu_sysfs_add_gpu(gpu);
	if (ret)
		goto err_registry;

	list_for_each_entry(front, &vgpu_fronts, link) {
		ret = front->add_gpu(gpu);
		if (ret) {
			vgpu_gpu_err(gpu, "front end %s refused the GPU: %d\n",
				     front->name, ret);
			goto err_fronts;
		}
	}

	vgpu_gpu_info(gpu, "%s: %llu MiB framebuffer, %u channels, %u engines, %u types, %s, slice %llu us\n",
		      info->board, info->fb_bytes >> 20, info->channels,
		      info->nr_engines, gpu->nr_types, params.policy->name,
		      params.slice_ns / 1000);
	vgpu_gpu_event(gpu, VGPU_EVENT_GPU_ADDED, 0);
	return gpu;

err_fronts:
	vgpu_gpu_remove_fronts(gpu, front);
	vgpu_sysfs_remove_gpu(gpu);
err_registry:
	vgpu_debugfs_remove_gpu(gpu);
	mutex_lock(&vgpu_registry_lock);
	list_del(&gpu->link);
	mutex_unlock(&vgpu_registry_lock);
	mutex_lock(&gpu->lock);
	gpu->dying = true;
	gpu->gone = true;
	mutex_unlock(&gpu->lock);
	vgpu_sched_destroy(gpu->sched);
err_put:
	vgpu_gpu_put(gpu);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(vgpu_register_gpu);

/**
 * vgpu_unregister_gpu() - a GPU goes
 * @gpu: as registered
 *
 * Removes all its instances, for which it waits until their users have let
 * go. No op runs once it has returned. Sleeps.
 */
void vgpu_unregister_gpu(struct vgpu_gpu *gpu)
{
	struct vgpu_front *front;

	/*
	 * From here on nothing is created: what the front ends do not see any
	 * more when they remove the GPU cannot come after them.
	 */
	mutex_lock(&gpu->lock);
	gpu->dying = true;
	mutex_unlock(&gpu->lock);

	front = list_entry(&vgpu_fronts, struct vgpu_front, link);
	vgpu_gpu_remove_fronts(gpu, front);
	/* Wait for readers and writers, so with no lock that these take. */
	vgpu_sysfs_remove_gpu(gpu);
	vgpu_debugfs_remove_gpu(gpu);

	mutex_lock(&vgpu_registry_lock);
	list_del(&gpu->link);
	mutex_unlock(&vgpu_registry_lock);

	/*
	 * A reader that looked the GPU up before still holds a reference. It
	 * looks at sched and ops with the lock held and gone unset only.
	 */
	mutex_lock(&gpu->lock);
	WARN_ON(!list_empty(&gpu->instances));
	gpu->gone = true;
	mutex_unlock(&gpu->lock);

	vgpu_sched_destroy(gpu->sched);
	vgpu_gpu_event(gpu, VGPU_EVENT_GPU_REMOVED, 0);
	vgpu_gpu_put(gpu);
}
EXPORT_SYMBOL_GPL(vgpu_unregister_gpu);
