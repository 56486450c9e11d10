// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an instance: created and destroyed by its front end, opened,
 * reset and closed by whoever uses the device.
 *
 * State in short:
 *
 *	create -> [closed] -> open -> [started] -> close -> [closed] -> destroy
 *	                                 | reset ^
 *	                                 +-------+
 */
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "core.h"

static int vgpu_instance_place(struct vgpu_gpu *gpu,
			       struct vgpu_instance *instance)
{
	const struct vgpu_type *type = instance->type;
	struct vgpu_placement *p = &gpu->placement;
	char why[VGPU_TEXT_LEN] = "";
	enum vgpu_short what;
	u32 free_gb, other_gb;
	unsigned int nr;
	bool dying;
	int ret = 0;

	mutex_lock(&gpu->lock);
	dying = gpu->dying;
	free_gb = vgpu_placement_free_gb(p);
	other_gb = p->nr ? p->used[0].size_gb : 0;
	nr = p->nr;
	what = dying ? VGPU_SHORT_NOTHING :
	       vgpu_placement_take(p, type->size_gb, &instance->first_gb);
	if (!dying && what == VGPU_SHORT_NOTHING) {
		ret = vgpu_shares_join(instance, why, sizeof(why));
		if (ret)
			vgpu_placement_put(p, instance->first_gb);
	}
	mutex_unlock(&gpu->lock);

	if (dying)
		return vgpu_refuse(instance, -ENODEV, "%s: the GPU is going away",
				   type->name);
	if (ret)
		return vgpu_refuse(instance, ret, "%s: %s", type->name, why);
	switch (what) {
	case VGPU_SHORT_NOTHING:
		break;
	case VGPU_SHORT_INSTANCES:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: instances: %u of %u exist on %s",
				   type->name, nr, VGPU_PLACEMENT_MAX,
				   gpu->name);
	case VGPU_SHORT_SIZE:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: placement: %s is in homogeneous mode and holds vGPUs of %u MiB, only that size fits",
				   type->name, gpu->name, other_gb * 1024);
	case VGPU_SHORT_FRAMEBUFFER:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: framebuffer: %u MiB wanted, %u of %u MiB free on %s",
				   type->name, type->size_gb * 1024,
				   free_gb * 1024, p->region_gb * 1024,
				   gpu->name);
	case VGPU_SHORT_PLACEMENT:
		return vgpu_refuse(instance, -ENOSPC,
				   "%s: placement: %u MiB are free on %s, but not at one of the %u places of this size",
				   type->name, free_gb * 1024, gpu->name,
				   vgpu_placement_count(p, type->size_gb));
	}

	vgpu_placement_channels(p, gpu->info.channels, instance->first_gb,
				type->size_gb, &instance->first_channel,
				&instance->nr_channels);
	return 0;
}

static void vgpu_instance_unplace(struct vgpu_gpu *gpu,
				  struct vgpu_instance *instance)
{
	mutex_lock(&gpu->lock);
	vgpu_shares_leave(instance);
	vgpu_placement_put(&gpu->placement, instance->first_gb);
	mutex_unlock(&gpu->lock);
}

/* From here on the GPU's settings reach it; so those of now are taken here. */
static void vgpu_instance_list(struct vgpu_gpu *gpu,
			       struct vgpu_instance *instance)
{
	mutex_lock(&gpu->lock);
	vgpu_instance_set_quarantine(instance);
	vgpu_shares_init_frl(instance);
	list_add_tail(&instance->link, &gpu->instances);
	gpu->nr_instances++;
	mutex_unlock(&gpu->lock);
}

/**
 * vgpu_instance_create() - a new instance
 * @gpu: on which GPU; the caller keeps it registered
 * @type: index into its types
 * @uuid: its name; the front end has seen to it that it is unique
 *
 * Sleeps. A refusal is in the log and kept for the control node.
 *
 * Return: the instance, to be ended by vgpu_instance_destroy(), or an ERR_PTR:
 * -ENOSPC, -ENOMEM, -ENODEV.
 */
struct vgpu_instance *vgpu_instance_create(struct vgpu_gpu *gpu,
					   unsigned int type,
					   const guid_t *uuid)
{
	struct vgpu_event_source *events;
	struct vgpu_instance *instance;
	u8 id[VGPU_ENTITY_ID_LEN];
	unsigned int i;
	int ret;

	instance = kzalloc(sizeof(*instance), GFP_KERNEL_ACCOUNT);
	if (!instance)
		return ERR_PTR(-ENOMEM);
	kref_get(&gpu->ref);
	kref_init(&instance->ref);
	instance->gpu = gpu;
	instance->uuid = *uuid;
	instance->type = &gpu->types[type];
	instance->fb_bytes = (u64)instance->type->size_gb << 30;
	instance->created_ns = ktime_get_ns();
	mutex_init(&instance->state_lock);
	init_rwsem(&instance->map_lock);
	spin_lock_init(&instance->front_lock);
	spin_lock_init(&instance->frl_lock);
	vgpu_event_limit_init(&instance->event_limit);
	ratelimit_default_init(&instance->log_limit);
	snprintf(instance->log_name, sizeof(instance->log_name), "vgpu %pUl",
		 uuid);
	vgpu_instance_init_quarantine(instance);

	ret = -ENOMEM;
	events = vgpu_event_source_get(uuid);
	if (!events)
		goto err_put;
	ret = vgpu_instance_place(gpu, instance);
	if (ret)
		goto err_events;

	vgpu_uuid_export(id, uuid);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_init(&instance->entity[i],
				 vgpu_sched_timeline(gpu->sched, i), id,
				 &instance->share);

	ret = gpu->ops->instance_create(instance);
	if (ret)
		goto err_entity;
	/* From here on what happens is its own, no refusal of the GPU. */
	instance->events = events;
	vgpu_instance_list(gpu, instance);

	vgpu_inst_notice(instance, "created: %s at %u MiB, channels %u..%u\n",
			 instance->type->name, instance->first_gb * 1024,
			 instance->first_channel,
			 instance->first_channel + instance->nr_channels - 1);
	vgpu_instance_event(instance, VGPU_EVENT_CREATED, 0, 0, 0);
	return instance;

err_entity:
	while (i--)
		vgpu_entity_exit(&instance->entity[i]);
	vgpu_instance_unplace(gpu, instance);
err_events:
	vgpu_event_source_put(events);
err_put:
	vgpu_instance_put(instance);
	return ERR_PTR(ret);
}

/**
 * vgpu_instance_destroy() - end an instance
 * @instance: closed; not to be used after
 *
 * Sleeps.
 */
void vgpu_instance_destroy(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;

	WARN_ON(instance->opened);
	mutex_lock(&gpu->lock);
	list_del(&instance->link);
	gpu->nr_instances--;
	instance->gone = true;
	mutex_unlock(&gpu->lock);

	/* The first brings about the second. */
	cancel_work_sync(&instance->overrun_work);
	cancel_delayed_work_sync(&instance->quarantine_work);
	gpu->ops->instance_destroy(instance);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_exit(&instance->entity[i]);
	vgpu_instance_unplace(gpu, instance);

	vgpu_inst_notice(instance, "removed\n");
	vgpu_instance_event(instance, VGPU_EVENT_REMOVED, 0, 0, 0);
	vgpu_instance_put(instance);
}

static void vgpu_instance_set_front(struct vgpu_instance *instance,
				    const struct vgpu_front_ops *front)
{
	spin_lock(&instance->front_lock);
	instance->front = front;
	spin_unlock(&instance->front_lock);
}

/**
 * vgpu_instance_open() - a user opens the device
 * @instance: which
 * @front: how to reach guest memory and interrupts, until close
 *
 * The device comes up as after a reset. current is charged for its memory.
 * Sleeps.
 *
 * Return: 0, -EBUSY if it is open already, -ENODEV, -ENOMEM.
 */
int vgpu_instance_open(struct vgpu_instance *instance,
		       const struct vgpu_front_ops *front)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;
	int ret;

	mutex_lock(&instance->state_lock);
	if (instance->opened) {
		ret = -EBUSY;
		goto err_unlock;
	}
	if (!try_module_get(gpu->ops->owner)) {
		ret = -ENODEV;
		goto err_unlock;
	}
	ret = gpu->ops->instance_open(instance);
	if (ret)
		goto err_module;

	vgpu_instance_set_front(instance, front);
	instance->dma = vgpu_dma_start(instance);
	if (IS_ERR(instance->dma)) {
		ret = PTR_ERR(instance->dma);
		goto err_close;
	}

	instance->owner_pid = task_tgid_nr(current);
	instance->started_ns = ktime_get_ns();
	instance->opened = true;
	/* Nothing can fail any more: policies count it from here to close. */
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_start(&instance->entity[i]);
	vgpu_instance_unhold(instance, VGPU_HOLD_STOPPED);
	mutex_unlock(&instance->state_lock);

	vgpu_instance_event(instance, VGPU_EVENT_STARTED, instance->owner_pid,
			    0, 0);
	return 0;

err_close:
	instance->dma = NULL;
	vgpu_instance_set_front(instance, NULL);
	gpu->ops->instance_close(instance);
err_module:
	module_put(gpu->ops->owner);
err_unlock:
	mutex_unlock(&instance->state_lock);
	return ret;
}

/*
 * Stops all work, waiting until engines have left; guest memory that does not
 * answer is given up. Channels are disabled after.
 */
static void vgpu_instance_halt(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;

	lockdep_assert_held(&instance->state_lock);
	vgpu_instance_hold(instance, VGPU_HOLD_STOPPED);
	vgpu_dma_abort(instance->dma);
	gpu->ops->instance_stop(instance);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_hold_sync(&instance->entity[i], VGPU_HOLD_STOPPED);
}

/* Gives all memory back; what the user has mapped faults anew after. */
static void vgpu_instance_drop_memory(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_function_desc desc = {};
	unsigned int bar;

	gpu->ops->describe(instance, &desc);
	down_write(&instance->map_lock);
	/* First: a reserved page that is mapped would have to be replaced. */
	for (bar = 0; bar < VGPU_REGION_MAX; bar++)
		if (desc.region[bar].flags & VGPU_REGION_MMAP)
			instance->front->zap(instance, bar);
	gpu->ops->drop_memory(instance);
	up_write(&instance->map_lock);
}

/**
 * vgpu_instance_reset() - reset the device
 * @instance: open
 *
 * Channels are disabled, registers at their reset values, memory reads zero.
 * Fault counters, statistics and quarantine stay. Sleeps.
 *
 * Return: 0, or -ENODEV if it is not open.
 */
int vgpu_instance_reset(struct vgpu_instance *instance)
{
	mutex_lock(&instance->state_lock);
	if (!instance->opened) {
		mutex_unlock(&instance->state_lock);
		return -ENODEV;
	}
	vgpu_instance_halt(instance);
	vgpu_instance_drop_memory(instance);
	vgpu_dma_resume(instance->dma);
	vgpu_instance_unhold(instance, VGPU_HOLD_STOPPED);
	mutex_unlock(&instance->state_lock);

	atomic64_inc(&instance->resets);
	vgpu_instance_event(instance, VGPU_EVENT_RESET, 0, 0, 0);
	return 0;
}

/**
 * vgpu_instance_close() - the last user has closed the device
 * @instance: open
 *
 * When this returns nothing reaches guest memory any more, and no byte of it is
 * left on the GPU. Sleeps.
 */
void vgpu_instance_close(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;

	mutex_lock(&instance->state_lock);
	vgpu_dma_uncharge(instance->dma);
	vgpu_instance_halt(instance);
	/* Held and off the engines; its place goes to others now. */
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_stop(&instance->entity[i]);
	vgpu_dma_stop(instance->dma);
	instance->dma = NULL;
	vgpu_instance_drop_memory(instance);
	vgpu_instance_set_front(instance, NULL);
	gpu->ops->instance_close(instance);
	instance->opened = false;
	instance->owner_pid = 0;
	instance->started_ns = 0;
	mutex_unlock(&instance->state_lock);

	vgpu_instance_event(instance, VGPU_EVENT_STOPPED, 0, 0, 0);
	module_put(gpu->ops->owner);
}

/**
 * vgpu_instance_region_rw() - a trapped access, for front ends
 * @instance: open
 * @bar: region
 * @offset: within the bytes it owns there
 * @buf: kernel memory
 * @count: as @region_rw of struct vgpu_gpu_ops
 * @write: direction
 *
 * A write that asks for a device reset returns when that is done. Sleeps.
 *
 * Return: 0 or -errno of the back end; a failed access changed nothing.
 */
int vgpu_instance_region_rw(struct vgpu_instance *instance, unsigned int bar,
			    u64 offset, void *buf, size_t count, bool write)
{
	int ret;

	ret = instance->gpu->ops->region_rw(instance, bar, offset, buf, count,
					    write);
	return ret == VGPU_REGION_RESET ? vgpu_instance_reset(instance) : ret;
}

/**
 * vgpu_instance_bus_master() - the function may reach guest memory again
 * @instance: open
 *
 * Accesses that waited for it go on. Does not sleep.
 */
void vgpu_instance_bus_master(struct vgpu_instance *instance)
{
	vgpu_dma_kick(instance->dma);
}
