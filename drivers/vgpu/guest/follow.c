// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings follow a buffer. They lead to it, or nowhere; which buffers a VM has lost is remembered
 * by drm_gpuvm, and the VM's next job brings them back.
 */
#include <linux/delay.h>

#include <drm/drm_managed.h>
#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_placement.h>

#include "bo.h"
#include "device.h"
#include "evict.h"
#include "follow.h"
#include "man.h"
#include "vm.h"

/*
 * A job waits for so many turns for framebuffer that other clients' jobs have or that has come to
 * be in pieces; a turn's time, and how often it looks in that, both in ms.
 */
#define ROOM_TURNS	30
#define ROOM_TURN	1000
#define ROOM_LOOK	20

static void unmap_in(struct guest_vm *vm, struct drm_gpuvm_bo *vm_bo)
{
	struct guest_pt_change change;
	struct drm_gpuva *va;
	int idx;

	/* A device that is gone finds nothing; its tables are not used again. */
	if (!drm_dev_enter(&vm->gdev->drm, &idx))
		return;
	guest_pt_change_init(&change);
	mutex_lock(&vm->lock);
	/* Whole mappings: no leaf is split, so no table is needed. */
	if (vm->pt) {
		drm_gpuvm_bo_for_each_va(va, vm_bo)
			guest_pt_unmap(vm->gdev, vm->pt, &change, va->va.addr, va->va.range);
		guest_vm_invalidate(vm, &change);
	}
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
	guest_pt_change_free(vm->gdev, &change);
}

/* A bind that is done from now on maps nothing, one that was done before is found here. */
void guest_follow_unmap(struct guest_bo *bo)
{
	struct drm_gpuvm_bo *vm_bo;

	guest_bo_set_place(bo, NULL);
	drm_gem_for_each_gpuvm_bo(vm_bo, &bo->tbo.base) {
		drm_gpuvm_bo_evict(vm_bo, true);
		unmap_in(to_guest_vm(vm_bo->vm), vm_bo);
	}
}

/* Maps the buffer where the VM has it, if there are tables enough; else returns how many more. */
static u64 map_in(struct guest_vm *vm, struct drm_gpuvm_bo *vm_bo, struct guest_pt_change *change,
		  u64 tables)
{
	struct guest_bo *bo = to_guest_bo(vm_bo->obj);
	struct drm_gpuva *va;
	u64 need = 0;

	mutex_lock(&vm->lock);
	drm_gpuvm_bo_for_each_va(va, vm_bo)
		need += guest_pt_tables(va->va.addr, va->va.range, bo, va->gem.offset);
	if (need <= tables) {
		drm_gpuvm_bo_for_each_va(va, vm_bo)
			guest_pt_map(vm->gdev, vm->pt, change, va->va.addr, va->va.range, bo,
				     va->gem.offset,
				     container_of(va, struct guest_vma, base)->pte);
	}
	mutex_unlock(&vm->lock);
	return need <= tables ? 0 : need - tables;
}

/* Mappings may come meanwhile, as tables are made where no lock of the VM's is held. */
static int map_again(struct guest_vm *vm, struct drm_gpuvm_bo *vm_bo)
{
	struct guest_pt_change change;
	u64 tables = 0, more = 0;
	int ret, idx;

	guest_pt_change_init(&change);
	do {
		ret = guest_pt_reserve(vm->gdev, &change, more);
		if (ret)
			break;
		tables += more;
		ret = -ENODEV;
		if (!drm_dev_enter(&vm->gdev->drm, &idx))
			break;
		ret = 0;
		more = map_in(vm, vm_bo, &change, tables);
		drm_dev_exit(idx);
	} while (more);
	guest_pt_change_free(vm->gdev, &change);
	return ret;
}

/* -EBUSY: there is no room. */
static int bring(struct guest_bo *bo, const struct ttm_place *place, unsigned int nr)
{
	struct ttm_placement placement = { nr, place };
	struct ttm_operation_ctx ctx = { .interruptible = true };
	int ret;

	/* TTM may fail before it looks for room. */
	bo->no_room = false;
	ret = ttm_bo_validate(&bo->tbo, &placement, &ctx);
	/* TTM says that there is no memory, also where it is no framebuffer. */
	return ret == -ENOMEM && bo->no_room ? -EBUSY : ret;
}

/*
 * Those come last that may not find a place again so easily. What this pass has brought back does
 * not go: it would be brought back in this pass, and so on for ever where there is no room for all.
 */
static void add_in_way(struct guest_vm *vm, struct list_head *list, struct drm_gem_object *obj)
{
	struct guest_bo *bo = to_guest_bo(obj);

	if (bo->tbo.resource->mem_type != TTM_PL_VRAM || bo->spot || bo->pass == vm->pass ||
	    !list_empty(&bo->in_way))
		return;
	if (bo->contiguous)
		list_add_tail(&bo->in_way, list);
	else
		list_add(&bo->in_way, list);
}

/* Buffers of the VM's that may be in the way of one in one piece. All are locked. */
static void list_in_way(struct guest_vm *vm, struct list_head *list)
{
	const struct guest_vm_change *change;
	struct drm_gpuva *va;
	u32 i;

	mutex_lock(&vm->lock);
	drm_gpuvm_for_each_va(va, &vm->base)
		add_in_way(vm, list, va->gem.obj);
	list_for_each_entry(change, &vm->pending, link)
		for (i = 0; i < change->nr; i++)
			if (change->op[i].vm_bo)
				add_in_way(vm, list, change->op[i].vm_bo->obj);
	mutex_unlock(&vm->lock);
}

/* Moves these, one by one, until @bo finds room. @wait: for jobs that use them. */
static int bring_among(struct guest_vm *vm, struct guest_bo *bo, struct list_head *list, bool wait)
{
	static const struct ttm_place free = {
		.mem_type = TTM_PL_VRAM, .flags = TTM_PL_FLAG_DESIRED,
	};
	static const struct ttm_place system = { .mem_type = TTM_PL_TT };
	struct ttm_placement placement = { 1, &system };
	struct guest_bo *other, *next;
	int ret = bring(bo, &free, 1);

	list_for_each_entry_safe(other, next, list, in_way) {
		struct ttm_operation_ctx ctx = { .interruptible = true, .no_wait_gpu = !wait };

		if (ret != -EBUSY)
			return ret;
		ret = ttm_bo_validate(&other->tbo, &placement, &ctx);
		if (!ret) {
			list_del_init(&other->in_way);
			vm->moved = true;
			ret = bring(bo, &free, 1);
		} else if (ret == -ENOMEM || (ret == -EBUSY && !wait)) {
			ret = -EBUSY;
		} else {
			return ret;
		}
	}
	return ret;
}

/* Others' buffers are evicted, and jobs are waited for, where that helps. */
static int bring_piece(struct guest_vm *vm, struct guest_bo *bo)
{
	static const struct ttm_place idle = {
		.mem_type = TTM_PL_VRAM, .flags = GUEST_PL_FLAG_IDLE,
	};
	static const struct ttm_place any = { .mem_type = TTM_PL_VRAM };
	struct guest_bo *other, *next;
	LIST_HEAD(list);
	int ret;

	ret = bring_among(vm, bo, &list, false);
	if (ret != -EBUSY)
		return ret;
	if (!guest_fb_has_piece(vm->gdev, guest_bo_bytes(bo)))
		return -ENOSPC;
	list_in_way(vm, &list);
	ret = bring_among(vm, bo, &list, false);
	if (ret == -EBUSY)
		ret = bring(bo, &idle, 1);
	if (ret == -EBUSY)
		ret = bring_among(vm, bo, &list, true);
	if (ret == -EBUSY)
		ret = bring(bo, &any, 1);
	list_for_each_entry_safe(other, next, &list, in_way)
		list_del_init(&other->in_way);
	return ret;
}

static int bring_back(struct guest_vm *vm, struct guest_bo *bo)
{
	static const struct ttm_place place[] = {
		{ .mem_type = TTM_PL_VRAM, .flags = GUEST_PL_FLAG_IDLE },
		{ .mem_type = TTM_PL_VRAM },
	};

	if (bo->placement != DRM_VGPU_PLACEMENT_FRAMEBUFFER)
		return 0;
	if (vm->fb_bytes > guest_fb_for_buffers(vm->gdev))
		return -ENOSPC;
	return bo->contiguous ? bring_piece(vm, bo) : bring(bo, place, ARRAY_SIZE(place));
}

int guest_follow_validate(struct drm_gpuvm_bo *vm_bo, struct drm_exec *exec)
{
	struct guest_vm *vm = to_guest_vm(vm_bo->vm);
	struct guest_bo *bo = to_guest_bo(vm_bo->obj);
	int ret;

	if (vm->pieces && !bo->contiguous)
		return 0;
	ret = bring_back(vm, bo);
	if (!ret)
		bo->pass = vm->pass;
	if (!ret)
		ret = map_again(vm, vm_bo);
	if (!ret)
		vm_bo->evicted = false;
	return ret;
}

/*
 * While all is being locked: making room may lock buffers of others, by the same ticket. Those in
 * one piece come first. -EAGAIN: what was moved for them is known to drm_gpuvm when it locks again.
 */
static int validate_all(struct drm_gpuvm_exec *exec)
{
	struct guest_vm *vm = to_guest_vm(exec->vm);
	int ret;

	vm->moved = false;
	vm->pass = atomic64_inc_return(&vm->gdev->passes);
	vm->pieces = true;
	ret = drm_gpuvm_validate(exec->vm, &exec->exec);
	vm->pieces = false;
	if (!ret)
		ret = vm->moved ? -EAGAIN : drm_gpuvm_validate(exec->vm, &exec->exec);
	return ret;
}

int guest_follow_init(struct guest_dev *gdev)
{
	return drmm_mutex_init(&gdev->drm, &gdev->room_mutex);
}

/* A guest that begins to hibernate waits for it, and not for all turns. */
static int lock_once(struct guest_dev *gdev, struct drm_gpuvm_exec *exec)
{
	int ret = guest_gate_enter(gdev);

	if (ret)
		return ret;
	ret = drm_gpuvm_exec_lock(exec);
	guest_gate_leave(gdev);
	return ret;
}

/*
 * Clients that want each other's framebuffer must let go of all that they have locked. Of those
 * that have found none one looks at a time: whoever begins anew has a younger ticket than all
 * others, and would lose to them again and again.
 */
int guest_follow_lock(struct drm_gpuvm_exec *exec)
{
	struct guest_dev *gdev = to_guest_vm(exec->vm)->gdev;
	unsigned int turns = 0;
	unsigned long end = 0;
	bool turn = false, again = false, flushed = false;
	int ret;

	exec->extra.fn = validate_all;
	while ((ret = lock_once(gdev, exec)) == -EBUSY || ret == -EAGAIN ||
	       (ret == -ENOSPC && !flushed)) {
		/* What was shown may be in the way, and is about to go. */
		if (ret == -ENOSPC) {
			flushed = true;
			guest_shown_flush(gdev);
			continue;
		}
		/* Two in one piece may want each other's place for ever. */
		again = ret == -EAGAIN && !again;
		if (again)
			continue;
		if (turn && time_before(jiffies, end)) {
			if (!msleep_interruptible(ROOM_LOOK))
				continue;
			ret = -ERESTARTSYS;
			break;
		}
		if (turn)
			mutex_unlock(&gdev->room_mutex);
		if (turns++ == ROOM_TURNS)
			return -ENOSPC;
		if (mutex_lock_interruptible(&gdev->room_mutex))
			return -ERESTARTSYS;
		turn = true;
		end = jiffies + msecs_to_jiffies(ROOM_TURN);
	}
	if (turn)
		mutex_unlock(&gdev->room_mutex);
	return ret;
}

/* The device faults at a surface in the guest's memory. */
static void show_bo(struct drm_gem_object *obj, struct list_head *bos)
{
	struct guest_bo *bo = to_guest_bo(obj);

	if (bo->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER && list_empty(&bo->show_link))
		list_add_tail(&bo->show_link, bos);
}

/* What is not mapped yet, and may be when the job begins. The buffers are locked as the others. */
static void show_pending(struct guest_vm *vm, u64 va, u64 end, struct list_head *bos)
{
	const struct guest_vm_change *change;
	const struct guest_vm_op *op;
	u32 i;

	list_for_each_entry(change, &vm->pending, link) {
		for (i = 0; i < change->nr; i++) {
			op = &change->op[i];
			if (op->vm_bo && op->va < end && va < op->va + op->bytes)
				show_bo(op->vm_bo->obj, bos);
		}
	}
}

/* Buffers that are beside each other may make up a surface. */
void guest_follow_show(struct drm_gpuvm_exec *exec, u64 va, u64 bytes, struct list_head *bos)
{
	struct guest_vm *vm = to_guest_vm(exec->vm);
	u64 end = BIT_ULL(GUEST_VA_BITS);
	struct drm_gpuva *shown;

	if (!bytes || va >= end)
		return;
	end = va + min(bytes, end - va);
	mutex_lock(&vm->lock);
	drm_gpuvm_for_each_va_range(shown, exec->vm, va, end)
		show_bo(shown->gem.obj, bos);
	show_pending(vm, va, end, bos);
	mutex_unlock(&vm->lock);
}

void guest_follow_used(struct drm_gpuvm_exec *exec)
{
	struct ttm_device *ttm = &to_guest_vm(exec->vm)->gdev->ttm;
	struct drm_gem_object *obj;

	spin_lock(&ttm->lru_lock);
	drm_exec_for_each_locked_object(&exec->exec, obj) {
		if (obj == drm_gpuvm_resv_obj(exec->vm))
			ttm_lru_bulk_move_tail(&to_guest_shared(obj)->lru);
		else
			ttm_bo_move_to_lru_tail(&to_guest_bo(obj)->tbo);
	}
	spin_unlock(&ttm->lru_lock);
}
