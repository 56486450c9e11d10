/* SPDX-License-Identifier: GPL-2.0 */
/* How buffers move between the framebuffer and the guest's memory. */
#ifndef _VGPU_GUEST_EVICT_H
#define _VGPU_GUEST_EVICT_H

#include <linux/bits.h>

struct guest_dev;

/*
 * Of &struct ttm_place: only buffers that no job uses are evicted for it. It comes before a place
 * without: a small buffer whose jobs never end, and that TTM finds first, would hold up everybody.
 */
#define GUEST_PL_FLAG_IDLE	BIT(31)

/*
 * Only buffers are evicted for it that reach into the upper half, so that what stays does not come
 * to be in all parts of the framebuffer.
 */
#define GUEST_PL_FLAG_UPPER	BIT(30)

int guest_evict_init(struct guest_dev *gdev);

/*
 * Evicts all buffers, as the framebuffer will be lost, but for those that are pinned, as what the
 * monitor shows; a VM's next job brings them back. The caller sees to it that no job is under way,
 * and that none begins before the device and the page tables are there again. Returns an error if
 * the guest has no memory for them, or a job is under way; then nothing is lost. The device is
 * there.
 */
int guest_evict_all(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_EVICT_H */
