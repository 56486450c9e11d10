/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The place of a vGPU's picture in its framebuffer. This is not part of <linux/vgpu.h>, because
 * files that use it are compiled in user space, too.
 */
#ifndef _LINUX_VGPU_SCANOUT_H
#define _LINUX_VGPU_SCANOUT_H

#include <linux/types.h>

/**
 * struct vgpu_scanout - a picture of XRGB8888 pixels in a vGPU's framebuffer
 * @offset: offset of the first pixel in the vGPU's framebuffer, in bytes; a multiple of 4
 * @width:  pixels per row, at least 1
 * @height: rows, at least 1
 * @pitch:  bytes from row to row, a multiple of 4 and at least @width * 4
 * @blank:  the screen is dark, whatever the picture is
 *
 * All bytes from @offset to the last pixel of the last row are in the vGPU's framebuffer.
 */
struct vgpu_scanout {
	u64 offset;
	u32 width;
	u32 height;
	u32 pitch;
	bool blank;
};

#endif /* _LINUX_VGPU_SCANOUT_H */
