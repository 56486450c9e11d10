/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libvgpu: packets of the usual kinds. Each function queues what it says, as one packet or as
 * several where the memory is not contiguous for the device, and returns what vgpu_chan_submit()
 * returns.
 */
#ifndef LIBVGPU_WORK_H
#define LIBVGPU_WORK_H

#include "libvgpu_chan.h"

int vgpu_chan_nop(struct vgpu_chan *chan);

/* Queues a fence, whose value for vgpu_chan_wait() goes to *@fence. */
int vgpu_chan_fence(struct vgpu_chan *chan, uint64_t *fence);

/* Fills @bytes with the pattern @value; @bytes and the offset of @dst are multiples of 4. */
int vgpu_chan_fill(struct vgpu_chan *chan, struct vgpu_loc dst, uint32_t value, uint64_t bytes);

int vgpu_chan_copy(struct vgpu_chan *chan, struct vgpu_loc dst, struct vgpu_loc src,
		   uint64_t bytes);

/* Copies @rows of @width bytes; the pitches are the distances between rows in bytes. */
int vgpu_chan_copy2d(struct vgpu_chan *chan, struct vgpu_loc dst, uint32_t dst_pitch,
		     struct vgpu_loc src, uint32_t src_pitch, uint64_t width, uint32_t rows);

/*
 * Shows a surface of @width times @height pixels (XRGB8888) that begins at @offset of the
 * framebuffer and has
 * @pitch bytes per row. Needs a channel on a gr engine.
 */
int vgpu_chan_present(struct vgpu_chan *chan, uint64_t offset, uint32_t width, uint32_t height,
		      uint32_t pitch);

#endif /* LIBVGPU_WORK_H */
