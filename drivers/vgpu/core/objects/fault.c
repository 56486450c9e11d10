// SPDX-License-Identifier: GPL-2.0
/* Faults of an instance, and the quarantine that follows too many resets of its engines. */
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "../core.h"
#include "../stats/trace.h"

/*
 * Holds or unholds the instance according to its quarantine, and queues itself again for the end of
 * a quarantine. Only this work item does that, so holds and unholds come in the right order.
 */
static void vgpu_quarantine_work(struct work_struct *work)
{
	struct vgpu_instance *instance =
		container_of(to_delayed_work(work), struct vgpu_instance, quarantine_work);
	u64 now_ns = ktime_get_ns(), until_ns;
	unsigned int threshold;
	bool expired;

	raw_spin_lock(&instance->quarantine_lock);
	expired = vgpu_quarantine_expire(&instance->quarantine, now_ns);
	until_ns = instance->quarantine.until_ns;
	threshold = instance->quarantine.threshold;
	raw_spin_unlock(&instance->quarantine_lock);

	if (until_ns) {
		vgpu_instance_hold(instance, VGPU_HOLD_QUARANTINE);
		vgpu_inst_notice(instance, "quarantined for %llu s, after %u engine resets or gross overruns within %llu s; 'vgpuctl release %pUl' lifts it\n",
				 (until_ns - now_ns) / NSEC_PER_SEC, threshold,
				 VGPU_QUARANTINE_WINDOW_NS / NSEC_PER_SEC, &instance->uuid);
		/* mod_delayed_work() would delay an execution that a release has queued. */
		queue_delayed_work(system_wq, &instance->quarantine_work,
				   nsecs_to_jiffies(until_ns - now_ns) + 1);
		return;
	}
	vgpu_instance_unhold(instance, VGPU_HOLD_QUARANTINE);
	if (expired) {
		vgpu_inst_notice(instance, "quarantine over\n");
		vgpu_instance_event(instance, VGPU_EVENT_RELEASED, 0, 0, 0);
	}
}

/**
 * vgpu_instance_set_quarantine() - apply its partition's quarantine settings to an instance
 * @instance: the instance; the lock of its GPU is held
 */
void vgpu_instance_set_quarantine(struct vgpu_instance *instance)
{
	const struct vgpu_ctl_sched *settings = &instance->part->settings;

	lockdep_assert_held(&instance->gpu->lock);
	raw_spin_lock(&instance->quarantine_lock);
	vgpu_quarantine_set(&instance->quarantine, settings->quarantine_faults,
			    settings->quarantine_backoff_ms * (u64)NSEC_PER_MSEC);
	raw_spin_unlock(&instance->quarantine_lock);
}

/*
 * Counts a reset or a gross overrun towards quarantine. Process context; does not sleep. Must not
 * be called under a timeline's lock.
 */
static void vgpu_instance_strike(struct vgpu_instance *instance)
{
	u64 until_ns;
	bool begins;

	raw_spin_lock(&instance->quarantine_lock);
	begins = vgpu_quarantine_fault(&instance->quarantine, ktime_get_ns());
	until_ns = instance->quarantine.until_ns;
	raw_spin_unlock(&instance->quarantine_lock);
	if (!begins)
		return;

	vgpu_instance_event(instance, VGPU_EVENT_QUARANTINED, 0, 0, until_ns);
	mod_delayed_work(system_wq, &instance->quarantine_work, 0);
}

static void vgpu_overrun_work(struct work_struct *work)
{
	struct vgpu_instance *instance = container_of(work, struct vgpu_instance, overrun_work);
	int nr = atomic_xchg(&instance->overruns, 0);

	while (nr--)
		vgpu_instance_strike(instance);
}

/**
 * vgpu_instance_init_quarantine() - set up the quarantine of a new instance
 * @instance: private to the caller; vgpu_instance_set_quarantine() applies the settings later
 */
void vgpu_instance_init_quarantine(struct vgpu_instance *instance)
{
	raw_spin_lock_init(&instance->quarantine_lock);
	vgpu_quarantine_init(&instance->quarantine, 0, VGPU_QUARANTINE_WINDOW_NS, 0);
	INIT_DELAYED_WORK(&instance->quarantine_work, vgpu_quarantine_work);
	INIT_WORK(&instance->overrun_work, vgpu_overrun_work);
}

/**
 * vgpu_channel_fault() - report that a channel has faulted
 * @instance: the instance that owns the channel
 * @engine: index of the engine that the channel is bound to
 * @channel: index among the instance's channels
 * @code: the fault
 * @index: index of the packet that faulted
 *
 * The back end has stopped the channel, and tells the guest itself. Process context; does not
 * sleep. Must not be called under a timeline's lock.
 */
void vgpu_channel_fault(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			enum vgpu_hw_fault code, u64 index)
{
	atomic64_inc(&instance->faults);
	vgpu_entity_account_fault(&instance->entity[engine]);
	trace_vgpu_fault(&instance->uuid, engine, channel, code, index);
	vgpu_instance_event(instance, VGPU_EVENT_FAULT, channel, code, index);
	/*
	 * Only a reset has cost others their time on the engine. The rest an engine finds itself,
	 * in time that is charged to this vGPU, or it is the host that has no memory.
	 */
	if (code == VGPU_HW_FAULT_RESET)
		vgpu_instance_strike(instance);
}
EXPORT_SYMBOL_GPL(vgpu_channel_fault);

/**
 * vgpu_instance_quarantined() - tell whether an instance is in quarantine
 * @instance: the instance
 *
 * Takes no lock; the answer may change at any time.
 *
 * Return: true if it is in quarantine.
 */
bool vgpu_instance_quarantined(const struct vgpu_instance *instance)
{
	return READ_ONCE(instance->quarantine.until_ns);
}
EXPORT_SYMBOL_GPL(vgpu_instance_quarantined);

/**
 * vgpu_instance_release() - lift the quarantine of an instance
 * @instance: not gone; the caller holds the lock of its GPU, so it stays
 *
 * Return: 0, or -EINVAL if the instance is not in quarantine.
 */
int vgpu_instance_release(struct vgpu_instance *instance)
{
	bool was;

	raw_spin_lock(&instance->quarantine_lock);
	was = instance->quarantine.until_ns;
	if (was)
		vgpu_quarantine_release(&instance->quarantine);
	raw_spin_unlock(&instance->quarantine_lock);
	if (!was)
		return -EINVAL;

	mod_delayed_work(system_wq, &instance->quarantine_work, 0);
	vgpu_inst_notice(instance, "quarantine lifted by the host\n");
	vgpu_instance_event(instance, VGPU_EVENT_RELEASED, 0, 0, 0);
	return 0;
}

/**
 * vgpu_instance_faults_export() - tell what another host needs to go on counting faults
 * @instance: the instance
 * @ages: set
 *
 * Context: any.
 */
void vgpu_instance_faults_export(struct vgpu_instance *instance, struct vgpu_quarantine_ages *ages)
{
	raw_spin_lock(&instance->quarantine_lock);
	vgpu_quarantine_export(&instance->quarantine, ktime_get_ns(), ages);
	raw_spin_unlock(&instance->quarantine_lock);
}

/**
 * vgpu_instance_faults_import() - go on counting the faults that another host has counted
 * @instance: the instance
 * @ages: any numbers
 *
 * The rest of a quarantine begins here.
 *
 * Context: process context; does not sleep.
 */
void vgpu_instance_faults_import(struct vgpu_instance *instance,
				 const struct vgpu_quarantine_ages *ages)
{
	u64 was_ns, until_ns;

	raw_spin_lock(&instance->quarantine_lock);
	was_ns = instance->quarantine.until_ns;
	vgpu_quarantine_import(&instance->quarantine, ktime_get_ns(), ages);
	until_ns = instance->quarantine.until_ns;
	raw_spin_unlock(&instance->quarantine_lock);
	if (until_ns == was_ns)
		return;
	vgpu_instance_event(instance, VGPU_EVENT_QUARANTINED, 0, 0, until_ns);
	mod_delayed_work(system_wq, &instance->quarantine_work, 0);
}
