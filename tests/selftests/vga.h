/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A vGPU that is a VGA card: its setting, and its registers as a VM's driver writes them. Calls
 * that return nothing fail the test if they cannot do what they are for.
 */
#ifndef VGA_H
#define VGA_H

#include <stddef.h>
#include <stdint.h>

#include "fixture.h"

#define VGA_BPP		32	/* the only depth that is shown */
#define VGA_SHOWN	(VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB | VGPU_HW_DISPI_NOCLEARMEM)

/* Writes the attribute of sysfs; 0 or a negative errno. */
int vga_try_set(const struct fx_vgpu *v, const char *text);
void vga_set(const struct fx_vgpu *v, const char *text);
uint64_t vga_setting(const struct fx_vgpu *v);

/* As display_create(), of a VGA card. */
void vga_create(struct fx_vgpu *v, const char *type);

/* Registers in the first page of BAR 2. */
void vga_put(const struct fx_vgpu *v, uint32_t at, uint64_t value, size_t bytes);
uint64_t vga_get(const struct fx_vgpu *v, uint32_t at, size_t bytes);
void vga_vbe(const struct fx_vgpu *v, unsigned int index, uint16_t value);

/* As Linux's bochs driver sets a mode, and moves the picture in a virtual screen. */
void vga_mode(const struct fx_vgpu *v, uint32_t width, uint32_t height);
void vga_pan(const struct fx_vgpu *v, uint32_t virt_width, uint32_t x, uint32_t y);

#endif /* VGA_H */
