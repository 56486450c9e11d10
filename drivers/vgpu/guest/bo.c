// SPDX-License-Identifier: GPL-2.0
/* Buffers: TTM's objects in the framebuffer or in the guest's memory. */
#include <linux/dma-buf.h>
#include <linux/log2.h>

#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>
#include <drm/ttm/ttm_placement.h>

#include "bo.h"
#include "device.h"
#include "evict.h"
#include "man.h"
#include "prime.h"

/* Without eviction of others; if there is no room, it begins as one that was evicted. */
static const struct ttm_place place_fb[] = {
	{ .mem_type = TTM_PL_VRAM, .flags = TTM_PL_FLAG_DESIRED },
	{ .mem_type = TTM_PL_TT, .flags = TTM_PL_FLAG_FALLBACK },
};

static const struct ttm_placement placement_fb = { ARRAY_SIZE(place_fb), place_fb };

static const struct ttm_place place_system = { .mem_type = TTM_PL_TT };
static const struct ttm_placement placement_system = { 1, &place_system };

static const struct ttm_place place_own[] = {
	{
		.mem_type = TTM_PL_VRAM,
		.flags = TTM_PL_FLAG_TOPDOWN | GUEST_PL_FLAG_IDLE | GUEST_PL_FLAG_UPPER,
	},
	{ .mem_type = TTM_PL_VRAM, .flags = TTM_PL_FLAG_TOPDOWN | GUEST_PL_FLAG_IDLE },
	{ .mem_type = TTM_PL_VRAM, .flags = TTM_PL_FLAG_TOPDOWN },
};

static const struct ttm_placement placement_own = { ARRAY_SIZE(place_own), place_own };

void guest_bo_set_place(struct guest_bo *bo, const struct guest_place *place)
{
	dma_resv_assert_held(bo->tbo.base.resv);
	mutex_lock(guest_bo_gpuva_lock(bo));
	WRITE_ONCE(bo->place, place);
	mutex_unlock(guest_bo_gpuva_lock(bo));
}

static void bo_destroy(struct ttm_buffer_object *tbo)
{
	struct guest_bo *bo = ttm_to_guest_bo(tbo);
	struct guest_shared *shared = bo->shared;
	struct dma_buf *dmabuf = bo->dmabuf;

	if (tbo->base.import_attach)
		drm_prime_gem_destroy(&tbo->base, tbo->sg);
	drm_gem_object_release(&tbo->base);
	guest_gpuva_fini(&bo->gpuva);
	/*
	 * drm_exec may drop the last reference while it holds others by the same ticket. lockdep
	 * has all of these at the address of the first, and must not see that being freed.
	 */
	kfree_rcu(bo, rcu);
	if (shared)
		drm_gem_object_put(&shared->base);
	if (dmabuf)
		dma_buf_put(dmabuf);
}

static void bo_free(struct drm_gem_object *obj)
{
	struct ttm_buffer_object *tbo = &to_guest_bo(obj)->tbo;

	if (to_guest_bo(obj)->spot) {
		guest_shown_release(to_guest_bo(obj));
		return;
	}
	if (tbo->bulk_move) {
		dma_resv_lock(obj->resv, NULL);
		ttm_bo_set_bulk_move(tbo, NULL);
		dma_resv_unlock(obj->resv);
	}
	ttm_bo_fini(tbo);
}

/* Names (GEM_FLINK on the primary node) are another way to export. */
static int bo_open(struct drm_gem_object *obj, struct drm_file *file)
{
	const struct guest_shared *shared = to_guest_bo(obj)->shared;

	return shared && shared->file != file ? -EPERM : 0;
}

static struct dma_buf *bo_export(struct drm_gem_object *obj, int flags)
{
	if (to_guest_bo(obj)->shared)
		return ERR_PTR(-EPERM);
	return drm_gem_prime_export(obj, flags);
}

/*
 * As ttm_bo_mmap_obj(), but the mapping has a reference to GEM's object, not to TTM's: nobody has
 * mapped what bo_free() gives back.
 */
static int bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	/* What was imported is mapped by the file of who has exported it. */
	if (obj->import_attach || is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	return 0;
}

/* GEM puts its object there, and TTM takes it for its own. */
static_assert(!offsetof(struct ttm_buffer_object, base));

/* As ttm_bo_vm_fault(), but when the device is gone, so is what was in the buffer. */
static vm_fault_t bo_fault(struct vm_fault *vmf)
{
	struct ttm_buffer_object *tbo = vmf->vma->vm_private_data;
	vm_fault_t ret;
	int idx;

	ret = ttm_bo_vm_reserve(tbo, vmf);
	if (ret)
		return ret;
	ret = VM_FAULT_SIGBUS;
	if (drm_dev_enter(tbo->base.dev, &idx)) {
		ret = ttm_bo_vm_fault_reserved(vmf, vmf->vma->vm_page_prot,
					       TTM_BO_VM_NUM_PREFAULT);
		drm_dev_exit(idx);
	}
	/* To be tried again: the reservation is no longer held. */
	if (ret == VM_FAULT_RETRY && !(vmf->flags & FAULT_FLAG_RETRY_NOWAIT))
		return ret;
	dma_resv_unlock(tbo->base.resv);
	return ret;
}

static const struct vm_operations_struct bo_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = bo_fault,
};

static const struct drm_gem_object_funcs bo_funcs = {
	.free = bo_free,
	.open = bo_open,
	.export = bo_export,
	.pin = guest_prime_pin,
	.unpin = guest_prime_unpin,
	.get_sg_table = guest_prime_sg_table,
	.mmap = bo_mmap,
	.vm_ops = &bo_vm_ops,
};

/* In one piece, and rounded up to a power of two, as the allocator takes it before it trims it. */
static bool bo_fits(struct guest_dev *gdev, u64 bytes, u32 flags)
{
	u64 most = gdev->fb.bytes;

	if (flags & DRM_VGPU_BO_CONTIGUOUS)
		most = rounddown_pow_of_two(most);
	return bytes <= most;
}

static struct guest_bo *bo_alloc(struct guest_dev *gdev, u64 bytes, u32 placement, u32 flags)
{
	struct guest_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	if (!bo)
		return NULL;
	INIT_LIST_HEAD(&bo->show_link);
	bo->tbo.base.funcs = &bo_funcs;
	bo->placement = placement;
	bo->contiguous = flags & DRM_VGPU_BO_CONTIGUOUS;
	bo->large = placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER && bytes >= GUEST_FB_LARGE &&
		    !bo->contiguous;
	drm_gem_private_object_init(&gdev->drm, &bo->tbo.base, bytes);
	guest_gpuva_init(&bo->gpuva, &bo->tbo.base);
	INIT_LIST_HEAD(&bo->in_way);
	return bo;
}

/*
 * @resv: the reservation that it shares, which is held, or NULL. Returns with it held, or with its
 * own; or an error, and then the buffer is gone.
 */
static int bo_init(struct guest_dev *gdev, struct guest_bo *bo, enum ttm_bo_type type,
		   const struct ttm_placement *placement, struct sg_table *sgt,
		   struct dma_resv *resv)
{
	struct ttm_operation_ctx ctx = { .interruptible = true };
	struct ttm_placement copy = *placement;

	return ttm_bo_init_reserved(&gdev->ttm, &bo->tbo, type, &copy, 1, &ctx, sgt, resv,
				    bo_destroy);
}

struct guest_bo *guest_bo_create(struct guest_dev *gdev, u64 bytes, u32 placement, u32 flags,
				 struct guest_shared *shared)
{
	bool fb = placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER;
	struct guest_bo *bo;
	int ret;

	if (fb && !bo_fits(gdev, bytes, flags))
		return ERR_PTR(-ENOSPC);
	if (!fb && bytes > guest_man_left(gdev))
		return ERR_PTR(-ENOMEM);
	bo = bo_alloc(gdev, bytes, placement, flags);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	if (shared) {
		drm_gem_object_get(&shared->base);
		bo->shared = shared;
		dma_resv_lock(shared->base.resv, NULL);
	}
	ret = bo_init(gdev, bo, ttm_bo_type_device, fb ? &placement_fb : &placement_system, NULL,
		      shared ? shared->base.resv : NULL);
	if (!ret) {
		if (shared)
			ttm_bo_set_bulk_move(&bo->tbo, &shared->lru);
		ttm_bo_unreserve(&bo->tbo);
		return bo;
	}
	if (shared)
		dma_resv_unlock(shared->base.resv);
	/* TTM does not say which of the two it was. */
	if (fb && ret == -ENOMEM && guest_man_left(gdev) < bytes)
		ret = -ENOSPC;
	return ERR_PTR(ret);
}

/* Returns with the reservation held; it is tried only, as the caller may hold others. */
static struct guest_bo *bo_create_own(struct guest_dev *gdev, u64 bytes)
{
	struct guest_bo *bo;
	int ret;

	ret = guest_fb_count_own(gdev, bytes);
	if (ret)
		return ERR_PTR(ret);
	ret = -ENOMEM;
	bo = bo_alloc(gdev, bytes, DRM_VGPU_PLACEMENT_FRAMEBUFFER, 0);
	if (!bo)
		goto err;
	bo->own = true;
	ret = bo_init(gdev, bo, ttm_bo_type_kernel, &placement_own, NULL, NULL);
	if (!ret)
		return bo;
	if (ret == -ENOMEM && guest_fb_avail(gdev) < bytes)
		ret = -ENOSPC;

err:
	guest_fb_count_own(gdev, -(s64)bytes);
	return ERR_PTR(ret);
}

struct guest_bo *guest_bo_create_own(struct guest_dev *gdev, u64 bytes)
{
	struct guest_bo *bo = bo_create_own(gdev, bytes);

	if (!IS_ERR(bo)) {
		ttm_bo_pin(&bo->tbo);
		ttm_bo_unreserve(&bo->tbo);
	}
	return bo;
}

int guest_bo_leave_fb(struct guest_dev *gdev, u64 bytes, struct list_head *blocks)
{
	struct guest_bo *bo = bo_create_own(gdev, bytes);

	if (IS_ERR(bo))
		return PTR_ERR(bo);
	list_splice_init(&to_guest_resource(bo->tbo.resource)->blocks, blocks);
	ttm_bo_unreserve(&bo->tbo);
	drm_gem_object_put(&bo->tbo.base);
	return 0;
}

void guest_bo_destroy_own(struct guest_bo *bo)
{
	guest_fb_count_own(to_guest_dev(bo->tbo.base.dev), -(s64)guest_bo_bytes(bo));
	dma_resv_lock(bo->tbo.base.resv, NULL);
	ttm_bo_unpin(&bo->tbo);
	dma_resv_unlock(bo->tbo.base.resv);
	drm_gem_object_put(&bo->tbo.base);
}

struct drm_gem_object *guest_bo_import(struct drm_device *drm, struct dma_buf_attachment *attach,
				       struct sg_table *sgt)
{
	struct dma_resv *resv = attach->dmabuf->resv;
	struct guest_dev *gdev = to_guest_dev(drm);
	u64 bytes = attach->dmabuf->size;
	struct guest_bo *bo;
	int ret;

	if (!bytes || bytes % VGPU_HW_PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	if (bytes > guest_man_left(gdev))
		return ERR_PTR(-ENOMEM);
	bo = bo_alloc(gdev, bytes, DRM_VGPU_PLACEMENT_SYSTEM, 0);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->dmabuf = attach->dmabuf;
	get_dma_buf(bo->dmabuf);
	dma_resv_lock(resv, NULL);
	ret = bo_init(gdev, bo, ttm_bo_type_sg, &placement_system, sgt, resv);
	if (!ret)
		ttm_bo_move_to_lru_tail_unlocked(&bo->tbo);
	dma_resv_unlock(resv);
	return ret ? ERR_PTR(ret) : &bo->tbo.base;
}

static void shared_free(struct drm_gem_object *obj)
{
	struct guest_shared *shared = to_guest_shared(obj);

	ttm_lru_bulk_move_fini(&to_guest_dev(obj->dev)->ttm, &shared->lru);
	drm_gem_object_release(obj);
	kfree(shared);
}

static const struct drm_gem_object_funcs shared_funcs = {
	.free = shared_free,
};

struct guest_shared *guest_shared_create(struct guest_dev *gdev, const struct drm_file *file)
{
	struct guest_shared *shared = kzalloc(sizeof(*shared), GFP_KERNEL_ACCOUNT);

	if (!shared)
		return NULL;
	shared->base.funcs = &shared_funcs;
	shared->file = file;
	drm_gem_private_object_init(&gdev->drm, &shared->base, 0);
	ttm_lru_bulk_move_init(&shared->lru);
	return shared;
}
