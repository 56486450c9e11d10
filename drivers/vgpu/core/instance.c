// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an instance: created and destroyed by its front end, opened,
 * reset and closed by whoever uses the device, held back by quarantine.
 *
 * State in short:
 *
 *	create -> [closed] -> open -> [started] -> close -> [closed] -> destroy
 *	                                 | reset ^
 *	                                 +-------+
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "core.h"
#include "trace.h"

static unsigned int quarantine_faults = VGPU_QUARANTINE_FAULTS;
module_param(quarantine_faults, uint, 0444);
MODULE_PARM_DESC(quarantine_faults, "Faults within 60 s that put a vGPU into quarantine, 1..16; 0: never (3)");

static unsigned int quarantine_backoff_ms = VGPU_QUARANTINE_BACKOFF_NS / NSEC_PER_MSEC;
module_param(quarantine_backoff_ms, uint, 0444);
MODULE_PARM_DESC(quarantine_backoff_ms, "First quarantine in ms, doubled each time, 1..3600000 (60000)");

/**
 * vgpu_instance_check_params() - check the parameters of this file
 *
 * Called when the module loads.
 *
 * Return: 0, or -EINVAL (said in the log).
 */
int vgpu_instance_check_params(void)
{
	if (quarantine_faults > VGPU_QUARANTINE_MAX_FAULTS) {
		pr_err("quarantine_faults=%u: must be 0..%u\n",
		       quarantine_faults, VGPU_QUARANTINE_MAX_FAULTS);
		return -EINVAL;
	}
	if (quarantine_backoff_ms < 1 || quarantine_backoff_ms > 3600000) {
		pr_err("quarantine_backoff_ms=%u: must be 1..3600000\n",
		       quarantine_backoff_ms);
		return -EINVAL;
	}
	return 0;
}

static void vgpu_instance_free(struct kref *ref)
{
	struct vgpu_instance *instance =
		container_of(ref, struct vgpu_instance, ref);

	vgpu_gpu_put(instance->gpu);
	kfree(instance);
}

/**
 * vgpu_instance_put() - drop a reference
 * @instance: may be gone after
 */
void vgpu_instance_put(struct vgpu_instance *instance)
{
	kref_put(&instance->ref, vgpu_instance_free);
}

static void vgpu_instance_hold(struct vgpu_instance *instance,
			       unsigned int hold)
{
	unsigned int i;

	for (i = 0; i < instance->gpu->info.nr_engines; i++)
		vgpu_entity_hold(&instance->entity[i], hold);
}

static void vgpu_instance_unhold(struct vgpu_instance *instance,
				 unsigned int hold)
{
	unsigned int i;

	for (i = 0; i < instance->gpu->info.nr_engines; i++)
		vgpu_entity_unhold(&instance->entity[i], hold);
}

/*
 * Brings the holds in line with the quarantine, and itself back when it ends.
 * Holding is done here, not where faults are counted: that may be under a
 * timeline's lock.
 */
static void vgpu_quarantine_work(struct work_struct *work)
{
	struct vgpu_instance *instance =
		container_of(to_delayed_work(work), struct vgpu_instance,
			     quarantine_work);
	u64 now_ns = ktime_get_ns(), until_ns;
	bool expired;

	spin_lock(&instance->quarantine_lock);
	expired = vgpu_quarantine_expire(&instance->quarantine, now_ns);
	until_ns = instance->quarantine.until_ns;
	spin_unlock(&instance->quarantine_lock);

	if (until_ns) {
		vgpu_instance_hold(instance, VGPU_HOLD_QUARANTINE);
		vgpu_inst_notice(instance, "quarantined for %llu s, after %u faults within %llu s; 'vgpuctl release %pUl' lifts it\n",
				 (until_ns - now_ns) / NSEC_PER_SEC,
				 quarantine_faults,
				 VGPU_QUARANTINE_WINDOW_NS / NSEC_PER_SEC,
				 &instance->uuid);
		/* Not mod: it would put off what a release has queued since. */
		queue_delayed_work(system_wq, &instance->quarantine_work,
				   nsecs_to_jiffies(until_ns - now_ns) + 1);
		return;
	}
	vgpu_instance_unhold(instance, VGPU_HOLD_QUARANTINE);
	if (expired) {
		vgpu_inst_notice(instance, "quarantine over\n");
		vgpu_event(VGPU_EVENT_RELEASED, instance->gpu, &instance->uuid,
			   0, 0, 0);
	}
}

/*
 * Counts a fault or a gross overrun towards quarantine. Any context that may
 * take a spinlock, also under a timeline's lock.
 */
static void vgpu_instance_strike(struct vgpu_instance *instance)
{
	u64 until_ns;
	bool begins;

	spin_lock(&instance->quarantine_lock);
	begins = vgpu_quarantine_fault(&instance->quarantine, ktime_get_ns());
	until_ns = instance->quarantine.until_ns;
	spin_unlock(&instance->quarantine_lock);
	if (!begins)
		return;

	vgpu_event(VGPU_EVENT_QUARANTINED, instance->gpu, &instance->uuid,
		   0, 0, until_ns);
	mod_delayed_work(system_wq, &instance->quarantine_work, 0);
}

/**
 * vgpu_instance_overrun() - it ran past its deadline beyond the preemption timeout
 * @instance: which
 *
 * Counts like a fault. May be called under a timeline's lock.
 */
void vgpu_instance_overrun(struct vgpu_instance *instance)
{
	vgpu_instance_strike(instance);
}

/*
 * An event that the guest can bring about at will: it must not push those of
 * others out of the ring.
 */
static void vgpu_instance_event(struct vgpu_instance *instance, u32 type, u32 a,
				u32 b, u64 c)
{
	if (__ratelimit(&instance->event_limit))
		vgpu_event(type, instance->gpu, &instance->uuid, a, b, c);
}

/**
 * vgpu_channel_fault() - a channel has faulted
 * @instance: whose channel
 * @engine: it is bound to
 * @channel: of the instance
 * @code: why
 * @index: of the packet
 *
 * The back end has stopped the channel and tells the guest itself. Does not
 * sleep; must not be called under a timeline's lock.
 */
void vgpu_channel_fault(struct vgpu_instance *instance, unsigned int engine,
			u32 channel, enum vgpu_hw_fault code, u64 index)
{
	atomic64_inc(&instance->faults);
	vgpu_entity_account_fault(&instance->entity[engine]);
	trace_vgpu_fault(&instance->uuid, engine, channel, code, index);
	vgpu_instance_event(instance, VGPU_EVENT_FAULT, channel, code, index);
	vgpu_instance_strike(instance);
}
EXPORT_SYMBOL_GPL(vgpu_channel_fault);

/**
 * vgpu_instance_quarantined() - whether the host holds an instance back
 * @instance: which
 *
 * Return: true while it is in quarantine.
 */
bool vgpu_instance_quarantined(struct vgpu_instance *instance)
{
	return READ_ONCE(instance->quarantine.until_ns);
}
EXPORT_SYMBOL_GPL(vgpu_instance_quarantined);

/**
 * vgpu_instance_release() - lift a quarantine
 * @instance: which; not gone, so the caller holds its GPU's lock
 *
 * Return: 0, or -EINVAL if it is not in quarantine.
 */
int vgpu_instance_release(struct vgpu_instance *instance)
{
	bool was;

	spin_lock(&instance->quarantine_lock);
	was = instance->quarantine.until_ns;
	if (was)
		vgpu_quarantine_release(&instance->quarantine);
	spin_unlock(&instance->quarantine_lock);
	if (!was)
		return -EINVAL;

	mod_delayed_work(system_wq, &instance->quarantine_work, 0);
	vgpu_inst_notice(instance, "quarantine lifted by the host\n");
	vgpu_event(VGPU_EVENT_RELEASED, instance->gpu, &instance->uuid, 0, 0,
		   0);
	return 0;
}

static int vgpu_instance_place(struct vgpu_gpu *gpu,
			       struct vgpu_instance *instance)
{
	const struct vgpu_type *type = instance->type;
	struct vgpu_placement *p = &gpu->placement;
	enum vgpu_short what;
	u32 free_gb, other_gb;
	unsigned int nr;
	bool dying;

	mutex_lock(&gpu->lock);
	dying = gpu->dying;
	free_gb = vgpu_placement_free_gb(p);
	other_gb = p->nr ? p->used[0].size_gb : 0;
	nr = p->nr;
	what = dying ? VGPU_SHORT_NOTHING :
	       vgpu_placement_take(p, type->size_gb, &instance->first_gb);
	mutex_unlock(&gpu->lock);

	if (dying)
		return vgpu_refuse(instance, -ENODEV, "%s: the GPU is going away",
				   type->name);
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
	vgpu_placement_put(&gpu->placement, instance->first_gb);
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
	struct vgpu_instance *instance;
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
	spin_lock_init(&instance->quarantine_lock);
	ratelimit_state_init(&instance->event_limit, HZ, VGPU_EVENTS_PER_S);
	/* Silent: the counters tell. */
	ratelimit_set_flags(&instance->event_limit, RATELIMIT_MSG_ON_RELEASE);
	vgpu_quarantine_init(&instance->quarantine, quarantine_faults,
			     VGPU_QUARANTINE_WINDOW_NS,
			     quarantine_backoff_ms * (u64)NSEC_PER_MSEC);
	INIT_DELAYED_WORK(&instance->quarantine_work, vgpu_quarantine_work);

	ret = vgpu_instance_place(gpu, instance);
	if (ret)
		goto err_put;

	for (i = 0; i < gpu->info.nr_engines; i++) {
		ret = vgpu_entity_init(&instance->entity[i],
				       vgpu_sched_timeline(gpu->sched, i));
		if (ret)
			goto err_entity;
	}

	ret = gpu->ops->instance_create(instance);
	if (ret)
		goto err_entity;

	mutex_lock(&gpu->lock);
	list_add_tail(&instance->link, &gpu->instances);
	gpu->nr_instances++;
	mutex_unlock(&gpu->lock);

	vgpu_inst_notice(instance, "created: %s at %u MiB, channels %u..%u\n",
			 instance->type->name, instance->first_gb * 1024,
			 instance->first_channel,
			 instance->first_channel + instance->nr_channels - 1);
	vgpu_event(VGPU_EVENT_CREATED, gpu, uuid, 0, 0, 0);
	return instance;

err_entity:
	while (i--)
		vgpu_entity_exit(&instance->entity[i]);
	vgpu_instance_unplace(gpu, instance);
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

	cancel_delayed_work_sync(&instance->quarantine_work);
	gpu->ops->instance_destroy(instance);
	for (i = 0; i < gpu->info.nr_engines; i++)
		vgpu_entity_exit(&instance->entity[i]);
	vgpu_instance_unplace(gpu, instance);

	vgpu_inst_notice(instance, "removed\n");
	vgpu_event(VGPU_EVENT_REMOVED, gpu, &instance->uuid, 0, 0, 0);
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
	vgpu_instance_unhold(instance, VGPU_HOLD_STOPPED);
	mutex_unlock(&instance->state_lock);

	vgpu_event(VGPU_EVENT_STARTED, gpu, &instance->uuid,
		   instance->owner_pid, 0, 0);
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

	mutex_lock(&instance->state_lock);
	vgpu_instance_halt(instance);
	vgpu_dma_stop(instance->dma);
	instance->dma = NULL;
	vgpu_instance_drop_memory(instance);
	vgpu_instance_set_front(instance, NULL);
	gpu->ops->instance_close(instance);
	instance->opened = false;
	instance->owner_pid = 0;
	instance->started_ns = 0;
	mutex_unlock(&instance->state_lock);

	vgpu_event(VGPU_EVENT_STOPPED, gpu, &instance->uuid, 0, 0, 0);
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
