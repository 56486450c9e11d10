/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts of a vGPU over VFIO: MSI-X vectors, and the request to release the device. */
#ifndef _VGPU_IRQ_H
#define _VGPU_IRQ_H

#include <linux/mutex.h>
#include <linux/rcuwait.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vfio.h>

#include "../core/core.h"

struct eventfd_ctx;
struct task_struct;
struct vgpu_frame_function;
struct vgpu_regions;

/**
 * struct vgpu_irqs - interrupts of a vGPU
 * @lock:     protects @trigger, @masked, @table, @request and @held, and serialises changes of
 *            @enabled. Held while an eventfd is signalled, so an eventfd that a call has replaced
 *            is not signalled after that call. The user decides how long a signal takes, so only
 *            the user's own calls and @task take this lock
 * @instance: the vGPU. This and the next two fields are constant from vgpu_irq_setup() on
 * @state:    vgpu_config_state() of its configuration space; read without a lock
 * @pba:      offset of the pending bits in the page of the MSI-X table
 * @nr:       number of MSI-X vectors
 * @trigger:  the user's eventfd of each vector, or NULL
 * @masked:   vectors that the user has masked in @table
 * @table:    MSI-X table as the user wrote it
 * @request:  eventfd that asks the user to release the device, or NULL
 * @held:     no vector is signalled: the device stands still
 * @raise_lock: protects the following fields except @wait and @task; held briefly. Raw, since
 *            engines take it
 * @enabled:  the user has set eventfds of vectors, and has not disabled MSI-X since
 * @kicked:   something may be pending that @task has not looked at
 * @request_pending: @task must signal @request
 * @pending:  vectors that were raised and have not been signalled yet
 * @wait:     @task sleeps here
 * @task:     the interrupt thread: signals what is pending; runs while the device is open
 */
struct vgpu_irqs {
	struct mutex lock;	/* trigger, masked, table, request, held */
	struct vgpu_instance *instance;
	const unsigned int *state;
	u32 pba;
	unsigned int nr;
	struct eventfd_ctx **trigger;
	unsigned long *masked;
	u8 *table;
	struct eventfd_ctx *request;
	bool held;
	raw_spinlock_t raise_lock;	/* enabled, kicked, request_pending, pending */
	bool enabled;
	bool kicked;
	bool request_pending;
	unsigned long *pending;
	struct rcuwait wait;
	struct task_struct *task;
};

void vgpu_irq_init(struct vgpu_irqs *irqs);
int vgpu_irq_setup(struct vgpu_irqs *irqs, struct vgpu_instance *instance,
		   const struct vgpu_regions *regions, const unsigned int *state);
void vgpu_irq_free(struct vgpu_irqs *irqs);
unsigned int vgpu_irq_count(const struct vgpu_irqs *irqs, unsigned int index);
int vgpu_irq_set(struct vgpu_irqs *irqs, const struct vfio_irq_set *set, const void *data);
void vgpu_irq_raise(struct vgpu_irqs *irqs, unsigned int vector);
void vgpu_irq_master(struct vgpu_irqs *irqs);
void vgpu_irq_hold(struct vgpu_irqs *irqs, bool hold);
void vgpu_irq_reset(struct vgpu_irqs *irqs);
int vgpu_irq_start(struct vgpu_irqs *irqs);
void vgpu_irq_stop(struct vgpu_irqs *irqs);
bool vgpu_irq_request(struct vgpu_irqs *irqs);
void vgpu_irq_save(struct vgpu_irqs *irqs, struct vgpu_frame_function *to);
void vgpu_irq_load(struct vgpu_irqs *irqs, const struct vgpu_frame_function *from);
int vgpu_irq_table_rw(struct vgpu_irqs *irqs, u32 offset, void *buf, u32 len, bool write);

#endif /* _VGPU_IRQ_H */
