/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mdev front end: a vGPU is a PCI function over VFIO.
 *
 * Locks, none of them held over an access to user memory:
 * config_lock (mutex), then vgpu_irqs.lock (mutex), then vgpu_irqs.raise_lock
 * (spinlock). The instance's locks are taken with none of them held, but its
 * front_lock, under which a back end's interrupt takes raise_lock.
 */
#ifndef _VGPU_MDEV_H
#define _VGPU_MDEV_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/vfio.h>
#include <linux/wait.h>

#include "../core/core.h"
#include "config.h"
#include "region.h"

struct attribute_group;
struct eventfd_ctx;
struct task_struct;

/**
 * struct vgpu_irqs - interrupts of a vGPU
 * @lock:     protects @trigger, @masked, @table, @request, and what is changed
 *            together with them; held while eventfds are signalled, so that none is
 *            signalled any more when a change of these returns. That may take as
 *            long as the user likes: only the user's own calls and @task take it
 * @nr:       MSI-X vectors
 * @trigger:  eventfd per vector, or NULL
 * @masked:   vectors that the user has masked in the table here
 * @table:    MSI-X table as the user wrote it
 * @request:  eventfd that asks the user to let go of the device, or NULL
 * @raise_lock: protects what follows, but @wait and @task; held briefly
 * @enabled:  the user has set eventfds, and not disabled the index since
 * @kicked:   @task is to look at what is pending
 * @request_pending: the user is to be asked to let go of the device
 * @pending:  raised and not signalled yet
 * @wait:     @task sleeps here
 * @task:     signals what is pending; there while the device is open
 */
struct vgpu_irqs {
	struct mutex lock;	/* see above */
	unsigned int nr;
	struct eventfd_ctx **trigger;
	unsigned long *masked;
	u8 *table;
	struct eventfd_ctx *request;
	spinlock_t raise_lock;	/* what follows */
	bool enabled;
	bool kicked;
	bool request_pending;
	unsigned long *pending;
	wait_queue_head_t wait;
	struct task_struct *task;
};

/**
 * struct vgpu_mdev - a vGPU as a VFIO device
 * @vdev:        VFIO's, first
 * @instance:    the core's; constant from probe to remove
 * @regions:     constant
 * @config_lock: serialises accesses to @config, and writes of @state
 * @config:      PCI configuration space
 * @state:       vgpu_config_state(), read without lock
 * @opened:      mappings may be filled; changes before the pages are dropped
 *               under the instance's map_lock
 * @irqs:        interrupts
 * @map_next:    page of the file after those that were mapped last; a hint
 * @map_failures: page faults that could not be served
 */
struct vgpu_mdev {
	struct vfio_device vdev;
	struct vgpu_instance *instance;
	struct vgpu_regions regions;
	struct mutex config_lock;	/* config, state */
	struct vgpu_config config;
	unsigned int state;
	bool opened;
	struct vgpu_irqs irqs;
	u64 map_next;
	atomic64_t map_failures;
};

/* mdev.c */
int vgpu_mdev_init(void);
void vgpu_mdev_exit(void);

/* attrs.c */
extern const struct attribute_group *vgpu_mdev_attr_groups[];
void vgpu_mdev_attrs_init(void);

/* vfio.c */
extern const struct vfio_device_ops vgpu_vfio_ops;
int vgpu_vfio_setup(struct vgpu_mdev *dev, struct vgpu_instance *instance);

/* irq.c */
int vgpu_irq_init(struct vgpu_irqs *irqs, unsigned int vectors);
void vgpu_irq_free(struct vgpu_irqs *irqs);
unsigned int vgpu_irq_count(const struct vgpu_irqs *irqs, unsigned int index);
int vgpu_irq_set(struct vgpu_mdev *dev, const struct vfio_irq_set *set,
		 const void *data);
void vgpu_irq_raise(struct vgpu_mdev *dev, unsigned int vector);
void vgpu_irq_master(struct vgpu_mdev *dev);
void vgpu_irq_reset(struct vgpu_irqs *irqs);
int vgpu_irq_start(struct vgpu_mdev *dev);
void vgpu_irq_stop(struct vgpu_mdev *dev);
bool vgpu_irq_request(struct vgpu_irqs *irqs);
int vgpu_irq_table_rw(struct vgpu_mdev *dev, u32 offset, void *buf, u32 len,
		      bool write);

/* map.c */
int vgpu_map_mmap(struct vgpu_mdev *dev, struct vm_area_struct *vma);
void vgpu_map_zap(struct vgpu_mdev *dev, unsigned int bar);

#endif /* _VGPU_MDEV_H */
