// SPDX-License-Identifier: GPL-2.0
/*
 * What a back end reports about packets, doorbells and interrupts.
 */
#include <linux/module.h>

#include "core.h"
#include "trace.h"

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
 * vgpu_doorbell() - count a doorbell
 * @instance: whose doorbell was rung
 *
 * Context: any.
 */
void vgpu_doorbell(struct vgpu_instance *instance)
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
