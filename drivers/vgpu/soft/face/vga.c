// SPDX-License-Identifier: GPL-2.0
/*
 * The display registers of a vGPU that is a VGA card, laid out as QEMU's standard VGA has them. No
 * write is refused; registers keep what a driver writes, and an invalid mode shows no picture. Of
 * VGA proper there is only the attribute controller's bit that blanks the screen. The guest chooses
 * all input.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "vga.h"

#define PORTS_FIRST	VGPU_HW_VGA_PORT(0x3c0)
#define PORTS_END	VGPU_HW_VGA_PORT(0x3e0)
#define DISPI_FIRST	VGPU_HW_VGA_DISPI(0)
#define DISPI_END	VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_NR)

/* Bits of input status 1 that change with the beam's position; each read toggles them. */
#define STATUS1_BEAM	0x09

/**
 * soft_vga_reset() - reset all registers
 * @vga: need not be initialised
 *
 * No mode is set. The screen is lit, since there is no VGA BIOS to switch it on.
 */
void soft_vga_reset(struct soft_vga *vga)
{
	memset(vga, 0, sizeof(*vga));
	vga->dispi[VGPU_HW_DISPI_ID] = VGPU_HW_DISPI_ID_LAST;
	vga->attribute = VGPU_HW_VGA_LIT;
}

static bool soft_vga_enabled(const struct soft_vga *vga)
{
	return vga->dispi[VGPU_HW_DISPI_ENABLE] & VGPU_HW_DISPI_ENABLED;
}

static u8 soft_vga_port_read(struct soft_vga *vga, u32 port)
{
	switch (port) {
	case VGPU_HW_VGA_ATTRIBUTE:
		return vga->data_next ? 0 : vga->attribute;
	case VGPU_HW_VGA_STATUS1:
		vga->data_next = false;
		vga->status ^= STATUS1_BEAM;
		return vga->status;
	}
	return 0;
}

static void soft_vga_port_write(struct soft_vga *vga, u32 port, u8 value)
{
	if (port != VGPU_HW_VGA_ATTRIBUTE)
		return;
	if (!vga->data_next)
		vga->attribute = value & 0x3f;
	vga->data_next = !vga->data_next;
}

/* Returns a register as it was written; 0 for one that is read-only. */
static u16 soft_vga_dispi(const struct soft_vga *vga, unsigned int index)
{
	if (index >= ARRAY_SIZE(vga->dispi))
		return 0;
	return vga->dispi[array_index_nospec(index, ARRAY_SIZE(vga->dispi))];
}

static u16 soft_vga_dispi_read(const struct soft_vga *vga, const struct soft_vga_limits *limits,
			       unsigned int index)
{
	if (index == VGPU_HW_DISPI_MEMORY_64K)
		return limits->vbe_bytes >> 16;
	if (vga->dispi[VGPU_HW_DISPI_ENABLE] & VGPU_HW_DISPI_GETCAPS) {
		switch (index) {
		case VGPU_HW_DISPI_XRES:
			return limits->max_width;
		case VGPU_HW_DISPI_YRES:
			return limits->max_height;
		case VGPU_HW_DISPI_BPP:
			return 32;
		}
	}
	return soft_vga_dispi(vga, index);
}

/**
 * soft_vga_fit() - set the registers that follow from others where a mode is set
 * @vga: the registers
 * @limits: limits of the vGPU
 *
 * Makes the virtual screen at least as wide as the picture, and as high as VBE memory allows. Rows
 * have 32 bits per pixel, the only depth that is shown.
 */
void soft_vga_fit(struct soft_vga *vga, const struct soft_vga_limits *limits)
{
	u16 *reg = vga->dispi;
	u32 pitch;

	reg[VGPU_HW_DISPI_VIRT_WIDTH] = max(reg[VGPU_HW_DISPI_VIRT_WIDTH],
					    reg[VGPU_HW_DISPI_XRES]);
	pitch = reg[VGPU_HW_DISPI_VIRT_WIDTH] * 4;
	reg[VGPU_HW_DISPI_VIRT_HEIGHT] =
		pitch ? min_t(u32, (u32)limits->vbe_bytes / pitch, U16_MAX) : 0;
}

/* Writes a register. Returns whether the write sets a mode or moves the picture. */
static bool soft_vga_dispi_write(struct soft_vga *vga, const struct soft_vga_limits *limits,
				 unsigned int index, u16 value)
{
	u16 *reg = vga->dispi;

	switch (index) {
	case VGPU_HW_DISPI_ID:
		if (value >= VGPU_HW_DISPI_ID_FIRST && value <= VGPU_HW_DISPI_ID_LAST)
			reg[VGPU_HW_DISPI_ID] = value;
		return false;
	case VGPU_HW_DISPI_BANK:
		reg[VGPU_HW_DISPI_BANK] = value;
		return false;
	case VGPU_HW_DISPI_ENABLE:
		/* A new mode starts at offset 0, with a virtual screen as wide as the picture. */
		if ((value & VGPU_HW_DISPI_ENABLED) && !soft_vga_enabled(vga)) {
			reg[VGPU_HW_DISPI_VIRT_WIDTH] = 0;
			reg[VGPU_HW_DISPI_X_OFFSET] = 0;
			reg[VGPU_HW_DISPI_Y_OFFSET] = 0;
		}
		reg[VGPU_HW_DISPI_ENABLE] = value;
		break;
	case VGPU_HW_DISPI_XRES:
	case VGPU_HW_DISPI_YRES:
	case VGPU_HW_DISPI_BPP:
	case VGPU_HW_DISPI_VIRT_WIDTH:
	case VGPU_HW_DISPI_X_OFFSET:
	case VGPU_HW_DISPI_Y_OFFSET:
		reg[array_index_nospec(index, ARRAY_SIZE(vga->dispi))] = value;
		break;
	default:
		return false;
	}
	if (!soft_vga_enabled(vga))
		return false;
	soft_vga_fit(vga, limits);
	return true;
}

/**
 * soft_vga_read() - read the display page after the EDID
 * @vga: the registers; some reads change them
 * @limits: limits of the vGPU
 * @offset: offset in the page, a multiple of @count, at least VGPU_HW_VGA_EDID_SIZE
 * @count: 1, 2, 4 or 8 bytes
 *
 * Return: the value. Offsets without a register read all ones, as on a bus without a response; VGA
 * ports without a register read 0.
 */
u64 soft_vga_read(struct soft_vga *vga, const struct soft_vga_limits *limits, u32 offset,
		  unsigned int count)
{
	u64 value = 0;
	unsigned int i;
	u8 byte;

	for (i = 0; i < count; i++, offset++) {
		if (offset >= PORTS_FIRST && offset < PORTS_END)
			byte = soft_vga_port_read(vga, offset - PORTS_FIRST + 0x3c0);
		else if (offset >= DISPI_FIRST && offset < DISPI_END)
			byte = soft_vga_dispi_read(vga, limits, (offset - DISPI_FIRST) / 2) >>
			       offset % 2 * 8;
		else
			byte = 0xff;
		value |= (u64)byte << i * 8;
	}
	return value;
}

/**
 * soft_vga_write() - write the display page after the EDID
 * @vga: the registers
 * @limits: limits of the vGPU
 * @offset: offset in the page, a multiple of @count, at least VGPU_HW_VGA_EDID_SIZE
 * @value: its low @count bytes are written
 * @count: 1, 2, 4 or 8 bytes
 *
 * A write of several bytes writes each VGA port, or each register of VBE DISPI, in the order of
 * their offsets. A write of one byte to a register of 16 bits does not change the other byte.
 * Writes to offsets without a register are dropped.
 *
 * Return: true if the guest has set a mode or moved the picture, so that the picture of
 * soft_vga_scanout() is now the newest one.
 */
bool soft_vga_write(struct soft_vga *vga, const struct soft_vga_limits *limits, u32 offset,
		    u64 value, unsigned int count)
{
	unsigned int step, i, index, shift;
	bool newest = false;
	u16 word;

	for (i = 0; i < count; i += step, offset += step, value >>= step * 8) {
		step = 1;
		if (offset >= PORTS_FIRST && offset < PORTS_END)
			soft_vga_port_write(vga, offset - PORTS_FIRST + 0x3c0, value);
		if (offset < DISPI_FIRST || offset >= DISPI_END)
			continue;
		index = (offset - DISPI_FIRST) / 2;
		word = value;
		if (count == 1) {
			shift = offset % 2 * 8;
			word = soft_vga_dispi(vga, index) & ~(0xff << shift);
			word |= (value & 0xff) << shift;
		} else {
			step = 2;
		}
		newest |= soft_vga_dispi_write(vga, limits, index, word);
	}
	return newest;
}

/**
 * soft_vga_scanout() - tell which part of the framebuffer VBE shows
 * @vga: the registers
 * @limits: limits of the vGPU
 * @out: set if this returns true
 *
 * Return: true if there is a picture: a mode of 32 bits per pixel with a linear framebuffer, all of
 * it in VBE memory, with at most as many pixels as the type's largest resolution.
 */
bool soft_vga_scanout(const struct soft_vga *vga, const struct soft_vga_limits *limits,
		      struct vgpu_scanout *out)
{
	const u16 shown = VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB;
	const u16 *reg = vga->dispi;
	u32 width = reg[VGPU_HW_DISPI_XRES];
	u32 height = reg[VGPU_HW_DISPI_YRES];
	u32 pitch = reg[VGPU_HW_DISPI_VIRT_WIDTH] * 4;
	u64 offset;

	if ((reg[VGPU_HW_DISPI_ENABLE] & shown) != shown || reg[VGPU_HW_DISPI_BPP] != 32)
		return false;
	if (!width || !height ||
	    (u64)width * height > (u64)limits->max_width * limits->max_height)
		return false;
	/* Registers have 16 bits, so nothing overflows; soft_vga_fit() keeps pitch >= width * 4. */
	offset = (u64)reg[VGPU_HW_DISPI_Y_OFFSET] * pitch + reg[VGPU_HW_DISPI_X_OFFSET] * 4;
	if (offset + (u64)(height - 1) * pitch + width * 4 > limits->vbe_bytes)
		return false;
	*out = (struct vgpu_scanout) {
		.offset = offset,
		.width = width,
		.height = height,
		.pitch = pitch,
		.blank = !(vga->attribute & VGPU_HW_VGA_LIT),
	};
	return true;
}
