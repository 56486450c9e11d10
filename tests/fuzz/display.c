// SPDX-License-Identifier: GPL-2.0
/*
 * Misuse of the display, from both sides: the VM's, by registers of a VGA card, and the user's, by
 * queries of the plane and by the EDID. PRESENT packets are in work.c.
 */
#include <endian.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "fuzz.h"

#define DISPLAY_EDID	9
#define DISPLAY_PLANE	10
#define DISPLAY_PRIMARY	1

static void display_vbe(struct fuzz_life *life, unsigned int index, uint32_t value)
{
	uint16_t word = htole16((uint16_t)value);

	vgpu_region_write(life->dev, VGPU_HW_BAR_REGS, VGPU_HW_VGA_DISPI(index), &word, 2);
}

/* Mostly a mode that can be shown; else one with a number or two that nobody can mean. */
static void display_mode(struct fuzz_life *life, struct rng *rng)
{
	uint32_t width = 1 + (uint32_t)rng_below(rng, 1280);
	uint32_t height = 1 + (uint32_t)rng_below(rng, 1024);
	bool right = fuzz_chance(rng, 70);

	display_vbe(life, VGPU_HW_DISPI_ENABLE, 0);
	display_vbe(life, VGPU_HW_DISPI_BPP, right ? 32 : 8 * (uint32_t)rng_below(rng, 6));
	display_vbe(life, VGPU_HW_DISPI_XRES, right ? width : (uint32_t)fuzz_value(rng));
	display_vbe(life, VGPU_HW_DISPI_YRES,
		    fuzz_chance(rng, 90) ? height : (uint32_t)fuzz_value(rng));
	display_vbe(life, VGPU_HW_DISPI_ENABLE,
		    fuzz_chance(rng, 90) ? VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB :
		    (uint32_t)fuzz_value(rng));
	if (fuzz_chance(rng, 50))
		display_vbe(life, VGPU_HW_DISPI_VIRT_WIDTH, width + (uint32_t)rng_below(rng, 512));
	if (fuzz_chance(rng, 50))
		display_vbe(life, VGPU_HW_DISPI_X_OFFSET, (uint32_t)rng_below(rng, 512));
	if (fuzz_chance(rng, 50))
		display_vbe(life, VGPU_HW_DISPI_Y_OFFSET, (uint32_t)rng_below(rng, 4096));
}

/* Registers of the VGA card, which the vGPU may or may not be. */
void fuzz_op_vga(struct fuzz_life *life, struct rng *rng)
{
	size_t bytes = 1u << rng_below(rng, 4);
	uint32_t at = (uint32_t)rng_below(rng, 0x540);
	uint64_t value = fuzz_value(rng);

	if (fuzz_chance(rng, 60)) {
		display_mode(life, rng);
		return;
	}
	if (fuzz_chance(rng, 70))
		at = 0x400 + (uint32_t)rng_below(rng, 0x120);
	at &= ~(uint32_t)(bytes - 1);
	if (fuzz_chance(rng, 50))
		vgpu_region_write(life->dev, VGPU_HW_BAR_REGS, at, &value, bytes);
	else
		vgpu_region_read(life->dev, VGPU_HW_BAR_REGS, at, &value, bytes);
}

/* Looks at bytes of the plane, by the mapping or by a read. */
static void display_look(struct fuzz_life *life, struct rng *rng)
{
	const struct vgpu_region *region = &life->dev->region[DISPLAY_PLANE];
	volatile const uint8_t *plane;
	uint8_t buf[4096];
	unsigned int i;
	uint64_t at;

	if (fuzz_chance(rng, 30)) {
		at = rng_below(rng, region->bytes);
		(void)!pread(life->dev->fd, buf, rng_below(rng, sizeof(buf)),
			     (off_t)(region->offset + at));
		return;
	}
	plane = mmap(NULL, region->bytes, PROT_READ, MAP_SHARED, life->dev->fd,
		     (off_t)region->offset);
	if (plane == MAP_FAILED)
		return;
	for (i = 0; i < 32; i++)
		(void)plane[rng_below(rng, i < 16 ? region->bytes : 4u << 20)];
	munmap((void *)plane, region->bytes);
}

/* Asks what is shown, and looks at it. What the answer says must fit into the region. */
void fuzz_op_plane(struct fuzz_life *life, struct rng *rng)
{
	struct vfio_device_gfx_plane_info info = {
		.argsz = sizeof(info),
		.flags = VFIO_GFX_PLANE_TYPE_REGION,
		.drm_plane_type = DISPLAY_PRIMARY,
	};

	if (!life->dev->region[DISPLAY_PLANE].bytes) {
		fuzz_wrong("a vGPU of the software GPU has no plane");
		return;
	}
	if (fuzz_chance(rng, 10))
		fuzz_mutate(rng, &info, 16);
	if (!ioctl(life->dev->fd, VFIO_DEVICE_QUERY_GFX_PLANE, &info) &&
	    info.flags == VFIO_GFX_PLANE_TYPE_REGION && info.drm_format) {
		fuzz_count(FUZZ_PICTURES);
		if (info.region_index != DISPLAY_PLANE || info.stride != 4 * info.width ||
		    (uint64_t)info.stride * info.height >
		    life->dev->region[DISPLAY_PLANE].bytes)
			fuzz_wrong("a picture of %u x %u, stride %u, in region %u", info.width,
				   info.height, info.stride, info.region_index);
	}
	if (fuzz_chance(rng, 50))
		display_look(life, rng);
}

/* The monitor is changed, as QEMU does it and by writes that make no sense. */
void fuzz_op_edid(struct fuzz_life *life, struct rng *rng)
{
	uint32_t at = (uint32_t)rng_below(rng, 6) * 4, value = (uint32_t)fuzz_value(rng);
	struct vfio_region_gfx_edid regs;
	uint8_t blob[1024];

	if (vgpu_region_read(life->dev, DISPLAY_EDID, 0, &regs, sizeof(regs)) != sizeof(regs))
		return;
	switch (rng_below(rng, 4)) {
	case 0:
		value = VFIO_DEVICE_GFX_LINK_STATE_UP + (uint32_t)rng_below(rng, 2);
		at = offsetof(struct vfio_region_gfx_edid, link_state);
		break;
	case 1:
		value = (uint32_t)rng_below(rng, regs.edid_max_size + 1);
		at = offsetof(struct vfio_region_gfx_edid, edid_size);
		break;
	case 2:
		fuzz_bytes(rng, blob, sizeof(blob));
		vgpu_region_write(life->dev, DISPLAY_EDID,
				  regs.edid_offset + rng_below(rng, regs.edid_max_size), blob,
				  rng_below(rng, sizeof(blob)));
		return;
	}
	vgpu_region_write(life->dev, DISPLAY_EDID, at, &value, 1u << rng_below(rng, 3));
}

/* What VMs see next time the vGPU is opened: a VGA card, or the GPU's own device. */
void fuzz_set_vga(struct rng *rng, const char *uuid)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/vgpu/vga", uuid);
	file_write(path, fuzz_chance(rng, 60) ? "1" : "0");
}

/* The plane of a vGPU that was just opened must be dark, whoever had it before. */
void fuzz_check_dark(struct fuzz_life *life, struct rng *rng)
{
	const struct vgpu_region *region = &life->dev->region[DISPLAY_PLANE];
	uint64_t words[512], at;
	unsigned int i, k;

	for (i = 0; i < 16; i++) {
		at = rng_below(rng, (i & 1 ? region->bytes : 4u << 20) >> 12) << 12;
		if (pread(life->dev->fd, words, 4096, (off_t)(region->offset + at)) != 4096)
			continue;
		for (k = 0; k < 512; k++)
			if (words[k])
				fuzz_wrong("a vGPU just opened shows %#llx at %#llx of its plane",
					   (unsigned long long)words[k],
					   (unsigned long long)at + 8 * k);
	}
}
