// SPDX-License-Identifier: GPL-2.0
/* The interrupts of a vGPU that moves: its table, and what is pending. Eventfds are the user's. */
#include <linux/bitops.h>
#include <linux/pci_regs.h>
#include <linux/unaligned.h>

#include "irq.h"
#include "region.h"
#include "stream.h"

/**
 * vgpu_irq_save() - save the interrupts
 * @irqs: the vGPU's interrupts
 * @to: has room for each vector; its vectors are set
 *
 * Context: sleeps.
 */
void vgpu_irq_save(struct vgpu_irqs *irqs, struct vgpu_frame_function *to)
{
	struct vgpu_frame_vector *out;
	unsigned int vector;
	u32 state;

	to->vectors = cpu_to_le32(irqs->nr);
	mutex_lock(&irqs->lock);
	for (vector = 0; vector < irqs->nr; vector++) {
		out = &to->vector[vector];
		memcpy(out->entry, irqs->table + vector * VGPU_MSIX_ENTRY_SIZE,
		       VGPU_MSIX_ENTRY_SIZE);
		state = test_bit(vector, irqs->masked) ? VGPU_VECTOR_MASKED : 0;
		raw_spin_lock(&irqs->raise_lock);
		if (test_bit(vector, irqs->pending))
			state |= VGPU_VECTOR_PENDING;
		raw_spin_unlock(&irqs->raise_lock);
		out->state = cpu_to_le32(state);
	}
	mutex_unlock(&irqs->lock);
}

/**
 * vgpu_irq_load() - set the interrupts from what was saved
 * @irqs: the vGPU's interrupts; their user has set eventfds, or will
 * @from: of as many vectors, whose states are valid; other fields may be any
 *
 * A vector that the old vGPU had signalled shortly before it stood still may have got no further
 * than to an eventfd of the old monitor. So each vector that has an eventfd is raised once more; a
 * driver has to bear that anyway, as interrupts that are raised twice become one.
 *
 * Context: sleeps.
 */
void vgpu_irq_load(struct vgpu_irqs *irqs, const struct vgpu_frame_function *from)
{
	unsigned int vector, word;
	u32 state;

	for (vector = 0; vector < irqs->nr; vector++) {
		__le32 entry[VGPU_MSIX_ENTRY_SIZE / 4];

		memcpy(entry, from->vector[vector].entry, sizeof(entry));
		for (word = 0; word < ARRAY_SIZE(entry); word++)
			vgpu_irq_table_rw(irqs, vector * VGPU_MSIX_ENTRY_SIZE + 4 * word,
					  &entry[word], 4, true);
	}
	mutex_lock(&irqs->lock);
	for (vector = 0; vector < irqs->nr; vector++) {
		state = le32_to_cpu(from->vector[vector].state);
		__assign_bit(vector, irqs->masked, state & VGPU_VECTOR_MASKED);
		raw_spin_lock(&irqs->raise_lock);
		if (state & VGPU_VECTOR_PENDING || irqs->trigger[vector])
			__set_bit(vector, irqs->pending);
		raw_spin_unlock(&irqs->raise_lock);
	}
	mutex_unlock(&irqs->lock);
	vgpu_irq_master(irqs);
}
