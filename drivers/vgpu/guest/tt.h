/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers' pages of the guest's memory. */
#ifndef _VGPU_GUEST_TT_H
#define _VGPU_GUEST_TT_H

#include <linux/list.h>

#include <drm/ttm/ttm_tt.h>

struct guest_dev;
struct guest_place;

/**
 * struct guest_tt - a buffer's pages of the guest's memory
 * @base:  TTM's
 * @link:  in &struct guest_dev.tts, while there is a @sgt
 * @sgt:   the pages, mapped for DMA; NULL if there are none, if another device has mapped them, or
 *         when the driver has left the device
 * @place: the same, for mappings and moves, while there are pages
 */
struct guest_tt {
	struct ttm_tt base;
	struct list_head link;
	struct sg_table *sgt;
	struct guest_place *place;
};

static inline struct guest_tt *to_guest_tt(struct ttm_tt *tt)
{
	return container_of(tt, struct guest_tt, base);
}

int guest_tt_init(struct guest_dev *gdev);

/* Of &struct ttm_device_funcs. */
struct ttm_tt *guest_tt_create(struct ttm_buffer_object *tbo, u32 flags);
int guest_tt_populate(struct ttm_device *ttm, struct ttm_tt *base, struct ttm_operation_ctx *ctx);
void guest_tt_unpopulate(struct ttm_device *ttm, struct ttm_tt *base);
void guest_tt_destroy(struct ttm_device *ttm, struct ttm_tt *base);

/* The driver leaves the device: nothing is mapped for DMA any more, now and later. */
void guest_tt_leave(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_TT_H */
