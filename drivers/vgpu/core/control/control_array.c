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
	if (!size)
		return first_size;
	if (size < first_size)
		return -EINVAL;
	return size > PAGE_SIZE ? -E2BIG : size;
}

/*
 * Copies @nr elements to the caller's array. Leaves out fields for which the caller's elements have
 * no room, and zeroes fields that the driver does not know. The caller holds no lock, since access
 * to user memory may take long.
 */
static int array_put(const struct vgpu_ctl_array *array, size_t size, const void *entries,
		     unsigned int nr)
{
	size_t known = array->known_size, both = min(size, known);
	u64 to = array->to;

	for (; nr--; to += size, entries += known)
		if (copy_to_user(u64_to_user_ptr(to), entries, both) ||
		    clear_user(u64_to_user_ptr(to + both), size - both))
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
	struct vgpu_gpu *gpu;
	void *entries;
	int ret;

	if (size < 0)
		return size;
	gpu = vgpu_gpu_find(array->gpu);
	if (!gpu)
		return -ENODEV;
	/* Charged to the caller, whose memory decides how long array_put() takes. */
	entries = kvcalloc(array->nr ?: 1, array->known_size, GFP_KERNEL_ACCOUNT);
	if (!entries) {
		ret = -ENOMEM;
		goto out_put;
	}

	ret = -ENODEV;
	if (vgpu_gpu_enter(gpu)) {
		ret = array->fill(gpu, ctl, entries, array->nr);
		vgpu_gpu_leave(gpu);
	}
	if (ret > 0)
		ret = array_put(array, size, entries, min_t(unsigned int, ret, array->room));
	kvfree(entries);
out_put:
	vgpu_gpu_put(gpu);
	return ret;
}
