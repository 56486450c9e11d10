// SPDX-License-Identifier: GPL-2.0
/*
 * The display of a vGPU: the surface of the latest PRESENT, or the mode that is set in the
 * registers of a VGA card, whichever is newer. The front end reads the picture from the framebuffer
 * when the user queries it; a picture that nobody queries costs nothing.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "display.h"

/* Sets @limits to those of the vGPU's display. */
void soft_display_limits(const struct soft_display *display, struct soft_vga_limits *limits)
{
	*limits = (struct soft_vga_limits) {
		.vbe_bytes = min_t(u64, display->info->fb_bytes, VGPU_HW_VBE_BYTES_MAX),
		.max_width = display->info->max_width,
		.max_height = display->info->max_height,
	};
}

/**
 * soft_display_reset() - reset all registers, and show no picture
 * @display: display of a vGPU that no engine works for
 *
 * Context: does not sleep.
 */
void soft_display_reset(struct soft_display *display)
{
	raw_spin_lock(&display->screen->lock);
	soft_vga_reset(&display->vga);
	display->screen->shown = false;
	raw_spin_unlock(&display->screen->lock);
}

/**
 * soft_display_rw() - access the registers of the VGA card
 * @display: display of a vGPU that is a VGA card
 * @offset: offset in BAR 2, below VGPU_HW_DEV_BASE, aligned to @count
 * @buf: kernel memory, little endian
 * @count: 1, 2, 4 or 8 bytes
 * @write: write the register, else read it
 *
 * At offsets without a register, a read returns all ones and a write does nothing.
 *
 * Context: sleeps.
 */
void soft_display_rw(struct soft_display *display, u32 offset, void *buf, size_t count, bool write)
{
	struct soft_vga_limits limits;
	__le64 raw = 0;

	if (offset < VGPU_HW_VGA_EDID + VGPU_HW_VGA_EDID_SIZE) {
		if (!write)
			vgpu_edid_read(display->vgpu, offset - VGPU_HW_VGA_EDID, buf, count);
		return;
	}
	soft_display_limits(display, &limits);
	if (write) {
		memcpy(&raw, buf, count);
		raw_spin_lock(&display->screen->lock);
		if (soft_vga_write(&display->vga, &limits, offset, le64_to_cpu(raw), count))
			display->screen->shown = false;
		raw_spin_unlock(&display->screen->lock);
		return;
	}
	raw_spin_lock(&display->screen->lock);
	raw = cpu_to_le64(soft_vga_read(&display->vga, &limits, offset, count));
	raw_spin_unlock(&display->screen->lock);
	memcpy(buf, &raw, count);
}

/* The op scanout of struct vgpu_gpu_ops. */
bool soft_display_scanout(struct soft_display *display, struct vgpu_scanout *scanout)
{
	struct soft_vga_limits limits;
	bool shown = true;

	soft_display_limits(display, &limits);
	raw_spin_lock(&display->screen->lock);
	if (display->screen->shown)
		*scanout = display->screen->surface;
	else	/* while no mode is set, there is no picture */
		shown = soft_vga_scanout(&display->vga, &limits, scanout);
	raw_spin_unlock(&display->screen->lock);
	return shown;
}
