/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mdev front end: a vGPU is a PCI function over VFIO.
 *
 * Locks, outermost first, none of them held over an access to user memory: config_lock (mutex),
 * vgpu_irqs.lock (mutex), vgpu_irqs.raise_lock (spinlock). No lock of the core is taken while
 * one of them is held. The core raises interrupts with the instance's front_lock held, so
 * raise_lock is inside of that.
 *
 * vgpu_plane.lock (mutex) is outside of the instance's map_lock and of what the core takes in
 * calls about the display; edid_lock (mutex) is outside of the lock of struct vgpu_edid.
 */
#ifndef _VGPU_MDEV_H
#define _VGPU_MDEV_H

#include <linux/atomic.h>
#include <linux/mm.h>
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
 * @lock:     protects @trigger, @masked, @table and @request, and serialises changes of
 *            @enabled; held while an eventfd is signalled, so that an eventfd which a call has
 *            replaced is not signalled after that call. A signal lasts as long as the user
 *            likes, so only the user's own calls and @task take this lock
 * @nr:       number of MSI-X vectors
 * @trigger:  the user's eventfd of each vector, or NULL
 * @masked:   vectors that the user has masked in @table
 * @table:    MSI-X table as the user wrote it
 * @request:  eventfd by which the user is asked to let go of the device, or NULL
 * @raise_lock: protects the following fields, but @wait and @task; held briefly
 * @enabled:  the user has set eventfds of vectors, and has not disabled MSI-X since
 * @kicked:   @task is to look at what is pending
 * @request_pending: the user is to be asked to let go of the device
 * @pending:  vectors that were raised and have not been signalled yet
 * @wait:     @task sleeps here
 * @task:     signals what is pending; runs while the device is open
 */
struct vgpu_irqs {
	struct mutex lock;	/* trigger, masked, table, request */
	unsigned int nr;
	struct eventfd_ctx **trigger;
	unsigned long *masked;
	u8 *table;
	struct eventfd_ctx *request;
	spinlock_t raise_lock;	/* enabled, kicked, request_pending, pending */
	bool enabled;
	bool kicked;
	bool request_pending;
	unsigned long *pending;
	wait_queue_head_t wait;
	struct task_struct *task;
};

/**
 * struct vgpu_plane - what the user of the device sees of the vGPU's first head
 * @lock:    serialises queries; protects @frl and @copy
 * @frl:     how often a picture that is new is taken up
 * @copy:    pages for packed copies, NULL where none was needed yet; pages that @shown is in are
 *           also read with the instance's map_lock held, and freed when that cannot be any more
 * @shown:   the picture that the user was told of, if @valid. This field and those below change
 *           with the instance's map_lock held for writing
 * @valid:   there is a picture. Becomes true with @lock held, too
 * @drops:   counts how often the framebuffer was dropped
 */
struct vgpu_plane {
	struct mutex lock;	/* queries */
	struct vgpu_frl frl;
	struct page **copy;
	struct vgpu_scanout shown;
	bool valid;
	unsigned int drops;
};

/**
 * struct vgpu_mdev - a vGPU as a VFIO device
 * @vdev:        the device as VFIO knows it; the first field, as vfio_alloc_device() wants
 * @instance:    the vGPU as the core knows it; constant from probe to remove
 * @regions:     regions of the device's file; constant
 * @config_lock: serialises accesses to @config, and writes of @state
 * @config:      PCI configuration space
 * @state:       vgpu_config_state() of @config; may be read without the lock
 * @opened:      page faults may be served. Cleared before close drops the pages, under the
 *               instance's map_lock
 * @irqs:        interrupts
 * @edid_lock:   protects @edid and @edid_blob
 * @edid:        the EDID region's head
 * @edid_blob:   the EDID region's EDID, as far as the user has written it
 * @plane:       the picture on the first head
 * @map_next:    the page of the file that follows the pages mapped last; a hint
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
	struct mutex edid_lock;	/* edid, edid_blob */
	struct vfio_region_gfx_edid edid;
	u8 edid_blob[VGPU_EDID_SIZE_MAX];
	struct vgpu_plane plane;
	u64 map_next;
	atomic64_t map_failures;
};

/**
 * vgpu_mdev_zap() - take a region's pages out of all mappings
 * @dev: the vGPU, whose instance's map_lock is held for writing
 * @region: a BAR, or VGPU_REGION_PLANE
 *
 * A page that is touched afterwards faults again. Sleeps.
 */
static inline void vgpu_mdev_zap(struct vgpu_mdev *dev, unsigned int region)
{
	lockdep_assert_held_write(&dev->instance->map_lock);
	unmap_mapping_range(dev->vdev.inode->i_mapping, vgpu_region_offset(region),
			    vgpu_region_bytes(&dev->regions, region), 1);
}

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
int vgpu_irq_set(struct vgpu_mdev *dev, const struct vfio_irq_set *set, const void *data);
void vgpu_irq_raise(struct vgpu_mdev *dev, unsigned int vector);
void vgpu_irq_master(struct vgpu_mdev *dev);
void vgpu_irq_reset(struct vgpu_irqs *irqs);
int vgpu_irq_start(struct vgpu_mdev *dev);
void vgpu_irq_stop(struct vgpu_mdev *dev);
bool vgpu_irq_request(struct vgpu_irqs *irqs);
int vgpu_irq_table_rw(struct vgpu_mdev *dev, u32 offset, void *buf, u32 len, bool write);

/* map.c */
int vgpu_map_mmap(struct vgpu_mdev *dev, struct vm_area_struct *vma);

/* edid.c */
void vgpu_edid_region_reset(struct vgpu_mdev *dev);
int vgpu_edid_region_rw(struct vgpu_mdev *dev, u32 offset, void *buf, u32 len, bool write);

/* plane.c */
void vgpu_plane_close(struct vgpu_mdev *dev);
void vgpu_plane_drop(struct vgpu_mdev *dev);
int vgpu_plane_query(struct vgpu_mdev *dev, void __user *arg);
int vgpu_plane_pages(struct vgpu_mdev *dev, u64 first, struct page **pages, unsigned int nr);
int vgpu_plane_read(struct vgpu_mdev *dev, u64 offset, void *buf, u32 len);

#endif /* _VGPU_MDEV_H */
