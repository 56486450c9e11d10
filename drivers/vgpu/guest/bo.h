/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers: GEM objects in the framebuffer or in the guest's memory. */
#ifndef _VGPU_GUEST_BO_H
#define _VGPU_GUEST_BO_H

#include <linux/mutex.h>
#include <linux/scatterlist.h>

#include <drm/drm_gem.h>
#include <drm/vgpu_drm.h>

struct guest_dev;

/**
 * struct guest_span - a part of a buffer that is in one piece for the device
 * @offset: in the buffer
 * @addr:   in the framebuffer, or for DMA
 */
struct guest_span {
	u64 offset;
	u64 addr;
};

/**
 * struct guest_bo - a buffer. It keeps its place as long as it exists
 * @base:       what users have handles of
 * @placement:  enum drm_vgpu_placement
 * @nr_spans:   elements of @span
 * @span:       by offset, the first one at 0; each ends where the next one begins
 * @blocks:     of the framebuffer
 * @pages:      of system memory
 * @sgt:        of system memory: @pages, mapped for DMA
 * @vm_obj:     of the only VM that maps the buffer, the object whose reservation it shares; or NULL
 * @gpuva_lock: protects @base.gpuva; taken where fences are signalled, so no memory is allocated
 *              under it
 */
struct guest_bo {
	struct drm_gem_object base;
	u32 placement;
	u32 nr_spans;
	struct guest_span *span;
	struct list_head blocks;
	struct page **pages;
	struct sg_table *sgt;
	struct drm_gem_object *vm_obj;
	struct mutex gpuva_lock;	/* mappings */
};

static inline struct guest_bo *to_guest_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct guest_bo, base);
}

/*
 * Makes a buffer that reads 0. @vm_obj: see struct guest_bo. Returns an ERR_PTR, -ENOSPC where the
 * framebuffer has no room.
 */
struct guest_bo *guest_bo_create(struct guest_dev *gdev, u64 bytes, u32 placement,
				 struct drm_gem_object *vm_obj);

/* The device's address of a byte of the buffer; *@left: bytes from there in one piece. */
u64 guest_bo_addr(const struct guest_bo *bo, u64 offset, u64 *left);

int guest_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _VGPU_GUEST_BO_H */
