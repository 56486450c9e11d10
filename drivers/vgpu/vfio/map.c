// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of a vGPU's memory BARs, and of the plane of its display. A page fault gets a batch of
 * pages from the back end and maps them as ordinary pages, so another device in the VM can pin
 * them. (The dark parts of the plane are the kernel's page of zeros.)
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "map.h"

#define MAP_BATCH_BYTES		65536
#define MAP_BATCH		DIV_ROUND_UP(MAP_BATCH_BYTES, PAGE_SIZE)
/* Number of batches that one page fault maps if the user touches batches in a row. */
#define MAP_AHEAD		4

/* A page fault for which the host has no memory is repeated after this time. */
#define MAP_SHORT_MS		10

/*
 * Maps up to @nr pages, starting at page @pgoff of the file; the caller has checked the range.
 * Returns the number of pages handled, or -errno.
 */
static int map_range(struct vgpu_map *map, struct vm_area_struct *vma,
		     pgoff_t pgoff, unsigned int nr)
{
	unsigned long addr = vma->vm_start + ((pgoff - vma->vm_pgoff) << PAGE_SHIFT);
	struct page *pages[MAP_BATCH];
	unsigned long left;
	unsigned int region;
	u64 first;
	int got, i, ret;

	ret = vgpu_region_map(&map->regions, pgoff, nr, PAGE_SHIFT, &region, &first);
	if (ret)
		return ret;
	got = map->pages(map, region, first, pages, nr);
	if (got < 0)
		return got;

	i = 0;
	while (i < got) {
		left = got - i;
		ret = vm_insert_pages(vma, addr + ((unsigned long)i << PAGE_SHIFT),
				      pages + i, &left);
		i = got - left;
		if (!ret)
			break;
		if (ret != -EBUSY)
			break;
		/* Another page fault has already mapped this page. */
		ret = 0;
		i++;
	}
	return ret ?: got;
}

/* Maps whole batches, starting at @pgoff. Stops at an error: later page faults map the rest. */
static void map_ahead(struct vgpu_map *map, struct vm_area_struct *vma,
		      pgoff_t pgoff, pgoff_t end, unsigned int windows)
{
	while (windows-- && end - pgoff >= MAP_BATCH &&
	       map_range(map, vma, pgoff, MAP_BATCH) == MAP_BATCH)
		pgoff += MAP_BATCH;
	WRITE_ONCE(map->next, pgoff);
}

/*
 * Whether a page fault may go on waiting for memory of the host: not once the task is killed, nor
 * once the processes of @mm are ending. A kthread of KVM, or a debugger, may touch memory of a VM
 * whose exit waits for that kthread or debugger. An exiting task, whose signal is already gone,
 * may touch its own memory once more.
 */
static bool map_may_wait(struct mm_struct *mm)
{
	if (fatal_signal_pending(current))
		return false;
	if (current->mm == mm && !(current->flags & PF_KTHREAD))
		return !(READ_ONCE(current->signal->flags) & SIGNAL_GROUP_EXIT);
	return !vgpu_mm_ending(mm);
}

static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct vgpu_map *map = vma->vm_private_data;
	struct vgpu_instance *instance = map->instance;
	u64 start, nr, end = vma->vm_pgoff + vma_pages(vma);
	unsigned int windows = 1;
	int ret = -ENODEV;

	/*
	 * A kernel that lets userfaultfd write-protect what is mapped here has left its mark in
	 * the page table. No page can be put there, and the access would fault for ever.
	 */
	if (vmf->flags & FAULT_FLAG_ORIG_PTE_VALID && !pte_none(vmf->orig_pte))
		return VM_FAULT_SIGBUS;
	vgpu_region_window(vmf->pgoff, vma->vm_pgoff, end, MAP_BATCH, &start, &nr);
	/* Another page fault may be changing next, which is only a hint. */
	if (start == READ_ONCE(map->next))
		windows = MAP_AHEAD;

	down_read(&instance->map_lock);
	/* Each page that is mapped counts as written. */
	if (instance->tracked) {
		start = vmf->pgoff;
		nr = 1;
		windows = 1;
	}
	if (READ_ONCE(map->opened)) {
		ret = map_range(map, vma, start, nr);
		if (ret == nr)
			map_ahead(map, vma, start + nr, end, windows - 1);
		/* If the batch cannot be mapped, map only the page that was touched. */
		if (ret < 0 || start + ret <= vmf->pgoff)
			ret = map_range(map, vma, vmf->pgoff, 1);
	}
	up_read(&instance->map_lock);

	if (ret > 0)
		return VM_FAULT_NOPAGE;
	/*
	 * A VM need not be killed because the host is short of memory. Wait for a short time, since
	 * the user's mm may be locked; then the access is repeated, and faults again.
	 */
	if (ret == -EAGAIN) {
		schedule_timeout_killable(msecs_to_jiffies(MAP_SHORT_MS));
		if (map_may_wait(vma->vm_mm))
			return VM_FAULT_NOPAGE;
	}
	atomic64_inc(&map->failures);
	vgpu_inst_notice_limited(instance, "no memory for a page touched by pid %d (%d)\n",
				 task_tgid_nr(current), ret);
	return VM_FAULT_SIGBUS;
}

/* Called when fork() copies a mapping, and also when a mapping is moved or split. */
static void map_open(struct vm_area_struct *vma)
{
	struct vgpu_map *map = vma->vm_private_data;

	vgpu_owner_map(map->instance, vma->vm_mm);
}

static void map_close(struct vm_area_struct *vma)
{
	struct vgpu_map *map = vma->vm_private_data;

	vgpu_owner_unmap(map->instance, vma->vm_mm);
}

static vm_fault_t map_fault_bar(struct vm_fault *vmf)
{
	struct vgpu_map *map = vmf->vma->vm_private_data;

	vgpu_owner_touch(map->instance, vmf->vma->vm_mm);
	return map_fault(vmf);
}

static const struct vm_operations_struct map_bar_ops = {
	.open = map_open,
	.close = map_close,
	.fault = map_fault_bar,
};

/* Who looks at the display does not have the vGPU for that. */
static const struct vm_operations_struct map_plane_ops = {
	.fault = map_fault,
};

/**
 * vgpu_map_mmap() - map a part of a BAR or of the plane
 * @map: mappings of a vGPU that is open
 * @vma: the user's new mapping, whose mm is locked for writing
 *
 * A mapping holds a reference to the device's file, so close finds no mapping.
 *
 * Return: 0; -EINVAL if the mapping is private, or not all of it is owned memory or plane; -EACCES
 * for a writable mapping of the plane.
 */
int vgpu_map_mmap(struct vgpu_map *map, struct vm_area_struct *vma)
{
	unsigned int region;
	u64 first;
	int ret;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	ret = vgpu_region_map(&map->regions, vma->vm_pgoff, vma_pages(vma),
			      PAGE_SHIFT, &region, &first);
	if (ret)
		return ret;
	if (region == VGPU_REGION_PLANE && vma->vm_flags & VM_WRITE)
		return -EACCES;
	vm_flags_set(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = map;
	if (region == VGPU_REGION_PLANE) {
		vm_flags_clear(vma, VM_MAYWRITE);
		vma->vm_ops = &map_plane_ops;
	} else {
		vma->vm_ops = &map_bar_ops;
		map_open(vma);
	}
	return 0;
}
