// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: arrays to which a call's structure points. */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "control.h"
#include "../core.h"

/**
 * vgpu_ctl_entry_size() - compute the bytes of each element of a caller's array
 * @size:       entry_size, as set by the caller
 * @first_size: bytes of the element in the first version of its call
 *
 * Return: bytes, -EINVAL or -E2BIG.
 */
int vgpu_ctl_entry_size(u32 size, u32 first_size)
{
	if (size < first_size)
		return -EINVAL;
	return size > VGPU_CTL_SIZE_MAX ? -E2BIG : size;
}

/*
 * Copies @nr elements to the caller's array. Leaves out fields for which the caller's elements have
 * no room, zeroes fields that the driver does not know, and does not touch elements of engine[]
 * that the GPU does not have. The caller holds no lock, since access to user memory may take long.
 */
static int array_put(const struct vgpu_ctl_array *array, size_t size,
		     const struct vgpu_ctl_entries *entries, unsigned int nr)
{
	size_t both = min(size, entries->stride), unknown = array->engine_size ? 0 : size - both;
	u64 to = array->to;
	unsigned int i;

	for (i = 0; i < nr; i++, to += size)
		if (copy_to_user(u64_to_user_ptr(to), vgpu_ctl_entry(entries, i), both) ||
		    clear_user(u64_to_user_ptr(to + both), unknown))
			return -EFAULT;
	return 0;
}

/**
 * vgpu_ctl_array_read() - read data of a GPU into a caller's array
 * @array: the data to read, and the destination
 * @ctl:   structure of the call, in kernel memory
 *
 * Context: sleeps.
 * Return: 0, -ENODEV, -EINVAL, -E2BIG, -ENOMEM, -EFAULT, or the error of @array's fill.
 */
int vgpu_ctl_array_read(const struct vgpu_ctl_array *array, void *ctl)
{
	int size = vgpu_ctl_entry_size(array->entry_size, array->first_size);
	struct vgpu_ctl_entries entries = { .nr = array->nr };
	struct vgpu_gpu *gpu;
	int ret;

	if (size < 0)
		return size;
	gpu = vgpu_gpu_find(array->gpu);
	if (!gpu)
		return -ENODEV;
	/* Charged to the caller, whose memory decides how long array_put() takes. */
	entries.stride = array->known_size + array->engine_size * gpu->info.nr_engines;
	entries.at = kvcalloc(array->nr ?: 1, entries.stride, GFP_KERNEL_ACCOUNT);
	if (!entries.at) {
		ret = -ENOMEM;
		goto out_put;
	}

	ret = -ENODEV;
	if (vgpu_gpu_enter(gpu)) {
		ret = array->fill(gpu, ctl, &entries);
		vgpu_gpu_leave(gpu);
	}
	if (ret > 0)
		ret = array_put(array, size, &entries, min_t(unsigned int, ret, array->room));
	kvfree(entries.at);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}
