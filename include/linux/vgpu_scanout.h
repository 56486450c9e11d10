/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where in its framebuffer a vGPU's picture lies. This is not part of <linux/vgpu.h>, because files
 * that use it are compiled in user space, too.
 */
#ifndef _LINUX_VGPU_SCANOUT_H
#define _LINUX_VGPU_SCANOUT_H

#include <linux/types.h>

/**
 * struct vgpu_scanout - a picture of XRGB8888 pixels in a vGPU's framebuffer
 * @offset: of the first pixel from the start of the vGPU's framebuffer, in bytes; a multiple of 4
 * @width:  pixels per row, at least 1
 * @height: rows, at least 1
 * @pitch:  bytes from row to row, a multiple of 4 and at least @width * 4
 * @blank:  the screen is dark, whatever the picture is
 *
 * From @offset to the last row's last pixel all bytes are in the vGPU's framebuffer.
 */
struct vgpu_scanout {
	u64 offset;
	u32 width;
	u32 height;
	u32 pitch;
	bool blank;
};

#endif /* _LINUX_VGPU_SCANOUT_H */
