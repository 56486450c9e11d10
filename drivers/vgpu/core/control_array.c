// SPDX-License-Identifier: GPL-2.0
/* /dev/vgpu: arrays that a call's structure points to. */
#include <linux/uaccess.h>

#include "control.h"

/**
 * vgpu_ctl_entry_size() - say how many bytes each element of a caller's array has
 * @size:       entry_size, as the caller has set it
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

/**
 * vgpu_ctl_entries_put() - fill a caller's array
 * @to:      where it is in the caller's memory
 * @size:    bytes of each element there, of vgpu_ctl_entry_size()
 * @entries: the elements; what the caller has no room for is left out, what the driver does not
 *           know is 0
 * @known:   bytes of each of @entries
 * @nr:      number of elements
 *
 * Context: sleeps; without locks, as the caller's memory may take long.
 * Return: 0 or -EFAULT.
 */
int vgpu_ctl_entries_put(u64 to, size_t size, const void *entries, size_t known, unsigned int nr)
{
	size_t both = min(size, known);

	for (; nr--; to += size, entries += known)
		if (copy_to_user(u64_to_user_ptr(to), entries, both) ||
		    clear_user(u64_to_user_ptr(to + both), size - both))
			return -EFAULT;
	return 0;
}
