// SPDX-License-Identifier: GPL-2.0
/*
 * What a back end reports of its work, and refusals.
 */
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "core.h"
#include "trace.h"

/**
 * vgpu_work_ready() - an engine has something to do for an instance
 * @instance: which
 * @engine: index
 *
 * Does not sleep. Harmless if it was known already.
 */
void vgpu_work_ready(struct vgpu_instance *instance, unsigned int engine)
{
	vgpu_entity_wake(&instance->entity[engine]);
}
EXPORT_SYMBOL_GPL(vgpu_work_ready);

/**
 * vgpu_engine_done() - a run has ended, the engine is free
 * @gpu: the GPU
 * @engine: index
 * @end: why
 * @idle_ns: of the run spent with nothing to do, not charged
 * @linger_ns: likewise, but where vgpu_engine_poll() said VGPU_POLL_LINGER:
 *             charged
 * @next: what to run at once
 *
 * Does not sleep.
 *
 * Return: true if @next is set; the engine's deadline and instance are in it.
 */
bool vgpu_engine_done(struct vgpu_gpu *gpu, unsigned int engine,
		      enum vgpu_run_end end, u64 idle_ns, u64 linger_ns,
		      struct vgpu_run *next)
{
	struct vgpu_entity *entity;
	u64 deadline_ns;

	trace_vgpu_run_end(gpu->name, engine, end, idle_ns);
	entity = vgpu_timeline_done(vgpu_sched_timeline(gpu->sched, engine),
				    end, idle_ns, linger_ns,
				    &deadline_ns);
	if (!entity)
		return false;
	next->instance = vgpu_entity_instance(entity, engine);
	next->deadline_ns = deadline_ns;
	trace_vgpu_switch(gpu->name, engine, &next->instance->uuid,
			  deadline_ns);
	return true;
}
EXPORT_SYMBOL_GPL(vgpu_engine_done);

/**
 * vgpu_engine_poll() - what an engine that has found no work is to do
 * @gpu: the GPU
 * @engine: index
 * @empty_ns: for how long it has looked
 *
 * Does not sleep.
 *
 * Return: enum vgpu_poll; asked again and again it may change its mind.
 */
enum vgpu_poll vgpu_engine_poll(struct vgpu_gpu *gpu, unsigned int engine,
				u64 empty_ns)
{
	return vgpu_timeline_poll(vgpu_sched_timeline(gpu->sched, engine), empty_ns);
}
EXPORT_SYMBOL_GPL(vgpu_engine_poll);

/**
 * vgpu_work_ready_at() - an engine will have something to do for an instance
 * @instance: which
 * @engine: index
 * @ready_ns: when, CLOCK_MONOTONIC; of several such times the earliest counts
 *
 * Does not sleep.
 */
void vgpu_work_ready_at(struct vgpu_instance *instance, unsigned int engine,
			u64 ready_ns)
{
	vgpu_entity_wake_at(&instance->entity[engine], ready_ns);
}
EXPORT_SYMBOL_GPL(vgpu_work_ready_at);

/**
 * vgpu_packet_submitted() - an engine saw put move
 * @instance: whose channel
 * @engine: it is bound to
 * @channel: of the instance
 * @put: its new value
 */
void vgpu_packet_submitted(struct vgpu_instance *instance, unsigned int engine,
			   u32 channel, u64 put)
{
	trace_vgpu_submit(&instance->uuid, engine, channel, put);
}
EXPORT_SYMBOL_GPL(vgpu_packet_submitted);

/**
 * vgpu_packet_done() - a packet has completed
 * @instance: whose channel
 * @engine: it is bound to
 * @channel: of the instance
 * @index: of the packet
 * @type: enum vgpu_hw_packet_type
 * @bytes: it has written, without its signal
 */
void vgpu_packet_done(struct vgpu_instance *instance, unsigned int engine,
		      u32 channel, u64 index, u8 type, u64 bytes)
{
	trace_vgpu_complete(&instance->uuid, engine, channel, index, type,
			    bytes);
	if (type == VGPU_HW_PKT_PRESENT)
		atomic64_inc(&instance->frames);
	vgpu_entity_account(&instance->entity[engine], 1, bytes);
}
EXPORT_SYMBOL_GPL(vgpu_packet_done);

/**
 * vgpu_doorbell() - a doorbell was rung
 * @instance: whose
 * @channel: of the instance
 */
void vgpu_doorbell(struct vgpu_instance *instance, u32 channel)
{
	atomic64_inc(&instance->doorbells);
}
EXPORT_SYMBOL_GPL(vgpu_doorbell);

/**
 * vgpu_raise_irq() - interrupt the guest
 * @instance: which
 * @vector: MSI-X vector, checked by the back end
 *
 * Does not sleep. Nothing happens when nobody has the device open.
 */
void vgpu_raise_irq(struct vgpu_instance *instance, unsigned int vector)
{
	spin_lock(&instance->front_lock);
	if (instance->front) {
		atomic64_inc(&instance->interrupts);
		instance->front->raise_irq(instance, vector);
	}
	spin_unlock(&instance->front_lock);
}
EXPORT_SYMBOL_GPL(vgpu_raise_irq);

#define VGPU_REFUSALS	64

struct vgpu_refusal {
	guid_t uuid;
	int error;		/* 0: free */
	u64 time_ns;
	char text[VGPU_TEXT_LEN];
};

/* A refused instance never was: so its reason is kept by UUID, the newest 64. */
static DEFINE_MUTEX(vgpu_refusals_lock);	/* protects the two below */
static struct vgpu_refusal vgpu_refusals[VGPU_REFUSALS];
static unsigned int vgpu_refusals_next;

/**
 * vgpu_refuse() - say why an instance is not created or not changed
 * @instance: that is being created or set
 * @error: -errno
 * @fmt: the short pool, the limit and what would fit; no newline
 *
 * Goes to the kernel log, the event stream and the control node. Sleeps.
 *
 * Return: @error.
 */
int vgpu_refuse(struct vgpu_instance *instance, int error, const char *fmt, ...)
{
	struct vgpu_refusal *r = NULL;
	unsigned int i;
	va_list args;

	mutex_lock(&vgpu_refusals_lock);
	for (i = 0; i < VGPU_REFUSALS; i++)
		if (guid_equal(&vgpu_refusals[i].uuid, &instance->uuid))
			r = &vgpu_refusals[i];
	if (!r)
		r = &vgpu_refusals[vgpu_refusals_next++ % VGPU_REFUSALS];
	r->uuid = instance->uuid;
	r->error = -error;
	r->time_ns = ktime_get_ns();
	va_start(args, fmt);
	vscnprintf(r->text, sizeof(r->text), fmt, args);
	va_end(args);
	/* Those that are never created are all said to be the GPU's. */
	if (instance->events ? vgpu_inst_may_log(instance) :
			       vgpu_gpu_may_log(instance->gpu))
		vgpu_inst_notice(instance, "refused: %s\n", r->text);
	mutex_unlock(&vgpu_refusals_lock);

	vgpu_instance_event(instance, VGPU_EVENT_REFUSED, -error, 0, 0);
	return error;
}
EXPORT_SYMBOL_GPL(vgpu_refuse);

/**
 * vgpu_refusal_get() - why a UUID was refused
 * @uuid: which
 * @refusal: error, time and text are filled in
 *
 * Return: 0, or -ENOENT if it is not known.
 */
int vgpu_refusal_get(const guid_t *uuid, struct vgpu_ctl_refusal *refusal)
{
	int ret = -ENOENT;
	unsigned int i;

	mutex_lock(&vgpu_refusals_lock);
	for (i = 0; i < VGPU_REFUSALS; i++) {
		const struct vgpu_refusal *r = &vgpu_refusals[i];

		if (!r->error || !guid_equal(&r->uuid, uuid))
			continue;
		refusal->error = r->error;
		refusal->time_ns = r->time_ns;
		strscpy(refusal->text, r->text, sizeof(refusal->text));
		ret = 0;
		break;
	}
	mutex_unlock(&vgpu_refusals_lock);
	return ret;
}
