// SPDX-License-Identifier: GPL-2.0
/* BO_CREATE and BO_MMAP_OFFSET. */
#include <drm/drm_vma_manager.h>

#include "bo.h"
#include "device.h"
#include "vm.h"

int guest_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct guest_dev *gdev = to_guest_dev(drm);
	struct drm_vgpu_bo_create *args = data;
	struct guest_vm *vm = NULL;
	struct guest_bo *bo;
	int ret;

	if (args->flags & ~DRM_VGPU_BO_CONTIGUOUS ||
	    args->placement > DRM_VGPU_PLACEMENT_SYSTEM || !args->size ||
	    args->size % VGPU_HW_PAGE_SIZE || args->size > BIT_ULL(GUEST_VA_BITS))
		return -EINVAL;
	if (args->flags && args->placement != DRM_VGPU_PLACEMENT_FRAMEBUFFER)
		return -EINVAL;
	/* Not drm_dev_enter(): others may hold the VM's reservation for as long as jobs take. */
	if (drm_dev_is_unplugged(drm))
		return -ENODEV;
	if (args->vm_id) {
		vm = guest_vm_find(file, args->vm_id);
		if (!vm)
			return -ENOENT;
	}
	ret = guest_gate_enter(gdev);
	if (ret)
		goto out;
	bo = guest_bo_create(gdev, args->size, args->placement, args->flags,
			     vm ? guest_vm_shared(vm) : NULL);
	guest_gate_leave(gdev);
	ret = PTR_ERR_OR_ZERO(bo);
	if (!ret) {
		ret = drm_gem_handle_create(file, &bo->tbo.base, &args->handle);
		drm_gem_object_put(&bo->tbo.base);
	}
out:
	if (vm)
		guest_vm_put(vm);
	return ret;
}

int guest_bo_mmap_offset_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vgpu_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;

	if (args->pad)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}
