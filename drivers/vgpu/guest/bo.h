/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers: TTM's objects in the framebuffer or in the guest's memory. */
#ifndef _VGPU_GUEST_BO_H
#define _VGPU_GUEST_BO_H

#include <drm/drm_gem.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/vgpu_drm.h>

#include "compat.h"
#include "place.h"

struct dma_buf;
struct dma_buf_attachment;
struct guest_dev;
struct guest_spot;
struct sg_table;

/**
 * struct guest_shared - what the buffers share that only one VM maps
 * @base: the object whose reservation is theirs
 * @file: of the VM, which may be closed: only to be compared
 * @lru:  their common place in TTM's order of use
 */
struct guest_shared {
	struct drm_gem_object base;
	const struct drm_file *file;
	struct ttm_lru_bulk_move lru;
};

/**
 * struct guest_bo - a buffer
 * @tbo:        TTM's object, and in it GEM's, of which users have handles
 * @placement:  enum drm_vgpu_placement: where it lies whenever a job uses it
 * @own:        of the driver itself: it is pinned
 * @large:      in the framebuffer it is made of large pieces, see guest_fb_take()
 * @contiguous: in the framebuffer it is one piece, which may begin at any page
 * @no_room:    the framebuffer had no room for it when it was last asked; protected by the
 *              reservation
 * @show_link:  in a list of those that a job will show; protected by the reservation
 * @spot:       where it lies, while the monitor may show it, and it is pinned; else NULL. Changes
 *              with the reservation and &struct guest_shown.lock held
 * @pass:       &struct guest_vm.pass when it was brought back last; protected by the reservation
 * @in_way:     in a list of those that are moved for one in one piece, or empty; protected by the
 *              reservation
 * @place:      where it lies, if mappings may lead there, else NULL: it is evicted. Changes with
 *              the reservation and guest_bo_gpuva_lock() held
 * @shared:     of the only VM that maps the buffer, or NULL
 * @dmabuf:     of which it was imported, or NULL: its reservation is the buffer's, also when the
 *              import has failed, as TTM frees such a buffer later
 * @gpuva:      see guest_bo_gpuva_lock()
 * @rcu:        frees it
 */
struct guest_bo {
	struct ttm_buffer_object tbo;
	u32 placement;
	bool own;
	bool large;
	bool contiguous;
	bool no_room;
	struct list_head show_link;
	struct guest_spot *spot;
	u64 pass;
	struct list_head in_way;
	const struct guest_place *place;
	struct guest_shared *shared;
	struct dma_buf *dmabuf;
	struct guest_gpuva gpuva;
	struct rcu_head rcu;
};

static inline struct guest_bo *to_guest_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct guest_bo, tbo.base);
}

/*
 * Protects the list of the buffer's mappings. Taken where fences are signalled, so no memory is
 * allocated under it. A VM comes to that list, or goes, with the reservation held, too.
 */
static inline struct mutex *guest_bo_gpuva_lock(struct guest_bo *bo)
{
	return guest_gpuva_lock(&bo->gpuva, &bo->tbo.base);
}

static inline struct guest_bo *ttm_to_guest_bo(struct ttm_buffer_object *tbo)
{
	return container_of(tbo, struct guest_bo, tbo);
}

static inline u64 guest_bo_bytes(const struct guest_bo *bo)
{
	return bo->tbo.base.size;
}

/* Of a buffer that has a place. */
static inline u64 guest_bo_addr(const struct guest_bo *bo, u64 offset, u64 *left)
{
	return guest_place_addr(bo->place, offset, left);
}

/* The object of a VM; its last reference frees it. */
struct guest_shared *guest_shared_create(struct guest_dev *gdev, const struct drm_file *file);

static inline struct guest_shared *to_guest_shared(struct drm_gem_object *obj)
{
	return container_of(obj, struct guest_shared, base);
}

/*
 * Makes a buffer that reads 0. @flags: DRM_VGPU_BO_*. @shared: see struct guest_bo. No other buffer
 * is evicted for it: if the framebuffer is full, it begins in the guest's memory. Returns an
 * ERR_PTR, -ENOSPC where a buffer of the framebuffer finds no room in either.
 */
struct guest_bo *guest_bo_create(struct guest_dev *gdev, u64 bytes, u32 placement, u32 flags,
				 struct guest_shared *shared);

/* Makes a buffer of the driver's own, which stays in the framebuffer; others are evicted for it. */
struct guest_bo *guest_bo_create_own(struct guest_dev *gdev, u64 bytes);
void guest_bo_destroy_own(struct guest_bo *bo);

/*
 * Makes one, and leaves what it has of the framebuffer in the empty list @blocks, which read 0 and
 * count as the driver's own. The caller may hold reservations.
 */
int guest_bo_leave_fb(struct guest_dev *gdev, u64 bytes, struct list_head *blocks);

/* Of &struct drm_driver: a buffer that another device, or the kernel, has made. */
struct drm_gem_object *guest_bo_import(struct drm_device *drm, struct dma_buf_attachment *attach,
				       struct sg_table *sgt);

/* Says where mappings find the buffer; NULL: nowhere. The reservation is held. */
void guest_bo_set_place(struct guest_bo *bo, const struct guest_place *place);

int guest_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int guest_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _VGPU_GUEST_BO_H */
