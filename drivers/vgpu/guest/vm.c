// SPDX-License-Identifier: GPL-2.0
/* Address spaces: how they come and go. */
#include "bo.h"
#include "device.h"
#include "vm.h"

/* An open file has no more: each takes framebuffer. */
#define VMS_MAX		1024

static void vm_release(struct work_struct *work);

u32 guest_vm_root(const struct guest_vm *vm)
{
	return VGPU_HW_ROOT_VALID | vm->pt->addr / VGPU_HW_PAGE_SIZE;
}

struct guest_vm *guest_vm_get(struct guest_vm *vm)
{
	kref_get(&vm->ref);
	return vm;
}

static void vm_last_put(struct kref *ref)
{
	struct guest_vm *vm = container_of(ref, struct guest_vm, ref);

	queue_work(guest_wq, &vm->release);
}

void guest_vm_put(struct guest_vm *vm)
{
	kref_put(&vm->ref, vm_last_put);
}

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

static void vm_free(struct drm_gpuvm *gpuvm)
{
	struct guest_vm *vm = to_guest_vm(gpuvm);

	mutex_destroy(&vm->submit_lock);
	mutex_destroy(&vm->lock);
	kfree(vm);
}

/* Returns when the device uses nothing any more that @change has dropped. */
static void vm_invalidate(struct guest_vm *vm, const struct guest_pt_change *change)
{
	if (!change->dropped)
		return;
	wmb();
	writel(guest_vm_root(vm),
	       guest_reg(vm->gdev, change->text ? VGPU_HW_INVALIDATE : VGPU_HW_INVALIDATE_PAGES));
}

/* ---- changes ---- */

int guest_vm_change_init(struct guest_vm_change *change, struct guest_vm *vm, u32 nr)
{
	change->vm = guest_vm_get(vm);
	change->nr = 0;
	guest_pt_change_init(&change->pt);
	INIT_LIST_HEAD(&change->gone);
	change->op = kvcalloc(nr, sizeof(*change->op), GFP_KERNEL_ACCOUNT);
	return change->op || !nr ? 0 : -ENOMEM;
}

static struct drm_gpuvm_bo *vm_bo_obtain(struct guest_vm *vm, struct guest_bo *bo)
{
	struct drm_gpuvm_bo *vm_bo = drm_gpuvm_bo_create(&vm->base, &bo->base);

	if (!vm_bo)
		return NULL;
	mutex_lock(&bo->gpuva_lock);
	vm_bo = drm_gpuvm_bo_obtain_prealloc(vm_bo);
	mutex_unlock(&bo->gpuva_lock);
	drm_gpuvm_bo_extobj_add(vm_bo);
	return vm_bo;
}

static void vm_bo_put(struct drm_gpuvm_bo *vm_bo)
{
	struct guest_bo *bo = to_guest_bo(vm_bo->obj);
	struct drm_gpuvm *gpuvm = drm_gpuvm_get(vm_bo->vm);

	/* The last reference takes those of buffer and VM with it, the lock would go while held. */
	drm_gem_object_get(&bo->base);
	mutex_lock(&bo->gpuva_lock);
	drm_gpuvm_bo_put(vm_bo);
	mutex_unlock(&bo->gpuva_lock);
	drm_gem_object_put(&bo->base);
	drm_gpuvm_put(gpuvm);
}

int guest_vm_change_add(struct guest_vm_change *change, u64 va, u64 bytes, struct guest_bo *bo,
			u64 offset, u64 pte)
{
	struct guest_vm *vm = change->vm;
	struct guest_vm_op *op = &change->op[change->nr++];
	unsigned int i;

	*op = (struct guest_vm_op){ .offset = offset, .va = va, .bytes = bytes, .pte = pte };
	for (i = 0; i < (bo ? 3 : 2); i++) {
		op->vma[i] = kzalloc(sizeof(*op->vma[i]), GFP_KERNEL_ACCOUNT);
		if (!op->vma[i])
			return -ENOMEM;
	}
	if (bo) {
		op->vm_bo = vm_bo_obtain(vm, bo);
		if (!op->vm_bo)
			return -ENOMEM;
	}
	return guest_pt_reserve(vm->gdev, &change->pt, va, bytes, bo, offset);
}

void guest_vm_change_free(struct guest_vm_change *change)
{
	struct guest_vma *vma, *next;
	u32 i, j;

	for (i = 0; i < change->nr; i++) {
		for (j = 0; j < ARRAY_SIZE(change->op[i].vma); j++)
			kfree(change->op[i].vma[j]);
		if (change->op[i].vm_bo)
			vm_bo_put(change->op[i].vm_bo);
	}
	list_for_each_entry_safe(vma, next, &change->gone, link) {
		vm_bo_put(vma->base.vm_bo);
		kfree(vma);
	}
	guest_pt_change_free(change->vm->gdev, &change->pt);
	kvfree(change->op);
	guest_vm_put(change->vm);
}

/**
 * struct vm_step - what the steps of an op are called with
 * @change: of which it is a part
 * @op:     the op
 */
struct vm_step {
	struct guest_vm_change *change;
	struct guest_vm_op *op;
};

static struct guest_vma *step_vma(struct vm_step *step, u64 pte)
{
	struct guest_vma *vma;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(step->op->vma); i++) {
		vma = step->op->vma[i];
		if (vma) {
			step->op->vma[i] = NULL;
			vma->pte = pte;
			return vma;
		}
	}
	return NULL;
}

static void vma_link(struct guest_vma *vma, struct drm_gpuvm_bo *vm_bo)
{
	struct guest_bo *bo = to_guest_bo(vma->base.gem.obj);

	mutex_lock(&bo->gpuva_lock);
	drm_gpuva_link(&vma->base, vm_bo);
	mutex_unlock(&bo->gpuva_lock);
}

/* The mapping is gone; its buffer stays until the device has dropped what it knows of it. */
static void vma_unlink(struct vm_step *step, struct guest_vma *vma)
{
	struct drm_gpuvm_bo *vm_bo = drm_gpuvm_bo_get(vma->base.vm_bo);
	struct guest_bo *bo = to_guest_bo(vm_bo->obj);

	mutex_lock(&bo->gpuva_lock);
	drm_gpuva_unlink(&vma->base);
	mutex_unlock(&bo->gpuva_lock);
	vma->base.vm_bo = vm_bo;
	list_add_tail(&vma->link, &step->change->gone);
}

static int step_map(struct drm_gpuva_op *op, void *priv)
{
	struct vm_step *step = priv;
	struct guest_vm *vm = step->change->vm;
	struct guest_vma *vma = step_vma(step, step->op->pte);

	if (WARN_ON_ONCE(!vma))
		return -EINVAL;
	guest_pt_map(vm->gdev, vm->pt, &step->change->pt, op->map.va.addr, op->map.va.range,
		     to_guest_bo(op->map.gem.obj), op->map.gem.offset, vma->pte);
	drm_gpuva_map(&vm->base, &vma->base, &op->map);
	vma_link(vma, step->op->vm_bo);
	return 0;
}

static int step_remap(struct drm_gpuva_op *op, void *priv)
{
	struct vm_step *step = priv;
	struct guest_vm *vm = step->change->vm;
	struct guest_vma *old = container_of(op->remap.unmap->va, struct guest_vma, base);
	struct drm_gpuvm_bo *vm_bo = old->base.vm_bo;
	struct guest_vma *prev = op->remap.prev ? step_vma(step, old->pte) : NULL;
	struct guest_vma *next = op->remap.next ? step_vma(step, old->pte) : NULL;
	u64 va, bytes;

	if (WARN_ON_ONCE(!prev != !op->remap.prev || !next != !op->remap.next))
		return -EINVAL;
	drm_gpuva_op_remap_to_unmap_range(&op->remap, &va, &bytes);
	guest_pt_unmap(vm->gdev, vm->pt, &step->change->pt, va, bytes);
	drm_gpuva_remap(prev ? &prev->base : NULL, next ? &next->base : NULL, &op->remap);
	if (prev)
		vma_link(prev, vm_bo);
	if (next)
		vma_link(next, vm_bo);
	vma_unlink(step, old);
	return 0;
}

static int step_unmap(struct drm_gpuva_op *op, void *priv)
{
	struct vm_step *step = priv;
	struct guest_vm *vm = step->change->vm;
	struct guest_vma *vma = container_of(op->unmap.va, struct guest_vma, base);

	guest_pt_unmap(vm->gdev, vm->pt, &step->change->pt, vma->base.va.addr,
		       vma->base.va.range);
	drm_gpuva_unmap(&op->unmap);
	vma_unlink(step, vma);
	return 0;
}

static const struct drm_gpuvm_ops vm_ops = {
	.vm_free = vm_free,
	.sm_step_map = step_map,
	.sm_step_remap = step_remap,
	.sm_step_unmap = step_unmap,
};

int guest_vm_change_do(struct guest_vm_change *change)
{
	struct guest_vm *vm = change->vm;
	struct vm_step step = { .change = change };
	int ret = 0, idx;
	u32 i;

	if (!drm_dev_enter(&vm->gdev->drm, &idx))
		return -ENODEV;
	mutex_lock(&vm->lock);
	for (i = 0; !ret && i < change->nr; i++) {
		step.op = &change->op[i];
		ret = step.op->vm_bo ?
		      drm_gpuvm_sm_map(&vm->base, &step, step.op->va, step.op->bytes,
				       step.op->vm_bo->obj, step.op->offset) :
		      drm_gpuvm_sm_unmap(&vm->base, &step, step.op->va, step.op->bytes);
	}
	vm_invalidate(vm, &change->pt);
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
	return ret;
}

/* ---- the driver's own mappings ---- */

static u64 own_va(u64 va)
{
	return va & (BIT_ULL(VGPU_HW_VA_BITS) - 1);
}

int guest_vm_map_own(struct guest_vm *vm, u64 va, const struct guest_bo *bo)
{
	struct guest_pt_change change;
	int ret, idx;

	guest_pt_change_init(&change);
	ret = guest_pt_reserve(vm->gdev, &change, own_va(va), bo->base.size, bo, 0);
	if (!ret && !drm_dev_enter(&vm->gdev->drm, &idx))
		ret = -ENODEV;
	if (!ret) {
		mutex_lock(&vm->lock);
		guest_pt_map(vm->gdev, vm->pt, &change, own_va(va), bo->base.size, bo, 0,
			     VGPU_HW_PTE_R);
		mutex_unlock(&vm->lock);
		drm_dev_exit(idx);
	}
	guest_pt_change_free(vm->gdev, &change);
	return ret;
}

/* The ring is mapped and unmapped as a whole, so no leaf is split, and no table is needed. */
void guest_vm_unmap_own(struct guest_vm *vm, u64 va, u64 bytes)
{
	struct guest_pt_change change;
	int idx;

	guest_pt_change_init(&change);
	if (!drm_dev_enter(&vm->gdev->drm, &idx))
		return;
	mutex_lock(&vm->lock);
	guest_pt_unmap(vm->gdev, vm->pt, &change, own_va(va), bytes);
	vm_invalidate(vm, &change);
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
	guest_pt_change_free(vm->gdev, &change);
}

/* ---- how a VM comes and goes ---- */

static int vm_init_sched(struct guest_vm *vm)
{
	const struct drm_sched_init_args args = {
		.ops = &guest_bind_ops,
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

static struct guest_vm *vm_create(struct guest_dev *gdev)
{
	struct drm_gem_object *obj;
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
	obj = drm_gpuvm_resv_object_alloc(&gdev->drm);
	if (!obj)
		goto err_sched;
	kref_init(&vm->ref);
	mutex_init(&vm->lock);
	mutex_init(&vm->submit_lock);
	INIT_WORK(&vm->release, vm_release);
	guest_dev_get(gdev);
	drm_gpuvm_init(&vm->base, "vgpu_guest", 0, &gdev->drm, obj, 0, BIT_ULL(GUEST_VA_BITS), 0, 0,
		       &vm_ops);
	drm_gem_object_put(obj);
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
	struct guest_bo *bo;
	int idx;

	/* The page of the root becomes free: the next one there must find nothing of this one. */
	if (drm_dev_enter(&vm->gdev->drm, &idx)) {
		writel(guest_vm_root(vm), guest_reg(vm->gdev, VGPU_HW_INVALIDATE));
		drm_dev_exit(idx);
	}
	guest_pt_destroy(vm->gdev, vm->pt);
	drm_gpuvm_for_each_va_safe(va, next, &vm->base) {
		drm_gpuva_remove(va);
		vm_bo = drm_gpuvm_bo_get(va->vm_bo);
		bo = to_guest_bo(vm_bo->obj);
		mutex_lock(&bo->gpuva_lock);
		drm_gpuva_unlink(va);
		mutex_unlock(&bo->gpuva_lock);
		vm_bo_put(vm_bo);
		kfree(container_of(va, struct guest_vma, base));
	}
}

static void vm_release(struct work_struct *work)
{
	struct guest_vm *vm = container_of(work, struct guest_vm, release);
	struct guest_dev *gdev = vm->gdev;

	drm_sched_fini(&vm->sched);
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
	drm_sched_entity_fini(&vm->entity);
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
	int ret, idx;

	if (args->flags)
		return -EINVAL;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	vm = vm_create(to_guest_dev(drm));
	drm_dev_exit(idx);
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
