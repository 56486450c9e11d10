// SPDX-License-Identifier: GPL-2.0
/*
 * The registry: lists of the front ends and of the GPUs with their instances; functions that find a
 * GPU or an instance, and references that keep it.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "../core.h"

/*
 * Protects the two lists. Front ends register when the module loads and unregister when it unloads.
 * No back end can be loaded at either time, so vgpu_fronts_add_gpu() and vgpu_fronts_remove_gpu()
 * may walk vgpu_fronts without the lock. They must: remove_gpu may wait for the user of a vGPU.
 */
static DEFINE_RAW_SPINLOCK(vgpu_registry_lock);
static LIST_HEAD(vgpu_gpus);
static LIST_HEAD(vgpu_fronts);
static u32 vgpu_next_id;	/* protected by vgpu_registry_lock */

/**
 * vgpu_front_register() - register a front end
 * @front: must stay until vgpu_front_unregister()
 *
 * Context: module init, before any GPU is registered. Sleeps.
 */
void vgpu_front_register(struct vgpu_front *front)
{
	raw_spin_lock(&vgpu_registry_lock);
	list_add_tail(&front->link, &vgpu_fronts);
	raw_spin_unlock(&vgpu_registry_lock);
}

/**
 * vgpu_front_unregister() - unregister a front end
 * @front: registered before
 *
 * Context: module exit, when all GPUs have been unregistered. Sleeps.
 */
void vgpu_front_unregister(struct vgpu_front *front)
{
	raw_spin_lock(&vgpu_registry_lock);
	WARN_ON(!list_empty(&vgpu_gpus));
	list_del(&front->link);
	raw_spin_unlock(&vgpu_registry_lock);
}

/* Removes the GPU from the front ends that precede @front on the list, in reverse order. */
static void vgpu_fronts_remove_before(struct vgpu_gpu *gpu, struct vgpu_front *front)
{
	list_for_each_entry_continue_reverse(front, &vgpu_fronts, link)
		front->remove_gpu(gpu);
}

/**
 * vgpu_fronts_add_gpu() - add a GPU to all front ends
 * @gpu: ready for the creation of instances
 *
 * Context: sleeps.
 * Return: 0, or the error of a front end; then no front end has the GPU.
 */
int vgpu_fronts_add_gpu(struct vgpu_gpu *gpu)
{
	struct vgpu_front *front;
	int ret;

	list_for_each_entry(front, &vgpu_fronts, link) {
		ret = front->add_gpu(gpu);
		if (ret) {
			vgpu_gpu_err(gpu, "front end %s refused the GPU: %d\n", front->name, ret);
			vgpu_fronts_remove_before(gpu, front);
			return ret;
		}
	}
	return 0;
}

/**
 * vgpu_fronts_remove_gpu() - remove a GPU from all front ends
 * @gpu: added to them by vgpu_fronts_add_gpu()
 *
 * All instances of the GPU are destroyed when this returns.
 *
 * Context: sleeps, until the users of the instances have closed them.
 */
void vgpu_fronts_remove_gpu(struct vgpu_gpu *gpu)
{
	vgpu_fronts_remove_before(gpu, list_entry(&vgpu_fronts, struct vgpu_front, link));
}

/**
 * vgpu_registry_add() - add a GPU to the registry, where it can be found
 * @gpu: its lock is not held; its id is set
 *
 * Context: sleeps.
 */
void vgpu_registry_add(struct vgpu_gpu *gpu)
{
	raw_spin_lock(&vgpu_registry_lock);
	gpu->id = vgpu_next_id++;
	list_add_tail(&gpu->link, &vgpu_gpus);
	raw_spin_unlock(&vgpu_registry_lock);
}

/**
 * vgpu_registry_remove() - remove a GPU from the registry
 * @gpu: in the registry; its lock is not held
 *
 * A thread that found the GPU before keeps its reference.
 *
 * Context: sleeps.
 */
void vgpu_registry_remove(struct vgpu_gpu *gpu)
{
	raw_spin_lock(&vgpu_registry_lock);
	list_del(&gpu->link);
	raw_spin_unlock(&vgpu_registry_lock);
}

static void vgpu_gpu_free(struct kref *ref)
{
	struct vgpu_gpu *gpu = container_of(ref, struct vgpu_gpu, ref);

	vgpu_event_source_put(gpu->events);
	vgpu_event_source_put(gpu->refused);
	vgpu_session_log_exit(&gpu->sessions);
	put_device(gpu->dev);
	kvfree(gpu->samples);
	kfree(gpu->types);
	kfree(gpu);
}

/**
 * vgpu_gpu_put() - drop a reference to a GPU
 * @gpu: freed with the last reference
 *
 * Context: process context; sleeps only if it drops the last reference.
 */
void vgpu_gpu_put(struct vgpu_gpu *gpu)
{
	kref_put(&gpu->ref, vgpu_gpu_free);
}

/**
 * vgpu_gpu_find() - find a GPU by its number
 * @id: the GPU's number in the control ABI
 *
 * Context: sleeps.
 * Return: the GPU with a reference for the caller, or NULL.
 */
struct vgpu_gpu *vgpu_gpu_find(u32 id)
{
	struct vgpu_gpu *gpu, *found = NULL;

	raw_spin_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		if (gpu->id == id) {
			kref_get(&gpu->ref);
			found = gpu;
			break;
		}
	}
	raw_spin_unlock(&vgpu_registry_lock);
	return found;
}

/**
 * vgpu_gpu_find_device() - find a GPU by its physical function
 * @dev: the physical function
 *
 * Context: sleeps.
 * Return: the GPU with a reference for the caller, or NULL.
 */
struct vgpu_gpu *vgpu_gpu_find_device(const struct device *dev)
{
	struct vgpu_gpu *gpu, *found = NULL;

	raw_spin_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		if (gpu->dev == dev) {
			kref_get(&gpu->ref);
			found = gpu;
			break;
		}
	}
	raw_spin_unlock(&vgpu_registry_lock);
	return found;
}

/**
 * vgpu_gpu_enter() - begin to use a GPU's scheduler and its ops, without a lock
 * @gpu: a reference is held
 *
 * Only vgpu_unregister_gpu() waits for vgpu_gpu_leave().
 *
 * Context: any.
 * Return: false if the GPU is gone.
 */
bool vgpu_gpu_enter(struct vgpu_gpu *gpu)
{
	return refcount_inc_not_zero(&gpu->users);
}

/**
 * vgpu_gpu_leave() - undo vgpu_gpu_enter()
 * @gpu: a reference is held
 *
 * Context: process context; does not sleep.
 */
void vgpu_gpu_leave(struct vgpu_gpu *gpu)
{
	if (refcount_dec_and_test(&gpu->users))
		complete(&gpu->unused);
}

/**
 * vgpu_gpu_ids() - list the numbers of all GPUs
 * @ids: filled in
 * @room: length of @ids
 *
 * Context: sleeps.
 * Return: the number of GPUs; the numbers of the first @room of them are in @ids.
 */
unsigned int vgpu_gpu_ids(u32 *ids, unsigned int room)
{
	struct vgpu_gpu *gpu;
	unsigned int nr = 0;

	raw_spin_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		if (nr < room)
			ids[nr] = gpu->id;
		nr++;
	}
	raw_spin_unlock(&vgpu_registry_lock);
	return nr;
}

static void vgpu_instance_free(struct kref *ref)
{
	struct vgpu_instance *instance = container_of(ref, struct vgpu_instance, ref);

	vgpu_event_source_put(instance->events);
	if (instance->part)
		vgpu_partition_put(instance->part);
	vgpu_gpu_put(instance->gpu);
	kvfree(instance->samples);
	kfree(instance);
}

/**
 * vgpu_instance_put() - drop a reference to an instance
 * @instance: freed with the last reference
 *
 * Context: process context; sleeps only if it drops the last reference.
 */
void vgpu_instance_put(struct vgpu_instance *instance)
{
	kref_put(&instance->ref, vgpu_instance_free);
}

/**
 * vgpu_instances_get_locked() - take a reference to each instance of a GPU
 * @gpu: its data_lock is held
 * @all: filled in, for vgpu_instances_put()
 *
 * An instance may be destroyed before the caller looks at it. Its struct vgpu_instance stays.
 */
void vgpu_instances_get_locked(struct vgpu_gpu *gpu, struct vgpu_instances *all)
{
	struct vgpu_instance *instance;

	lockdep_assert_held(&gpu->data_lock);
	all->nr = 0;
	list_for_each_entry(instance, &gpu->instances, link) {
		kref_get(&instance->ref);
		all->at[all->nr++] = instance;
	}
}

/**
 * vgpu_instances_get() - take a reference to each instance of a GPU
 * @gpu: the GPU
 * @all: as vgpu_instances_get_locked() fills it in
 *
 * Context: does not sleep.
 */
void vgpu_instances_get(struct vgpu_gpu *gpu, struct vgpu_instances *all)
{
	raw_spin_lock(&gpu->data_lock);
	vgpu_instances_get_locked(gpu, all);
	raw_spin_unlock(&gpu->data_lock);
}

/**
 * vgpu_instances_put() - drop the references of vgpu_instances_get()
 * @all: the caller must not use it afterwards
 *
 * Context: process context; sleeps only if it drops the last reference to an instance.
 */
void vgpu_instances_put(struct vgpu_instances *all)
{
	unsigned int i;

	for (i = 0; i < all->nr; i++)
		vgpu_instance_put(all->at[i]);
}

/**
 * vgpu_instance_find() - find an instance on any GPU
 * @uuid: the instance's name
 *
 * Context: does not sleep.
 * Return: the instance with a reference for the caller, or NULL. The instance may have been
 * destroyed (its @gone is set) by the time the caller looks at it.
 */
struct vgpu_instance *vgpu_instance_find(const guid_t *uuid)
{
	struct vgpu_instance *instance, *found = NULL;
	struct vgpu_gpu *gpu;

	raw_spin_lock(&vgpu_registry_lock);
	list_for_each_entry(gpu, &vgpu_gpus, link) {
		raw_spin_lock(&gpu->data_lock);
		list_for_each_entry(instance, &gpu->instances, link) {
			if (guid_equal(&instance->uuid, uuid)) {
				kref_get(&instance->ref);
				found = instance;
				break;
			}
		}
		raw_spin_unlock(&gpu->data_lock);
		if (found)
			break;
	}
	raw_spin_unlock(&vgpu_registry_lock);
	return found;
}

/**
 * vgpu_instance_call() - call a function for an instance
 * @uuid: the instance's name, in the byte order of the control ABI
 * @func: called without a lock: the instance may be destroyed meanwhile, the GPU stays registered
 * @arg: for @func
 *
 * Context: sleeps if @func does.
 * Return: the value that @func returned, or -ENODEV if there is no such instance.
 */
int vgpu_instance_call(const u8 *uuid, int (*func)(struct vgpu_instance *instance, void *arg),
		       void *arg)
{
	struct vgpu_instance *instance;
	guid_t guid;
	int ret = -ENODEV;

	vgpu_uuid_import(&guid, uuid);
	instance = vgpu_instance_find(&guid);
	if (!instance)
		return -ENODEV;
	if (vgpu_gpu_enter(instance->gpu)) {
		ret = func(instance, arg);
		vgpu_gpu_leave(instance->gpu);
	}
	vgpu_instance_put(instance);
	return ret;
}
