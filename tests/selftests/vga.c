// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <string.h>

#include "display.h"
#include "tune.h"
#include "vga.h"

static void attribute_path(const struct fx_vgpu *v, char *path, size_t room)
{
	snprintf(path, room, "/sys/bus/mdev/devices/%s/vgpu/vga", v->uuid);
}

int vga_try_set(const struct fx_vgpu *v, const char *text)
{
	char path[128];

	attribute_path(v, path, sizeof(path));
	return file_write(path, text);
}

void vga_set(const struct fx_vgpu *v, const char *text)
{
	int ret = vga_try_set(v, text);

	CHECK(!ret, "vga %s: %s", text, strerror(-ret));
}

uint64_t vga_setting(const struct fx_vgpu *v)
{
	char path[128];
	uint64_t value;

	attribute_path(v, path, sizeof(path));
	CHECK(!file_number(path, NULL, &value), "%s", path);
	return value;
}

void vga_create(struct fx_vgpu *v, const char *type)
{
	fx_need("display");
	fx_create(v, type);
	vga_set(v, "1");
	tune_frl(v, 0);
	display_open(v);
}

void vga_put(const struct fx_vgpu *v, uint32_t at, uint64_t value, size_t bytes)
{
	value = htole64(value);
	CHECK_EQ(vgpu_region_write(v->dev, VGPU_HW_BAR_REGS, at, &value, bytes), bytes, "at %#x",
		 at);
}

uint64_t vga_get(const struct fx_vgpu *v, uint32_t at, size_t bytes)
{
	uint64_t value = 0;

	CHECK_EQ(vgpu_region_read(v->dev, VGPU_HW_BAR_REGS, at, &value, bytes), bytes, "at %#x",
		 at);
	return le64toh(value);
}

void vga_vbe(const struct fx_vgpu *v, unsigned int index, uint16_t value)
{
	vga_put(v, VGPU_HW_VGA_DISPI(index), value, 2);
}

void vga_mode(const struct fx_vgpu *v, uint32_t width, uint32_t height)
{
	vga_vbe(v, VGPU_HW_DISPI_ENABLE, 0);
	vga_vbe(v, VGPU_HW_DISPI_BPP, VGA_BPP);
	vga_vbe(v, VGPU_HW_DISPI_XRES, (uint16_t)width);
	vga_vbe(v, VGPU_HW_DISPI_YRES, (uint16_t)height);
	vga_vbe(v, VGPU_HW_DISPI_BANK, 0);
	vga_vbe(v, VGPU_HW_DISPI_VIRT_WIDTH, (uint16_t)width);
	vga_vbe(v, VGPU_HW_DISPI_VIRT_HEIGHT, (uint16_t)height);
	vga_vbe(v, VGPU_HW_DISPI_X_OFFSET, 0);
	vga_vbe(v, VGPU_HW_DISPI_Y_OFFSET, 0);
	vga_vbe(v, VGPU_HW_DISPI_ENABLE, VGA_SHOWN);
}

void vga_pan(const struct fx_vgpu *v, uint32_t virt_width, uint32_t x, uint32_t y)
{
	vga_vbe(v, VGPU_HW_DISPI_VIRT_WIDTH, (uint16_t)virt_width);
	vga_vbe(v, VGPU_HW_DISPI_X_OFFSET, (uint16_t)x);
	vga_vbe(v, VGPU_HW_DISPI_Y_OFFSET, (uint16_t)y);
}
