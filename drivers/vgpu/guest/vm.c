// SPDX-License-Identifier: GPL-2.0
/* Address spaces: how they come and go. */
#include "bo.h"
#include "device.h"
#include "done.h"
#include "follow.h"
#include "vm.h"

/* An open file has no more: each takes framebuffer. */
#define VMS_MAX		1024

static void vm_release(struct work_struct *work);

struct guest_vm *guest_vm_find(struct drm_file *file, u32 id)
{
	struct guest_file *gfile = file->driver_priv;
	struct guest_vm *vm;

	xa_lock(&gfile->vms);
	vm = xa_load(&gfile->vms, id);
	if (vm)
		guest_vm_get(vm);
	xa_unlock(&gfile->vms);
	return vm;
}

struct guest_shared *guest_vm_shared(struct guest_vm *vm)
{
	return to_guest_shared(drm_gpuvm_resv_obj(&vm->base));
}

static void vm_free(struct drm_gpuvm *gpuvm)
{
	struct guest_vm *vm = to_guest_vm(gpuvm);

	ida_destroy(&vm->rings);
	mutex_destroy(&vm->submit_lock);
	mutex_destroy(&vm->lock);
	kfree(vm);
}

static const struct drm_gpuvm_ops vm_ops = {
	.vm_free = vm_free,
	.vm_bo_validate = guest_follow_validate,
	.sm_step_map = guest_vm_step_map,
	.sm_step_remap = guest_vm_step_remap,
	.sm_step_unmap = guest_vm_step_unmap,
};

static int vm_init_sched(struct guest_vm *vm)
{
	const struct drm_sched_init_args args = {
		.ops = &guest_bind_ops,
		.submit_wq = guest_submit_wq,
		.timeout_wq = guest_stop_wq,
		.num_rqs = 1,
		.credit_limit = 1,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "vgpu_guest-bind",
		.dev = vm->gdev->drm.dev,
	};
	struct drm_gpu_scheduler *sched = &vm->sched;
	int ret;

	ret = drm_sched_init(sched, &args);
	if (ret)
		return ret;
	ret = drm_sched_entity_init(&vm->entity, 0, &sched, 1, NULL);
	if (ret)
		drm_sched_fini(sched);
	return ret;
}

static struct guest_vm *vm_create(struct guest_dev *gdev, const struct drm_file *file)
{
	struct guest_shared *shared;
	struct guest_vm *vm;
	int ret;

	vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	if (!vm)
		return ERR_PTR(-ENOMEM);
	vm->gdev = gdev;
	vm->pt = guest_table_create(gdev);
	if (IS_ERR(vm->pt)) {
		ret = PTR_ERR(vm->pt);
		goto err_vm;
	}
	ret = vm_init_sched(vm);
	if (ret)
		goto err_table;
	ret = -ENOMEM;
	shared = guest_shared_create(gdev, file);
	if (!shared)
		goto err_sched;
	kref_init(&vm->ref);
	ida_init(&vm->rings);
	vm->fence_context = dma_fence_context_alloc(1);
	mutex_init(&vm->lock);
	INIT_LIST_HEAD(&vm->pending);
	mutex_init(&vm->submit_lock);
	INIT_WORK(&vm->release, vm_release);
	guest_dev_get(gdev);
	snprintf(vm->name, sizeof(vm->name), "%s %d", current->comm, task_tgid_nr(current));
	/* Without the flag an EXEC may drop the last reference of an entry, without its locks. */
	drm_gpuvm_init(&vm->base, vm->name,
		       DRM_GPUVM_RESV_PROTECTED | DRM_GPUVM_IMMEDIATE_MODE, &gdev->drm,
		       &shared->base, 0, BIT_ULL(GUEST_VA_BITS), 0, 0, &vm_ops);
	drm_gem_object_put(&shared->base);
	mutex_lock(&gdev->vm_mutex);
	list_add_tail(&vm->link, &gdev->vms);
	mutex_unlock(&gdev->vm_mutex);
	return vm;

err_sched:
	drm_sched_entity_fini(&vm->entity);
	drm_sched_fini(&vm->sched);
err_table:
	guest_table_destroy(gdev, vm->pt);
err_vm:
	kfree(vm);
	return ERR_PTR(ret);
}

/* Frees the mappings. No queue works in the VM any more. */
static void vm_drop_mappings(struct guest_vm *vm)
{
	struct drm_gpuva *va, *next;
	struct drm_gpuvm_bo *vm_bo;
	struct guest_table *root;
	struct guest_bo *bo;
	int idx;

	/* The page of the root becomes free: the next one there must find nothing of this one. */
	if (drm_dev_enter(&vm->gdev->drm, &idx)) {
		writel(guest_vm_root(vm), guest_reg(vm->gdev, VGPU_HW_INVALIDATE));
		drm_dev_exit(idx);
	}
	/* Buffers may be evicted meanwhile. */
	mutex_lock(&vm->lock);
	root = vm->pt;
	vm->pt = NULL;
	mutex_unlock(&vm->lock);
	guest_pt_destroy(vm->gdev, root);
	drm_gpuvm_for_each_va_safe(va, next, &vm->base) {
		vm_bo = drm_gpuvm_bo_get(va->vm_bo);
		bo = to_guest_bo(vm_bo->obj);
		mutex_lock(&vm->lock);
		drm_gpuva_remove(va);
		mutex_lock(guest_bo_gpuva_lock(bo));
		drm_gpuva_unlink(va);
		mutex_unlock(guest_bo_gpuva_lock(bo));
		mutex_unlock(&vm->lock);
		guest_vm_bo_put(vm_bo);
		kfree(container_of(va, struct guest_vma, base));
	}
}

static void vm_release(struct work_struct *work)
{
	struct guest_vm *vm = container_of(work, struct guest_vm, release);
	struct guest_dev *gdev = vm->gdev;

	drm_sched_fini(&vm->sched);
	mutex_lock(&gdev->vm_mutex);
	list_del(&vm->link);
	mutex_unlock(&gdev->vm_mutex);
	vm_drop_mappings(vm);
	drm_gpuvm_put(&vm->base);
	guest_dev_put(gdev);
}

/* Ends what the handle stands for. */
static void vm_end(struct guest_vm *vm)
{
	mutex_lock(&vm->submit_lock);
	vm->dead = true;
	mutex_unlock(&vm->submit_lock);
	guest_entity_end(&vm->sched, &vm->entity);
	guest_vm_put(vm);
}

void guest_vm_close(struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct guest_vm *vm;
	unsigned long id;

	xa_for_each(&gfile->vms, id, vm)
		vm_end(vm);
	xa_destroy(&gfile->vms);
}

int guest_vm_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct drm_vgpu_vm_create *args = data;
	struct guest_vm *vm;
	int ret;

	if (args->flags)
		return -EINVAL;
	/* Not drm_dev_enter(): making room for tables may wait for jobs, and an unplug for that. */
	if (drm_dev_is_unplugged(drm))
		return -ENODEV;
	vm = vm_create(to_guest_dev(drm), file);
	if (IS_ERR(vm))
		return PTR_ERR(vm);
	ret = xa_alloc(&gfile->vms, &args->id, vm, XA_LIMIT(1, VMS_MAX), GFP_KERNEL_ACCOUNT);
	if (ret) {
		vm_end(vm);
		return ret == -EBUSY ? -ENOSPC : ret;
	}
	return 0;
}

int guest_vm_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct guest_file *gfile = file->driver_priv;
	struct drm_vgpu_vm_destroy *args = data;
	struct guest_vm *vm;

	if (args->pad)
		return -EINVAL;
	vm = xa_erase(&gfile->vms, args->id);
	if (!vm)
		return -ENOENT;
	vm_end(vm);
	return 0;
}
