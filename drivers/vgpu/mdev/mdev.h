/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mdev front end: a vGPU is a PCI function over VFIO.
 *
 * Locks, none of them held over an access to user memory:
 * config_lock (mutex), then vgpu_irqs.lock (spinlock). The instance's locks are
 * taken with neither held.
 */
#ifndef _VGPU_MDEV_H
#define _VGPU_MDEV_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/vfio.h>

#include "../core/core.h"
#include "config.h"
#include "region.h"

struct attribute_group;
struct eventfd_ctx;

/**
 * struct vgpu_irqs - interrupts of a vGPU
 * @lock:     protects all below but @nr; inside of it eventfds are signalled
 * @nr:       MSI-X vectors
 * @enabled:  the user has set eventfds, and not disabled the index since
 * @trigger:  eventfd per vector, or NULL
 * @pending:  raised while it could not be delivered
 * @masked:   vectors that the user has masked in the table here
 * @table:    MSI-X table as the user wrote it
 * @request:  eventfd that asks the user to let go of the device, or NULL
 */
struct vgpu_irqs {
	spinlock_t lock;	/* all below */
	unsigned int nr;
	bool enabled;
	struct eventfd_ctx **trigger;
	unsigned long *pending;
	unsigned long *masked;
	u8 *table;
	struct eventfd_ctx *request;
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
void vgpu_irq_flush(struct vgpu_mdev *dev);
void vgpu_irq_reset(struct vgpu_irqs *irqs);
void vgpu_irq_disable(struct vgpu_irqs *irqs);
bool vgpu_irq_request(struct vgpu_irqs *irqs);
int vgpu_irq_table_rw(struct vgpu_mdev *dev, u32 offset, void *buf, u32 len,
		      bool write);

/* map.c */
int vgpu_map_mmap(struct vgpu_mdev *dev, struct vm_area_struct *vma);
void vgpu_map_zap(struct vgpu_mdev *dev, unsigned int bar);

#endif /* _VGPU_MDEV_H */
