// SPDX-License-Identifier: GPL-2.0
/* Reports by a back end about packets, doorbells and interrupts. */
#include <linux/module.h>

#include "../core.h"
#include "trace.h"

/**
 * vgpu_packet_submitted() - trace that an engine has seen a new value of put
 * @instance: the instance that owns the channel
 * @engine: index of the engine that the channel is bound to
 * @channel: number of the channel within the instance
 * @put: the new value, packets since the channel was enabled
 *
 * Context: any.
 */
void vgpu_packet_submitted(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			   u64 put)
{
	trace_vgpu_submit(&instance->uuid, engine, channel, put);
}
EXPORT_SYMBOL_GPL(vgpu_packet_submitted);

/**
 * vgpu_packet_done() - count and trace a packet that has completed
 * @instance: the instance that owns the channel
 * @engine: index of the engine that has completed the packet
 * @channel: number of the channel within the instance
 * @index: number of the packet, counted from when the channel was enabled
 * @type: enum vgpu_hw_packet_type; a PRESENT counts as a frame
 * @bytes: number of bytes that the packet wrote, without its signal
 *
 * Context: any that may take a spinlock, but without a timeline's lock.
 */
void vgpu_packet_done(struct vgpu_instance *instance, unsigned int engine, u32 channel, u64 index,
		      u8 type, u64 bytes)
{
	trace_vgpu_complete(&instance->uuid, engine, channel, index, type, bytes);
	if (type == VGPU_HW_PKT_PRESENT)
		atomic64_inc(&instance->frames);
	vgpu_entity_account(&instance->entity[engine], 1, bytes);
}
EXPORT_SYMBOL_GPL(vgpu_packet_done);

/**
 * vgpu_doorbell() - count a doorbell
 * @instance: the instance whose doorbell was rung
 *
 * Context: any.
 */
void vgpu_doorbell(struct vgpu_instance *instance)
{
	atomic64_inc(&instance->doorbells);
}
EXPORT_SYMBOL_GPL(vgpu_doorbell);

/**
 * vgpu_raise_irq() - raise an interrupt in the guest
 * @instance: the instance; nothing happens while the device is closed
 * @vector: MSI-X vector, below the number of vectors that the back end has described
 *
 * Context: process context, without a timeline's lock. Does not sleep.
 */
void vgpu_raise_irq(struct vgpu_instance *instance, unsigned int vector)
{
	raw_spin_lock(&instance->front_lock);
	if (instance->front) {
		atomic64_inc(&instance->interrupts);
		instance->front->raise_irq(instance, vector);
	}
	raw_spin_unlock(&instance->front_lock);
}
EXPORT_SYMBOL_GPL(vgpu_raise_irq);
