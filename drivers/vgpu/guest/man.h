/* SPDX-License-Identifier: GPL-2.0 */
/* TTM's managers of the two kinds of memory. */
#ifndef _VGPU_GUEST_MAN_H
#define _VGPU_GUEST_MAN_H

#include <linux/list.h>

#include <drm/ttm/ttm_resource.h>

struct guest_dev;
struct guest_place;

/**
 * struct guest_resource - what a buffer has of the framebuffer
 * @base:   TTM's
 * @blocks: the blocks
 * @place:  the same, for mappings
 */
struct guest_resource {
	struct ttm_resource base;
	struct list_head blocks;
	struct guest_place *place;
};

static inline struct guest_resource *to_guest_resource(struct ttm_resource *res)
{
	return container_of(res, struct guest_resource, base);
}

void guest_man_init(struct guest_dev *gdev);

/* No buffer is left. */
void guest_man_fini(struct guest_dev *gdev);

/*
 * Bytes of the guest's memory that new buffers may have, and of these, those that none has; and
 * how many can be evicted into it.
 */
u64 guest_man_limit(struct guest_dev *gdev);
u64 guest_man_left(struct guest_dev *gdev);
u64 guest_man_left_to_evict(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_MAN_H */
