// SPDX-License-Identifier: GPL-2.0
/* The transport over a render node: lists of buffer objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

size_t vgpu_node_list_index(const struct vgpu_node_list *list, uint64_t at)
{
	size_t low = 0, high = list->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (list->bo[mid].at + list->bo[mid].bytes <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct vgpu_node_bo *vgpu_node_find(const struct vgpu_node_list *list, uint64_t at)
{
	size_t i = vgpu_node_list_index(list, at);

	return i < list->nr && list->bo[i].at <= at ? &list->bo[i] : NULL;
}

int vgpu_node_list_reserve(struct vgpu_dev *dev, struct vgpu_node_list *list)
{
	size_t room = list->room ? 2 * list->room : 16;
	struct vgpu_node_bo *bo;

	if (list->nr < list->room)
		return 0;
	bo = reallocarray(list->bo, room, sizeof(*bo));
	if (!bo)
		return vgpu_fail(dev, -ENOMEM, "out of memory");
	list->bo = bo;
	list->room = room;
	return 0;
}

void vgpu_node_list_insert(struct vgpu_node_list *list, const struct vgpu_node_bo *bo)
{
	size_t i = vgpu_node_list_index(list, bo->at);

	memmove(&list->bo[i + 1], &list->bo[i], (list->nr - i) * sizeof(*bo));
	list->bo[i] = *bo;
	list->nr++;
}
