/* SPDX-License-Identifier: GPL-2.0 */
/* The display of a vGPU. */
#ifndef _VGPU_SOFT_DISPLAY_H
#define _VGPU_SOFT_DISPLAY_H

#include <linux/types.h>
#include <linux/vgpu.h>

#include "../work/screen.h"
#include "vga.h"

/**
 * struct soft_display - the display of a vGPU
 * @vgpu:     the core's structure of the vGPU; constant
 * @info:     the part of the GPU that the vGPU owns; constant
 * @screen:   the picture of PRESENT, if it is newer than the mode set in @vga; constant
 * @vga:      registers of the VGA card, if the vGPU is one; protected by the lock of @screen
 */
struct soft_display {
	struct vgpu_instance *vgpu;
	const struct vgpu_instance_info *info;
	struct soft_screen *screen;
	struct soft_vga vga;
};

void soft_display_limits(const struct soft_display *display, struct soft_vga_limits *limits);
void soft_display_reset(struct soft_display *display);
void soft_display_rw(struct soft_display *display, u32 offset, void *buf, size_t count, bool write);
bool soft_display_scanout(struct soft_display *display, struct vgpu_scanout *scanout);

#endif /* _VGPU_SOFT_DISPLAY_H */
