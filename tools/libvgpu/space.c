// SPDX-License-Identifier: GPL-2.0
/* Address spaces of channels. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

int vgpu_space_create(struct vgpu_dev *dev, struct vgpu_space **spacep)
{
	struct vgpu_space *space;
	int ret;

	*spacep = NULL;
	space = calloc(1, sizeof(*space));
	if (!space)
		return vgpu_fail(dev, -ENOMEM, "out of memory");
	space->dev = dev;
	ret = dev->transport->space->create(space);
	if (ret) {
		free(space);
		return ret;
	}
	*spacep = space;
	return 0;
}

void vgpu_space_destroy(struct vgpu_space *space)
{
	if (space && space->dev->transport->space->destroy)
		space->dev->transport->space->destroy(space);
	free(space);
}

static int check_range(struct vgpu_space *space, uint64_t va, uint64_t bytes)
{
	uint64_t half = 1ull << (VGPU_HW_VA_BITS - 1), from = va + half;

	/* Both halves lie one after the other, counted from the upper one's beginning. */
	if ((va | bytes) % VGPU_HW_PAGE_SIZE || from >= 2 * half || bytes > 2 * half - from)
		return vgpu_fail(space->dev, -EINVAL, "%#llx bytes at virtual address %#llx",
				 (unsigned long long)bytes, (unsigned long long)va);
	return 0;
}

int vgpu_space_map(struct vgpu_space *space, uint64_t va, struct vgpu_loc to, uint64_t bytes,
		   uint32_t flags)
{
	int ret = check_range(space, va, bytes);

	return ret ? ret : space->dev->transport->space->map(space, va, to, bytes, flags);
}

int vgpu_space_map_fb(struct vgpu_space *space, uint64_t offset, uint64_t bytes, uint32_t flags)
{
	const uint64_t mask = VGPU_HW_PAGE_SIZE - 1, start = offset & ~mask;

	return vgpu_space_map(space, vgpu_global_address(start), VGPU_FB(start),
			      (offset + bytes - start + mask) & ~mask, flags);
}

int vgpu_space_unmap(struct vgpu_space *space, uint64_t va, uint64_t bytes)
{
	int ret = check_range(space, va, bytes);

	return ret ? ret : space->dev->transport->space->unmap(space, va, bytes);
}

int vgpu_space_invalidate(struct vgpu_space *space)
{
	return space->dev->transport->space->invalidate(space->dev, space);
}
