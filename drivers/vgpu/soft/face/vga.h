/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The display registers of a vGPU that is a VGA card: VGA ports and VBE DISPI, in the first page of
 * BAR 2 as QEMU's standard VGA has them. Pure logic, compiled in user space too; callers serialise
 * their calls.
 */
#ifndef _VGPU_SOFT_VGA_H
#define _VGPU_SOFT_VGA_H

#include <linux/types.h>
#include <linux/vgpu_scanout.h>
#include <uapi/linux/vgpu_hw.h>

/**
 * struct soft_vga - the registers of the display page
 * @dispi:     the writable registers of VBE DISPI, by index
 * @attribute: index register of the attribute controller, with the bit that lights the screen
 * @data_next: the next byte that is written to the attribute controller is data, not an index
 * @status:    value of the latest read of input status 1
 */
struct soft_vga {
	u16 dispi[VGPU_HW_DISPI_MEMORY_64K];
	u8 attribute;
	bool data_next;
	u8 status;
};

/**
 * struct soft_vga_limits - limits of a vGPU's display
 * @vbe_bytes:  length of VBE memory at the framebuffer's start, a multiple of 64 KiB and at most
 *              VGPU_HW_VBE_BYTES_MAX
 * @max_width:  pixels per row of the type's largest resolution
 * @max_height: rows of that resolution
 */
struct soft_vga_limits {
	u64 vbe_bytes;
	u32 max_width;
	u32 max_height;
};

void soft_vga_reset(struct soft_vga *vga);
void soft_vga_fit(struct soft_vga *vga, const struct soft_vga_limits *limits);
u64 soft_vga_read(struct soft_vga *vga, const struct soft_vga_limits *limits, u32 offset,
		  unsigned int count);
bool soft_vga_write(struct soft_vga *vga, const struct soft_vga_limits *limits, u32 offset,
		    u64 value, unsigned int count);
bool soft_vga_scanout(const struct soft_vga *vga, const struct soft_vga_limits *limits,
		      struct vgpu_scanout *out);

#endif /* _VGPU_SOFT_VGA_H */
