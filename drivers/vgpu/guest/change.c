// SPDX-License-Identifier: GPL-2.0
/* Changes of address spaces: they are prepared, done, and freed. */
#include "bo.h"
#include "device.h"
#include "vm.h"

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

void guest_vm_invalidate(struct guest_vm *vm, const struct guest_pt_change *change)
{
	if (!change->dropped)
		return;
	wmb(); /* the device walks tables as they are now */
	writel(guest_vm_root(vm),
	       guest_reg(vm->gdev, change->text ? VGPU_HW_INVALIDATE : VGPU_HW_INVALIDATE_PAGES));
}

int guest_vm_change_init(struct guest_vm_change *change, struct guest_vm *vm, u32 nr)
{
	change->vm = guest_vm_get(vm);
	INIT_LIST_HEAD(&change->link);
	change->nr = 0;
	guest_pt_change_init(&change->pt);
	INIT_LIST_HEAD(&change->gone);
	change->op = kvcalloc(nr, sizeof(*change->op), GFP_KERNEL_ACCOUNT);
	return change->op || !nr ? 0 : -ENOMEM;
}

/* Locks the reservations of VM and buffer, which may be the same. */
static void resv_lock(struct drm_gpuvm *gpuvm, struct guest_bo *bo, struct ww_acquire_ctx *ctx)
{
	struct dma_resv *first = drm_gpuvm_resv(gpuvm), *second = bo->tbo.base.resv;

	ww_acquire_init(ctx, &reservation_ww_class);
	dma_resv_lock(first, ctx);
	while (first != second && dma_resv_lock(second, ctx) == -EDEADLK) {
		dma_resv_unlock(first);
		dma_resv_lock_slow(second, ctx);
		swap(first, second);
	}
	ww_acquire_done(ctx);
}

static void resv_unlock(struct drm_gpuvm *gpuvm, struct guest_bo *bo, struct ww_acquire_ctx *ctx)
{
	if (bo->tbo.base.resv != drm_gpuvm_resv(gpuvm))
		dma_resv_unlock(bo->tbo.base.resv);
	dma_resv_unlock(drm_gpuvm_resv(gpuvm));
	ww_acquire_fini(ctx);
}

/* What of the framebuffer a job in the VM needs for the buffer. */
static u64 vm_bo_bytes(struct guest_bo *bo)
{
	return bo->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER ? guest_bo_bytes(bo) : 0;
}

static struct drm_gpuvm_bo *vm_bo_obtain(struct guest_vm *vm, struct guest_bo *bo)
{
	struct drm_gpuvm_bo *new = drm_gpuvm_bo_create(&vm->base, &bo->tbo.base), *vm_bo;
	struct ww_acquire_ctx ctx;

	if (!new)
		return NULL;
	resv_lock(&vm->base, bo, &ctx);
	vm_bo = guest_gpuvm_bo_obtain(new, guest_bo_gpuva_lock(bo));
	drm_gpuvm_bo_extobj_add(vm_bo);
	if (vm_bo == new) {
		vm->fb_bytes += vm_bo_bytes(bo);
		if (!bo->place)
			drm_gpuvm_bo_evict(vm_bo, true);
	}
	resv_unlock(&vm->base, bo, &ctx);
	return vm_bo;
}

void guest_vm_bo_put(struct drm_gpuvm_bo *vm_bo)
{
	struct guest_bo *bo = to_guest_bo(vm_bo->obj);
	struct drm_gpuvm *gpuvm = drm_gpuvm_get(vm_bo->vm);
	struct ww_acquire_ctx ctx;
	bool last;

	/* The last reference takes those of buffer and VM with it, the lock would go while held. */
	drm_gem_object_get(&bo->tbo.base);
	resv_lock(gpuvm, bo, &ctx);
	mutex_lock(guest_bo_gpuva_lock(bo));
	last = drm_gpuvm_bo_put(vm_bo);
	mutex_unlock(guest_bo_gpuva_lock(bo));
	if (last)
		to_guest_vm(gpuvm)->fb_bytes -= vm_bo_bytes(bo);
	resv_unlock(gpuvm, bo, &ctx);
	drm_gem_object_put(&bo->tbo.base);
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
	return guest_pt_reserve(vm->gdev, &change->pt, guest_pt_tables(va, bytes, bo, offset));
}

void guest_vm_change_pend(struct guest_vm_change *change)
{
	struct guest_vm *vm = change->vm;

	mutex_lock(&vm->lock);
	list_add_tail(&change->link, &vm->pending);
	mutex_unlock(&vm->lock);
}

void guest_vm_change_free(struct guest_vm_change *change)
{
	struct guest_vma *vma, *next;
	u32 i, j;

	/* It may never have been done. */
	mutex_lock(&change->vm->lock);
	list_del_init(&change->link);
	mutex_unlock(&change->vm->lock);
	for (i = 0; i < change->nr; i++) {
		for (j = 0; j < ARRAY_SIZE(change->op[i].vma); j++)
			kfree(change->op[i].vma[j]);
		if (change->op[i].vm_bo)
			guest_vm_bo_put(change->op[i].vm_bo);
	}
	list_for_each_entry_safe(vma, next, &change->gone, link) {
		guest_vm_bo_put(vma->base.vm_bo);
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

	mutex_lock(guest_bo_gpuva_lock(bo));
	drm_gpuva_link(&vma->base, vm_bo);
	mutex_unlock(guest_bo_gpuva_lock(bo));
}

/* The mapping is gone; its buffer stays until the device has dropped what it knows of it. */
static void vma_unlink(struct vm_step *step, struct guest_vma *vma)
{
	struct drm_gpuvm_bo *vm_bo = drm_gpuvm_bo_get(vma->base.vm_bo);
	struct guest_bo *bo = to_guest_bo(vm_bo->obj);

	mutex_lock(guest_bo_gpuva_lock(bo));
	drm_gpuva_unlink(&vma->base);
	mutex_unlock(guest_bo_gpuva_lock(bo));
	vma->base.vm_bo = vm_bo;
	list_add_tail(&vma->link, &step->change->gone);
}

int guest_vm_step_map(struct drm_gpuva_op *op, void *priv)
{
	struct vm_step *step = priv;
	struct guest_vm *vm = step->change->vm;
	struct guest_bo *bo = to_guest_bo(op->map.gem.obj);
	struct guest_vma *vma = step_vma(step, step->op->pte);

	if (WARN_ON_ONCE(!vma))
		return -EINVAL;
	/* One that is evicted is mapped when it comes back. */
	mutex_lock(guest_bo_gpuva_lock(bo));
	if (bo->place)
		guest_pt_map(vm->gdev, vm->pt, &step->change->pt, op->map.va.addr,
			     op->map.va.range, bo, op->map.gem.offset, vma->pte);
	mutex_unlock(guest_bo_gpuva_lock(bo));
	drm_gpuva_map(&vm->base, &vma->base, &op->map);
	vma_link(vma, step->op->vm_bo);
	return 0;
}

int guest_vm_step_remap(struct drm_gpuva_op *op, void *priv)
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

int guest_vm_step_unmap(struct drm_gpuva_op *op, void *priv)
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

static int map_step(struct guest_vm *vm, struct vm_step *step)
{
	const struct drm_gpuvm_map_req req = {
		.map.va.addr = step->op->va,
		.map.va.range = step->op->bytes,
		.map.gem.obj = step->op->vm_bo->obj,
		.map.gem.offset = step->op->offset,
	};

	return drm_gpuvm_sm_map(&vm->base, step, &req);
}

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
		ret = step.op->vm_bo ? map_step(vm, &step) :
		      drm_gpuvm_sm_unmap(&vm->base, &step, step.op->va, step.op->bytes);
		cond_resched();
	}
	guest_vm_invalidate(vm, &change->pt);
	list_del_init(&change->link);
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
	return ret;
}

static u64 own_va(u64 va)
{
	return va & (BIT_ULL(VGPU_HW_VA_BITS) - 1);
}

int guest_vm_map_own(struct guest_vm *vm, u64 va, const struct guest_bo *bo)
{
	struct guest_pt_change change;
	int ret, idx;

	guest_pt_change_init(&change);
	ret = guest_pt_reserve(vm->gdev, &change,
			       guest_pt_tables(own_va(va), guest_bo_bytes(bo), bo, 0));
	if (!ret && !drm_dev_enter(&vm->gdev->drm, &idx))
		ret = -ENODEV;
	if (!ret) {
		mutex_lock(&vm->lock);
		guest_pt_map(vm->gdev, vm->pt, &change, own_va(va), guest_bo_bytes(bo), bo, 0,
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
	guest_vm_invalidate(vm, &change);
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
	guest_pt_change_free(vm->gdev, &change);
}
