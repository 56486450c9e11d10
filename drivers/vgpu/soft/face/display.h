/* SPDX-License-Identifier: GPL-2.0 */
/* The display of a vGPU. */
#ifndef _VGPU_SOFT_DISPLAY_H
#define _VGPU_SOFT_DISPLAY_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vgpu.h>

#include "vga.h"

/* Where the picture of the first head comes from. */
enum soft_source {
	SOFT_SOURCE_NONE,
	SOFT_SOURCE_PRESENT,	/* the surface of the latest PRESENT */
	SOFT_SOURCE_VGA,	/* the mode that is set in the registers of the VGA card */
};

/**
 * struct soft_display - the display of a vGPU
 * @vgpu:     the vGPU as the core knows it; constant
 * @info:     what the vGPU is; constant
 * @lock:     protects the following
 * @vga:      registers of the VGA card, which the vGPU may be set to be
 * @present:  surface of the latest PRESENT to the first head, if @source says so
 * @source:   which of both is the newer one
 */
struct soft_display {
	struct vgpu_instance *vgpu;
	const struct vgpu_instance_info *info;
	raw_spinlock_t lock;		/* vga, present, source */
	struct soft_vga vga;
	struct vgpu_scanout present;
	enum soft_source source;
};

void soft_display_reset(struct soft_display *display);
void soft_display_rw(struct soft_display *display, u32 offset, void *buf, size_t count, bool write);
bool soft_display_scanout(struct soft_display *display, struct vgpu_scanout *scanout);

#endif /* _VGPU_SOFT_DISPLAY_H */
