/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A vGPU as a PCI function over VFIO: its parts, and the order of their locks.
 *
 * The locks of migration (migrate.h) are outside of all others. Within that of the log of written
 * guest memory (dma_log.h) no other lock is taken.
 *
 * Locks, outermost first, none of them held over an access to user memory: config_lock (mutex),
 * vgpu_irqs.lock (mutex), vgpu_irqs.raise_lock (raw spinlock). No lock of the core is taken while
 * one of them is held. The core raises interrupts with the instance's front_lock held, so
 * raise_lock nests inside front_lock.
 *
 * The instance's map_lock and the locks that the core takes in calls about the display nest inside
 * vgpu_plane.lock (mutex). The lock of struct vgpu_edid nests inside vgpu_edid_region.lock (mutex).
 */
#ifndef _VGPU_DEVICE_H
#define _VGPU_DEVICE_H

#include <linux/mutex.h>
#include <linux/vfio.h>

#include "../core/core.h"
#include "config.h"
#include "dma_log.h"
#include "edid_region.h"
#include "irq.h"
#include "map.h"
#include "migrate.h"
#include "plane.h"

/**
 * struct vgpu_vfio - a vGPU as a VFIO device
 * @vdev:        the VFIO device; vfio_alloc_device() needs it as the first field
 * @instance:    the vGPU; constant from vgpu_vfio_add() to vgpu_vfio_remove()
 * @config_lock: serialises accesses to @config, and writes of @state
 * @config:      PCI configuration space
 * @state:       vgpu_config_state() of @config; may be read without the lock
 * @irqs:        interrupts
 * @edid:        the EDID region
 * @map:         regions of the device's file, and their mappings
 * @plane:       the picture on the first head
 * @migrate:     migration
 * @log:         guest memory that it has written
 */
struct vgpu_vfio {
	struct vfio_device vdev;
	struct vgpu_instance *instance;
	struct mutex config_lock;	/* config, state */
	struct vgpu_config config;
	unsigned int state;
	struct vgpu_irqs irqs;
	struct vgpu_edid_region edid;
	struct vgpu_map map;
	struct vgpu_plane plane;
	struct vgpu_migrate migrate;
	struct vgpu_dma_log log;
};

#endif /* _VGPU_DEVICE_H */
