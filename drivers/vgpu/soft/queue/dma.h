/* SPDX-License-Identifier: GPL-2.0 */
/* A channel's requests to guest memory, and for pages. */
#ifndef _VGPU_SOFT_DMA_H
#define _VGPU_SOFT_DMA_H

#include <linux/types.h>
#include <linux/vgpu.h>

#include "exec.h"
#include "../memory/space.h"

struct page;
struct soft_channel;

struct vgpu_dma *soft_dma_alloc(struct soft_channel *ch, const struct soft_place *place,
				bool write);
void soft_dma_add(struct vgpu_dma *dma, struct page *page, unsigned int offset, unsigned int len);
struct page *soft_dma_page(struct soft_channel *ch);
bool soft_dma_add_bounce(struct soft_channel *ch, struct vgpu_dma *dma, u32 len);
bool soft_dma_add_fb(struct soft_channel *ch, struct vgpu_dma *dma, u32 len,
		     struct soft_place *place);
enum soft_end soft_dma_later(struct soft_channel *ch);
enum soft_end soft_dma_submit(struct soft_channel *ch, struct vgpu_dma *dma);
enum soft_end soft_dma_get_fb(struct soft_channel *ch, const struct soft_place *place, u32 len);
enum soft_end soft_dma_find_page(struct soft_channel *ch, u64 va, u32 access, struct page **page,
				 struct soft_fault *fault);
enum soft_end soft_dma_get_loose(struct soft_channel *ch, u64 va, u32 len);
struct vgpu_dma *soft_dma_take(struct soft_channel *ch);
void soft_dma_keep(struct soft_exec *exec, const struct vgpu_dma *dma);

#endif /* _VGPU_SOFT_DMA_H */
