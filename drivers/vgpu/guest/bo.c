// SPDX-License-Identifier: GPL-2.0
/* Buffers: GEM objects in the framebuffer or in the guest's memory. */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/sort.h>

#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>

#include "bo.h"
#include "device.h"

u64 guest_bo_addr(const struct guest_bo *bo, u64 offset, u64 *left)
{
	u32 low = 0, high = bo->nr_spans, mid;
	u64 end;

	/* The last span that begins at the offset or before it. */
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (bo->span[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	end = low + 1 < bo->nr_spans ? bo->span[low + 1].offset : bo->base.size;
	*left = end - offset;
	return bo->span[low].addr + (offset - bo->span[low].offset);
}

/* Adds what follows to the spans; the last one grows if that is in one piece with it. */
static void bo_add_span(struct guest_bo *bo, u64 offset, u64 addr)
{
	const struct guest_span *last = bo->nr_spans ? &bo->span[bo->nr_spans - 1] : NULL;

	if (!last || last->addr + (offset - last->offset) != addr)
		bo->span[bo->nr_spans++] = (struct guest_span){ offset, addr };
}

static int bo_fb_init(struct guest_dev *gdev, struct guest_bo *bo)
{
	struct gpu_buddy_block *block;
	u64 offset = 0;
	int ret;

	ret = guest_fb_alloc(gdev, bo->base.size, &bo->blocks);
	if (ret)
		return ret;
	bo->span = kvmalloc_array(list_count_nodes(&bo->blocks), sizeof(*bo->span), GFP_KERNEL);
	if (!bo->span)
		return -ENOMEM;
	list_for_each_entry(block, &bo->blocks, link) {
		bo_add_span(bo, offset, guest_fb_offset(block));
		offset += gpu_buddy_block_size(&gdev->fb.mm, block);
	}
	return 0;
}

/* shmem says ENOSPC where the guest has no memory. Here that would be the framebuffer. */
static int shmem_error(int error)
{
	return error == -ENOSPC ? -ENOMEM : error;
}

static int bo_system_init(struct guest_dev *gdev, struct guest_bo *bo)
{
	struct scatterlist *sg;
	struct page **pages;
	struct sg_table *sgt;
	u64 offset = 0;
	unsigned int i;
	int ret;

	pages = drm_gem_get_pages(&bo->base);
	if (IS_ERR(pages))
		return shmem_error(PTR_ERR(pages));
	bo->pages = pages;
	sgt = drm_prime_pages_to_sg(&gdev->drm, pages, bo->base.size >> PAGE_SHIFT);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = dma_map_sgtable(gdev->drm.dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ret;
	}
	bo->sgt = sgt;
	bo->span = kvmalloc_array(sgt->nents, sizeof(*bo->span), GFP_KERNEL);
	if (!bo->span)
		return -ENOMEM;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		bo_add_span(bo, offset, sg_dma_address(sg));
		offset += sg_dma_len(sg);
	}
	return 0;
}

static void bo_free(struct drm_gem_object *obj)
{
	struct guest_bo *bo = to_guest_bo(obj);
	struct guest_dev *gdev = to_guest_dev(obj->dev);
	struct drm_gem_object *vm_obj = bo->vm_obj;

	if (bo->sgt) {
		dma_unmap_sgtable(gdev->drm.dev, bo->sgt, DMA_BIDIRECTIONAL, 0);
		sg_free_table(bo->sgt);
		kfree(bo->sgt);
	}
	if (bo->pages)
		drm_gem_put_pages(obj, bo->pages, true, true);
	guest_fb_free(gdev, &bo->blocks);
	kvfree(bo->span);
	drm_gem_object_release(obj);
	mutex_destroy(&bo->gpuva_lock);
	kfree(bo);
	drm_gem_object_put(vm_obj);
}

static struct dma_buf *bo_export(struct drm_gem_object *obj, int flags)
{
	if (to_guest_bo(obj)->vm_obj)
		return ERR_PTR(-EPERM);
	return drm_gem_prime_export(obj, flags);
}

static int bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	/* Pages are inserted as they are, and cannot be copied on write. */
	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	if (to_guest_bo(obj)->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return 0;
}

static vm_fault_t bo_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct guest_bo *bo = to_guest_bo(vma->vm_private_data);
	struct guest_dev *gdev = to_guest_dev(bo->base.dev);
	pgoff_t page = vmf->pgoff - drm_vma_node_start(&bo->base.vma_node);
	unsigned long pfn;
	vm_fault_t ret;
	u64 left;
	int idx;

	if (page >= bo->base.size >> PAGE_SHIFT || !drm_dev_enter(&gdev->drm, &idx))
		return VM_FAULT_SIGBUS;
	if (bo->pages)
		pfn = page_to_pfn(bo->pages[page]);
	else
		pfn = PHYS_PFN(gdev->fb.phys + guest_bo_addr(bo, (u64)page << PAGE_SHIFT, &left));
	ret = vmf_insert_pfn(vma, vmf->address, pfn);
	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct bo_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = bo_fault,
};

static const struct drm_gem_object_funcs bo_funcs = {
	.free = bo_free,
	.export = bo_export,
	.mmap = bo_mmap,
	.vm_ops = &bo_vm_ops,
};

struct guest_bo *guest_bo_create(struct guest_dev *gdev, u64 bytes, u32 placement,
				 struct drm_gem_object *vm_obj)
{
	struct guest_bo *bo;
	int ret = 0;

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &bo_funcs;
	bo->placement = placement;
	INIT_LIST_HEAD(&bo->blocks);
	mutex_init(&bo->gpuva_lock);
	if (placement == DRM_VGPU_PLACEMENT_SYSTEM)
		ret = shmem_error(drm_gem_object_init(&gdev->drm, &bo->base, bytes));
	else
		drm_gem_private_object_init(&gdev->drm, &bo->base, bytes);
	if (ret) {
		mutex_destroy(&bo->gpuva_lock);
		kfree(bo);
		return ERR_PTR(ret);
	}
	drm_gem_gpuva_set_lock(&bo->base, &bo->gpuva_lock);
	if (vm_obj) {
		drm_gem_object_get(vm_obj);
		bo->vm_obj = vm_obj;
		bo->base.resv = vm_obj->resv;
	}
	ret = placement == DRM_VGPU_PLACEMENT_SYSTEM ? bo_system_init(gdev, bo) :
		bo_fb_init(gdev, bo);
	if (!ret)
		ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret) {
		drm_gem_object_put(&bo->base);
		return ERR_PTR(ret);
	}
	return bo;
}
