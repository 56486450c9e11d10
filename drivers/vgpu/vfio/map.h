/* SPDX-License-Identifier: GPL-2.0 */
/* Mappings of a vGPU's memory. */
#ifndef _VGPU_MAP_H
#define _VGPU_MAP_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/mm.h>

#include "../core/core.h"
#include "region.h"

struct vgpu_map;

/**
 * struct vgpu_map - mappings of a vGPU's regions
 * @instance: the vGPU. This field and the next one are constant from vgpu_vfio_add() on
 * @pages:    store up to @nr pages of a region into @pages, starting at its page @first. With the
 *            instance's map_lock held for reading; the pages stay until it is released. Returns
 *            their number, at least 1, or an error of vgpu_instance_map_pages(). May sleep
 * @mapping:  address space of the device's inode, which all files of the device share; constant
 * @regions:  regions of the device's file; constant while it is open
 * @opened:   page faults may be served. Close clears it before it drops the pages with the
 *            instance's map_lock held
 * @next:     the page of the file that follows the pages mapped last; a hint
 * @failures: page faults that could not be served
 */
struct vgpu_map {
	struct vgpu_instance *instance;
	int (*pages)(struct vgpu_map *map, unsigned int region, u64 first, struct page **pages,
		     unsigned int nr);
	struct address_space *mapping;
	struct vgpu_regions regions;
	bool opened;
	u64 next;
	atomic64_t failures;
};

/**
 * vgpu_map_zap() - take a region's pages out of all mappings
 * @map: mappings of a vGPU, whose instance's map_lock is held for writing
 * @region: a BAR, or VGPU_REGION_PLANE
 *
 * A page that is touched afterwards faults again. Sleeps.
 */
static inline void vgpu_map_zap(struct vgpu_map *map, unsigned int region)
{
	lockdep_assert_held_write(&map->instance->map_lock);
	unmap_mapping_range(map->mapping, vgpu_region_offset(region),
			    vgpu_region_bytes(&map->regions, region), 1);
}

int vgpu_map_mmap(struct vgpu_map *map, struct vm_area_struct *vma);

#endif /* _VGPU_MAP_H */
