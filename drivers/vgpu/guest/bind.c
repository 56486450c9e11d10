// SPDX-License-Identifier: GPL-2.0
/* VM_BIND: what users ask for is checked, and done at once or pushed as a job. */
#include "bo.h"
#include "device.h"
#include "done.h"
#include "sync.h"
#include "vm.h"

static int bind_check_op(const struct drm_vgpu_bind_op *op)
{
	if (op->pad || !op->size || (op->offset | op->va | op->size) % VGPU_HW_PAGE_SIZE ||
	    range_overflows(op->va, op->size, BIT_ULL(GUEST_VA_BITS)))
		return -EINVAL;
	switch (op->type) {
	case DRM_VGPU_BIND_MAP:
		return op->flags & ~(DRM_VGPU_BIND_WRITE | DRM_VGPU_BIND_EXEC) ? -EINVAL : 0;
	case DRM_VGPU_BIND_UNMAP:
		return op->flags || op->handle || op->offset ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static int bind_add_map(struct guest_vm_change *change, const struct drm_vgpu_bind_op *op,
			struct drm_file *file)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, op->handle);
	u64 pte = VGPU_HW_PTE_R;
	struct guest_bo *bo;
	int ret = -EINVAL;

	if (!obj)
		return -ENOENT;
	bo = to_guest_bo(obj);
	if (op->flags & DRM_VGPU_BIND_WRITE)
		pte |= VGPU_HW_PTE_W;
	if (op->flags & DRM_VGPU_BIND_EXEC)
		pte |= VGPU_HW_PTE_X;
	if (!range_overflows(op->offset, op->size, (u64)obj->size) &&
	    (!bo->shared || bo->shared == guest_vm_shared(change->vm)) &&
	    (bo->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER || !(pte & VGPU_HW_PTE_X)))
		ret = guest_vm_change_add(change, op->va, op->size, bo, op->offset, pte);
	drm_gem_object_put(obj);
	return ret;
}

/* Whatever it returns, guest_vm_change_free() frees the change. */
static int bind_prepare(struct guest_vm_change *change, struct guest_vm *vm,
			const struct drm_vgpu_bind_op *op, u32 nr, struct drm_file *file)
{
	int ret;
	u32 i;

	ret = guest_vm_change_init(change, vm, nr);
	for (i = 0; !ret && i < nr; i++) {
		ret = bind_check_op(&op[i]);
		if (ret)
			break;
		ret = op[i].type == DRM_VGPU_BIND_MAP ? bind_add_map(change, &op[i], file) :
		      guest_vm_change_add(change, op[i].va, op[i].size, NULL, 0, 0);
	}
	return ret;
}

static int bind_now(struct guest_vm *vm, const struct drm_vgpu_bind_op *op, u32 nr,
		    struct drm_file *file)
{
	struct guest_vm_change change;
	int ret;

	ret = bind_prepare(&change, vm, op, nr, file);
	if (!ret)
		ret = guest_vm_change_do(&change);
	guest_vm_change_free(&change);
	return ret;
}

/* From drm_sched_job_arm() on the fence must be signalled, so nothing may fail or allocate. */
static int bind_push(struct guest_vm *vm, struct guest_bind_job *job, struct guest_syncs *syncs)
{
	struct dma_fence *fence;
	bool cookie;

	mutex_lock(&vm->submit_lock);
	if (vm->dead) {
		mutex_unlock(&vm->submit_lock);
		return -ENOENT;
	}
	guest_vm_change_pend(&job->change);
	cookie = dma_fence_begin_signalling();
	drm_sched_job_arm(&job->base);
	guest_done_arm(job->done, vm->fence_context, ++vm->jobs, &job->base.s_fence->finished);
	fence = &job->done->base;
	job->done = NULL;
	guest_syncs_signal(syncs, fence);
	drm_sched_entity_push_job(&job->base);
	dma_fence_end_signalling(cookie);
	mutex_unlock(&vm->submit_lock);
	dma_fence_put(fence);
	return 0;
}

static int bind_later(struct guest_vm *vm, const struct drm_vgpu_vm_bind *args,
		      const struct drm_vgpu_bind_op *op, struct drm_file *file)
{
	struct guest_bind_job *job;
	struct guest_syncs syncs;
	int ret;

	job = guest_bind_job_create();
	if (!job)
		return -ENOMEM;
	ret = bind_prepare(&job->change, vm, op, args->ops.count, file);
	if (ret)
		goto err_change;
	ret = drm_sched_job_init(&job->base, &vm->entity, 1, vm, file->client_id);
	if (ret)
		goto err_change;
	ret = guest_syncs_init(&syncs, &args->syncs, file, &job->base);
	if (ret)
		goto err_job;
	ret = bind_push(vm, job, &syncs);
	guest_syncs_free(&syncs);
	if (ret)
		goto err_job;
	return 0;

err_job:
	drm_sched_job_cleanup(&job->base);
err_change:
	guest_bind_job_destroy(job);
	return ret;
}

int guest_vm_bind_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vgpu_vm_bind *args = data;
	struct drm_vgpu_bind_op *op;
	struct guest_vm *vm;
	int ret;

	if (args->flags & ~DRM_VGPU_VM_BIND_ASYNC ||
	    (!(args->flags & DRM_VGPU_VM_BIND_ASYNC) && args->syncs.count))
		return -EINVAL;
	/* Not drm_dev_enter(): users' pages can be made to come never, and an unplug would wait. */
	if (drm_dev_is_unplugged(drm))
		return -ENODEV;
	op = guest_array_copy(&args->ops, sizeof(*op), sizeof(*op), DRM_VGPU_BIND_OPS_MAX);
	if (IS_ERR(op))
		return PTR_ERR(op);
	ret = -ENOENT;
	vm = guest_vm_find(file, args->vm_id);
	if (vm) {
		ret = args->flags & DRM_VGPU_VM_BIND_ASYNC ? bind_later(vm, args, op, file) :
		      bind_now(vm, op, args->ops.count, file);
		guest_vm_put(vm);
	}
	kvfree(op);
	return ret;
}
