// SPDX-License-Identifier: GPL-2.0
/*
 * A guest without a driver, which writes all kinds of modes to the registers of the standard VGA
 * as fast as it can: sizes of nothing, beyond all memory, with odd pitches, cut off in the middle.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <linux/vgpu_hw.h>

#include "clk.h"
#include "display.h"
#include "picture.h"
#include "rng.h"

#define REGS_BYTES	4096
#define FB_BYTES	(32u << 20)
#define BPP		32

#define LAST_WIDTH	640
#define LAST_HEIGHT	480

static void set(uint8_t *regs, uint64_t reg, uint16_t value)
{
	*(volatile uint16_t *)(regs + VGPU_HW_VGA_DISPI(reg)) = value;
}

/* Lights the screen, or makes it dark. */
static void light(uint8_t *regs, bool lit)
{
	(void)*(volatile uint8_t *)(regs + VGPU_HW_VGA_PORT(VGPU_HW_VGA_STATUS1));
	*(volatile uint8_t *)(regs + VGPU_HW_VGA_PORT(VGPU_HW_VGA_ATTRIBUTE)) =
		lit ? VGPU_HW_VGA_LIT : 0;
}

static void set_mode(uint8_t *regs, uint16_t width, uint16_t height)
{
	set(regs, VGPU_HW_DISPI_ENABLE, 0);
	set(regs, VGPU_HW_DISPI_XRES, width);
	set(regs, VGPU_HW_DISPI_YRES, height);
	set(regs, VGPU_HW_DISPI_BPP, BPP);
	set(regs, VGPU_HW_DISPI_VIRT_WIDTH, width);
	set(regs, VGPU_HW_DISPI_X_OFFSET, 0);
	set(regs, VGPU_HW_DISPI_Y_OFFSET, 0);
	set(regs, VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB);
	light(regs, true);
}

/* One change; returns whether it may have changed the mode. */
static bool step(uint8_t *regs, uint8_t *fb, size_t fb_bytes, struct rng *rng)
{
	static const uint16_t odd[] = {
		0, 1, 7, 8, 15, 320, 640, 641, 800, 1024, 1280, 1920, 4096, 5120, 16384, 0x8000,
		0xffff,
	};
	uint64_t random = rng_next(rng);
	uint16_t value = odd[(random >> 8) % (sizeof(odd) / sizeof(odd[0]))];

	switch (random % 16) {
	case 0:
		*(volatile uint8_t *)(regs + VGPU_HW_VGA_PORT(0x3c0 + (random >> 16) % 32)) =
			(uint8_t)(random >> 32);
		return true;
	case 1:
		*(volatile uint32_t *)(fb + (random >> 16) % fb_bytes / 4 * 4) = (uint32_t)random;
		return false;
	case 2:
		set(regs, (random >> 16) % VGPU_HW_DISPI_NR, (uint16_t)(random >> 32));
		return true;
	case 3:
		set(regs, (random >> 16) % VGPU_HW_DISPI_NR, value);
		return true;
	case 4:
		set(regs, VGPU_HW_DISPI_BPP, (uint16_t)((random >> 16) % 40));
		return true;
	case 5:
		set(regs, VGPU_HW_DISPI_VIRT_WIDTH, value);
		return true;
	case 6:
		set(regs, VGPU_HW_DISPI_Y_OFFSET, value);
		set(regs, VGPU_HW_DISPI_X_OFFSET, (uint16_t)(random >> 32) % 64);
		return true;
	case 7:
		light(regs, random >> 32 & 1);
		return true;
	default:
		/* Mostly modes that are good, so that there is something to read. */
		set_mode(regs, (uint16_t)(8 + 8 * ((random >> 16) % 256)),
			 (uint16_t)(1 + (random >> 32) % 1600));
		return true;
	}
}

/* Takes the function away from its driver, as the kernel lets nobody else map what it uses. */
static bool unbind(const char *pci)
{
	char path[256];

	node_path(path, sizeof(path), pci, "driver/unbind");
	return access(path, F_OK) || node_write(path, pci);
}

bool storm_run(const char *pci, uint32_t seconds, uint32_t seed)
{
	uint64_t start, nr = 0, ms;
	struct rng rng = rng_seed(seed);
	size_t regs_bytes, fb_bytes;
	uint8_t *regs, *fb = NULL;
	bool ok = false;
	char path[256];

	/* Without a driver the function is disabled, and has no memory. */
	node_path(path, sizeof(path), pci, "enable");
	if (!unbind(pci) || !node_write(path, "1"))
		return false;
	regs = node_map(pci, 2, REGS_BYTES, &regs_bytes);
	if (regs)
		fb = node_map(pci, 0, FB_BYTES, &fb_bytes);
	if (!fb)
		goto out;
	say("storm: begins");
	start = clk_ns();
	while (clk_ns() - start < seconds * 1000000000ull)
		nr += step(regs, fb, fb_bytes, &rng);
	ms = (clk_ns() - start) / 1000000;
	set_mode(regs, LAST_WIDTH, LAST_HEIGHT);
	picture_draw(fb, LAST_WIDTH, LAST_HEIGHT, 4 * LAST_WIDTH, seed);
	say("storm: %llu modes in %llu ms, %llu a second", (unsigned long long)nr,
	    (unsigned long long)ms, (unsigned long long)(nr * 1000 / (ms ? ms : 1)));
	say("drawn %u %u %u", LAST_WIDTH, LAST_HEIGHT, seed);
	ok = true;
out:
	if (fb)
		munmap(fb, fb_bytes);
	if (regs)
		munmap(regs, regs_bytes);
	return ok && node_write(path, "0");
}
