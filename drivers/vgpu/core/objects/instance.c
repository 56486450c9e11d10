// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an instance. Its front end creates and destroys it; the user of the device opens,
 * resets and closes it.
 *
 * States:
 *
 *	create -> [closed] -> open -> [started] -> close -> [closed] -> destroy
 *	                                 | reset ^
 *	                                 +-------+
 */
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../core.h"
#include "place.h"

/*
 * Puts the instance on the GPU's list. Changes of the GPU's settings reach an instance on the list,
 * so it takes the present settings under the same lock.
 */
static void vgpu_instance_list(struct vgpu_gpu *gpu, struct vgpu_instance *instance)
{
	mutex_lock(&gpu->lock);
	vgpu_instance_set_quarantine(instance);
	vgpu_shares_update_frl(instance);
	raw_spin_lock(&gpu->data_lock);
	list_add_tail(&instance->link, &gpu->instances);
	gpu->nr_instances++;
	raw_spin_unlock(&gpu->data_lock);
	mutex_unlock(&gpu->lock);
}

/**
 * vgpu_instance_create() - create an instance
 * @gpu: the GPU; the caller keeps it registered
 * @type: index into the GPU's types
 * @uuid: name of the instance; the front end guarantees that it is unique
 *
 * A refusal is logged and kept for the control node.
 *
 * Context: sleeps.
 * Return: the instance, which vgpu_instance_destroy() destroys, or an ERR_PTR: -ENOSPC, -ENOMEM,
 * -ENODEV, or the back end's error.
 */
struct vgpu_instance *vgpu_instance_create(struct vgpu_gpu *gpu, unsigned int type,
					   const guid_t *uuid)
{
	struct vgpu_instance_info *info;
	struct vgpu_event_source *events;
	struct vgpu_instance *instance;
	u8 id[VGPU_ENTITY_ID_LEN];
	struct vgpu_share share;
	unsigned int i;
	int ret;

	instance = kzalloc(struct_size(instance, entity, gpu->info.nr_engines), GFP_KERNEL_ACCOUNT);
	if (!instance)
		return ERR_PTR(-ENOMEM);
	kref_get(&gpu->ref);
	kref_init(&instance->ref);
	instance->gpu = gpu;
	instance->uuid = *uuid;
	instance->type = &gpu->types[type];
	info = &instance->info;
	info->type_name = instance->type->name;
	info->fb_bytes = (u64)instance->type->size_gb << 30;
	info->num_heads = instance->type->num_heads;
	info->max_width = instance->type->max_width;
	info->max_height = instance->type->max_height;
	instance->created_ns = ktime_get_ns();
	mutex_init(&instance->state_lock);
	mutex_init(&instance->edid.lock);
	init_rwsem(&instance->map_lock);
	init_rwsem(&instance->show_lock);
	init_rwsem(&instance->access_lock);
	raw_spin_lock_init(&instance->front_lock);
	raw_spin_lock_init(&instance->owner.lock);
	raw_spin_lock_init(&instance->frl_lock);
	ratelimit_default_init(&instance->log_limit);
	snprintf(instance->log_name, sizeof(instance->log_name), "vgpu %pUl", uuid);
	vgpu_instance_init_quarantine(instance);

	ret = -ENOMEM;
	instance->samples = vgpu_sample_ring_new(gpu->info.nr_engines);
	if (!instance->samples)
		goto err_put;
	events = vgpu_event_source_get(uuid);
	if (!events)
		goto err_put;
	ret = vgpu_session_join(instance);
	if (ret)
		goto err_events;
	ret = vgpu_place_take(instance);
	if (ret)
		goto err_session;

	vgpu_uuid_export(id, uuid);
	vgpu_share_of(&instance->settings, vgpu_instance_start_gb(instance),
		      instance->type->size_gb, &share);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_init(&instance->entity[i],
				 vgpu_sched_timeline(instance->part->sched, i), id, &share);

	instance->backend = gpu->ops->instance_create(gpu, instance, info);
	if (IS_ERR(instance->backend)) {
		ret = PTR_ERR(instance->backend);
		goto err_entity;
	}
	/* Refusals were events of the GPU so far; from here on they are events of the instance. */
	instance->events = events;
	vgpu_instance_list(gpu, instance);

	vgpu_inst_notice(instance, "created: %s at %llu MiB, channels %u..%u\n", info->type_name,
			 info->fb_start >> 20, info->first_channel,
			 info->first_channel + info->nr_channels - 1);
	vgpu_instance_event(instance, VGPU_EVENT_CREATED, 0, 0, 0);
	return instance;

err_entity:
	while (i--)
		vgpu_entity_exit(&instance->entity[i]);
	vgpu_place_put(instance);
err_session:
	vgpu_session_leave(instance);
err_events:
	vgpu_event_source_put(events);
err_put:
	vgpu_instance_put(instance);
	return ERR_PTR(ret);
}

/**
 * vgpu_instance_backend() - get the back end's data of an instance
 * @instance: the instance
 *
 * Context: any.
 * Return: the pointer that the op instance_create returned.
 */
void *vgpu_instance_backend(const struct vgpu_instance *instance)
{
	return instance->backend;
}
EXPORT_SYMBOL_GPL(vgpu_instance_backend);

static void vgpu_instance_unlist(struct vgpu_gpu *gpu, struct vgpu_instance *instance)
{
	unsigned int i;

	mutex_lock(&gpu->lock);
	/*
	 * Add its counts to the GPU's sums of destroyed instances in the same critical section that
	 * takes it off the list, so that readers of sums never miss them.
	 */
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_retire(&instance->entity[i]);
	raw_spin_lock(&gpu->data_lock);
	list_del(&instance->link);
	gpu->nr_instances--;
	instance->gone = true;
	gpu->gone_frames += atomic64_read(&instance->frames);
	gpu->gone_faults += atomic64_read(&instance->faults);
	raw_spin_unlock(&gpu->data_lock);
	mutex_unlock(&gpu->lock);

	/* Wait for readers that found it before and may still be in channels_show. */
	down_write(&instance->show_lock);
	up_write(&instance->show_lock);
}

/**
 * vgpu_instance_destroy() - destroy an instance
 * @instance: not open; the caller must not use it afterwards
 *
 * Context: sleeps.
 */
void vgpu_instance_destroy(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;

	WARN_ON(instance->opened);
	vgpu_instance_unlist(gpu, instance);
	/* In this order, since the first work queues the second. */
	cancel_work_sync(&instance->overrun_work);
	cancel_delayed_work_sync(&instance->quarantine_work);
	gpu->ops->instance_destroy(instance);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_exit(&instance->entity[i]);
	vgpu_place_put(instance);
	vgpu_session_leave(instance);

	vgpu_inst_notice(instance, "removed\n");
	vgpu_instance_event(instance, VGPU_EVENT_REMOVED, 0, 0, 0);
	vgpu_instance_put(instance);
}

static void vgpu_instance_set_front(struct vgpu_instance *instance,
				    const struct vgpu_front_ops *front)
{
	raw_spin_lock(&instance->front_lock);
	instance->front = front;
	raw_spin_unlock(&instance->front_lock);
}

static void vgpu_instance_uncharge(struct vgpu_instance *instance)
{
	mem_cgroup_put(instance->info.memcg);
	instance->info.memcg = NULL;
}

/**
 * vgpu_instance_open() - open the device for a user
 * @instance: the instance
 * @front: ops for guest memory and interrupts; in use until vgpu_instance_close()
 *
 * The device starts as after a reset. Its memory is charged to current.
 *
 * Context: sleeps.
 * Return: 0, -EBUSY if the device is open already, -ENODEV if the back end's module is being
 * unloaded, -ENOMEM, or the back end's error.
 */
int vgpu_instance_open(struct vgpu_instance *instance, const struct vgpu_front_ops *front)
{
	struct vgpu_gpu *gpu = instance->gpu;
	struct vgpu_ctl_share settings;
	struct vgpu_session *session;
	unsigned int i;
	int ret;

	session = vgpu_session_new(instance->gpu);
	if (!session)
		return -ENOMEM;
	vgpu_shares_get(instance, &settings);
	mutex_lock(&instance->state_lock);
	if (instance->opened) {
		ret = -EBUSY;
		goto err_unlock;
	}
	if (!try_module_get(gpu->ops->owner)) {
		ret = -ENODEV;
		goto err_unlock;
	}
	instance->info.memcg = get_mem_cgroup_from_mm(current->mm);
	instance->info.vga = settings.vga;
	instance->state_bytes = 0;
	vgpu_edid_reset(instance);
	vgpu_owner_call(instance);
	ret = gpu->ops->instance_open ? gpu->ops->instance_open(instance) : 0;
	if (ret)
		goto err_uncharge;

	vgpu_instance_set_front(instance, front);
	instance->dma = vgpu_dma_start(instance);
	if (IS_ERR(instance->dma)) {
		ret = PTR_ERR(instance->dma);
		goto err_close;
	}

	vgpu_session_begin(instance, session);
	vgpu_sampler_open(gpu);
	instance->opened = true;
	/* Nothing fails from here on: policies count the instance until it is closed. */
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_start(&instance->entity[i]);
	vgpu_instance_unhold(instance, VGPU_HOLD_STOPPED);
	mutex_unlock(&instance->state_lock);

	vgpu_instance_event(instance, VGPU_EVENT_STARTED, task_tgid_nr(current), 0, 0);
	return 0;

err_close:
	instance->dma = NULL;
	vgpu_instance_set_front(instance, NULL);
	if (gpu->ops->instance_close)
		gpu->ops->instance_close(instance);
err_uncharge:
	vgpu_owner_end(instance);
	vgpu_instance_uncharge(instance);
	module_put(gpu->ops->owner);
err_unlock:
	mutex_unlock(&instance->state_lock);
	kfree(session);
	return ret;
}

/*
 * Disables all channels and waits until no engine works on the instance. Cancels accesses to guest
 * memory first, since guest memory may never answer.
 */
static void vgpu_instance_halt(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;

	lockdep_assert_held(&instance->state_lock);
	vgpu_instance_hold(instance, VGPU_HOLD_STOPPED);
	vgpu_dma_abort(instance->dma);
	if (gpu->ops->instance_stop)
		gpu->ops->instance_stop(instance);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_hold_sync(&instance->entity[i], VGPU_HOLD_STOPPED);
}

/* Drops all memory. The user's mappings fault when they are touched again. */
static void vgpu_instance_drop_memory(struct vgpu_instance *instance)
{
	struct vgpu_function_desc desc;
	unsigned int bar;

	vgpu_instance_describe(instance, &desc);
	down_write(&instance->map_lock);
	/* Zap before pages are dropped: a back end may keep a page that nobody else references. */
	for (bar = 0; bar < VGPU_REGION_MAX; bar++)
		if (desc.region[bar].flags & VGPU_REGION_MMAP)
			instance->front->zap(instance, bar);
	instance->gpu->ops->drop_memory(instance);
	up_write(&instance->map_lock);
}

/**
 * vgpu_instance_restart() - reset the device without counting that
 * @instance: open
 *
 * Context: its state lock is held; sleeps.
 */
void vgpu_instance_restart(struct vgpu_instance *instance)
{
	lockdep_assert_held(&instance->state_lock);
	atomic64_inc(&instance->restarts);
	vgpu_instance_halt(instance);
	vgpu_instance_drop_memory(instance);
	vgpu_dma_resume(instance->dma);
	vgpu_instance_unhold(instance, VGPU_HOLD_STOPPED);
}

static void vgpu_instance_was_reset(struct vgpu_instance *instance)
{
	atomic64_inc(&instance->resets);
	vgpu_instance_event(instance, VGPU_EVENT_RESET, 0, 0, 0);
}

/**
 * vgpu_instance_reset() - reset the device
 * @instance: the instance
 *
 * Disables channels, resets registers and makes memory read zero. Fault counters, statistics and
 * quarantine stay.
 *
 * Context: sleeps.
 * Return: 0, or -ENODEV if the device is not open.
 */
int vgpu_instance_reset(struct vgpu_instance *instance)
{
	mutex_lock(&instance->state_lock);
	if (!instance->opened) {
		mutex_unlock(&instance->state_lock);
		return -ENODEV;
	}
	vgpu_instance_restart(instance);
	mutex_unlock(&instance->state_lock);

	vgpu_instance_was_reset(instance);
	return 0;
}

/**
 * vgpu_instance_reclaim() - free the memory of a vGPU that has no known holder
 * @instance: the instance
 *
 * For a back end whose host is out of memory. Resets the vGPU, which would otherwise go on and take
 * as much again. Does nothing if the vGPU is not open, has a known holder by now, or is being reset
 * or closed.
 *
 * Context: sleeps.
 */
void vgpu_instance_reclaim(struct vgpu_instance *instance)
{
	bool unowned;

	if (!mutex_trylock(&instance->state_lock))
		return;
	unowned = instance->opened && !vgpu_owner_known(instance);
	if (unowned)
		vgpu_instance_restart(instance);
	mutex_unlock(&instance->state_lock);
	if (!unowned)
		return;
	vgpu_inst_notice_limited(instance,
				 "reset, and its memory taken: the host has none, and no process is known that has the vGPU\n");
	vgpu_instance_was_reset(instance);
}
EXPORT_SYMBOL_GPL(vgpu_instance_reclaim);

/**
 * vgpu_instance_close() - close the device after its last user
 * @instance: open
 *
 * Afterwards nothing accesses guest memory, and no byte of the guest's data is left on the GPU.
 *
 * Context: sleeps.
 */
void vgpu_instance_close(struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;
	unsigned int i;

	mutex_lock(&instance->state_lock);
	vgpu_dma_uncharge(instance->dma);
	vgpu_instance_halt(instance);
	vgpu_pause_close(instance);
	vgpu_dirty_close(instance);
	/* The instance is held and on no engine; others get its share from now on. */
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_stop(&instance->entity[i]);
	vgpu_dma_stop(instance->dma);
	instance->dma = NULL;
	vgpu_instance_drop_memory(instance);
	vgpu_instance_set_front(instance, NULL);
	if (gpu->ops->instance_close)
		gpu->ops->instance_close(instance);
	vgpu_owner_end(instance);
	vgpu_instance_uncharge(instance);
	vgpu_session_end(instance);
	vgpu_sampler_close(gpu);
	instance->opened = false;
	mutex_unlock(&instance->state_lock);

	vgpu_instance_event(instance, VGPU_EVENT_STOPPED, 0, 0, 0);
	module_put(gpu->ops->owner);
}

/**
 * vgpu_instance_describe() - describe the PCI function that the VM sees
 * @instance: the instance
 * @desc: filled in; constant for an instance, except for what depends on its vga
 *
 * Context: sleeps.
 */
void vgpu_instance_describe(struct vgpu_instance *instance, struct vgpu_function_desc *desc)
{
	memset(desc, 0, sizeof(*desc));
	instance->gpu->ops->describe(instance, desc);
}

/**
 * vgpu_instance_region_rw() - do a trapped access to a BAR
 * @instance: open
 * @bar: index of the BAR
 * @offset: first byte, within the bytes of the BAR that the instance owns
 * @buf: kernel memory, little endian
 * @count: bytes, as the op region_rw takes them
 * @write: write the BAR, else read it
 *
 * A write that requests a reset of the device returns when the reset is done. Accesses that change
 * state wait while the state is loaded. Other reads do not: those of registers that are no VGA
 * card's, which are the most frequent accesses, find a register as it is before or after that; and
 * those of the framebuffer may be done with map_lock held, which is inside of access_lock.
 *
 * Context: sleeps, killable.
 * Return: 0; -EINTR if the task was killed while it waited; or the back end's error. If it fails,
 * nothing has changed.
 */
int vgpu_instance_region_rw(struct vgpu_instance *instance, unsigned int bar, u64 offset,
			    void *buf, size_t count, bool write)
{
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;
	int ret;

	if (likely(!write && (!instance->info.vga || bar == VGPU_HW_BAR_FB)))
		return ops->region_rw(instance, bar, offset, buf, count, false);
	ret = down_read_killable(&instance->access_lock);
	if (ret)
		return ret;
	ret = ops->region_rw(instance, bar, offset, buf, count, write);
	up_read(&instance->access_lock);
	return ret == VGPU_REGION_RESET ? vgpu_instance_reset(instance) : ret;
}

/**
 * vgpu_instance_map_pages() - get pages of a BAR to map them
 * @instance: open
 * @bar: index of the BAR
 * @pgoff: first page, counted from the start of the BAR
 * @pages: filled in
 * @nr: length of @pages; all within the bytes of the BAR that the instance owns
 *
 * The pages stay until the caller releases the instance's map_lock.
 *
 * Context: map_lock is held for reading. Sleeps.
 * Return: the number of pages, at least 1; -EAGAIN if the host has no memory at the moment;
 * -ENOMEM if the memory of the process that pays is used up.
 */
int vgpu_instance_map_pages(struct vgpu_instance *instance, unsigned int bar, pgoff_t pgoff,
			    struct page **pages, unsigned int nr)
{
	lockdep_assert_held_read(&instance->map_lock);
	return instance->gpu->ops->map_pages(instance, bar, pgoff, pages, nr) ?: -ENOMEM;
}

/**
 * vgpu_instance_bus_master() - resume accesses to guest memory after bus mastering was switched on
 * @instance: open
 *
 * Context: does not sleep.
 */
void vgpu_instance_bus_master(struct vgpu_instance *instance)
{
	vgpu_dma_kick(instance->dma);
}
