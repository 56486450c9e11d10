// SPDX-License-Identifier: GPL-2.0
/*
 * A guest without a driver, which writes all kinds of modes to the registers of the standard VGA
 * as fast as it can: sizes of nothing, beyond all memory, with odd pitches, cut off in the middle.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clk.h"
#include "display.h"
#include "picture.h"
#include "rng.h"

#define REGS_BYTES	4096
#define FB_BYTES	(32u << 20)
#define PORTS		0x400	/* of 0x3c0 and on, 8 bits each */
#define ATTRIBUTE	(PORTS + 0x00)
#define STATUS		(PORTS + 0x1a)
#define DISPI		0x500	/* 16 bits each */

enum { ID, XRES, YRES, BPP, ENABLE, BANK, VIRT_WIDTH, VIRT_HEIGHT, X_OFFSET, Y_OFFSET, REGS };

#define LAST_WIDTH	640
#define LAST_HEIGHT	480

static void set(uint8_t *regs, unsigned int reg, uint16_t value)
{
	*(volatile uint16_t *)(regs + DISPI + 2 * reg) = value;
}

static void set_mode(uint8_t *regs, uint16_t width, uint16_t height)
{
	set(regs, ENABLE, 0);
	set(regs, XRES, width);
	set(regs, YRES, height);
	set(regs, BPP, 32);
	set(regs, VIRT_WIDTH, width);
	set(regs, X_OFFSET, 0);
	set(regs, Y_OFFSET, 0);
	set(regs, ENABLE, 0x41);
	/* Lets the palette through, without which the screen is dark. */
	(void)*(volatile uint8_t *)(regs + STATUS);
	*(volatile uint8_t *)(regs + ATTRIBUTE) = 0x20;
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
		*(volatile uint8_t *)(regs + PORTS + (random >> 16) % 32) = (uint8_t)(random >> 32);
		return true;
	case 1:
		*(volatile uint32_t *)(fb + (random >> 16) % fb_bytes / 4 * 4) = (uint32_t)random;
		return false;
	case 2:
		set(regs, (random >> 16) % REGS, (uint16_t)(random >> 32));
		return true;
	case 3:
		set(regs, (random >> 16) % REGS, value);
		return true;
	case 4:
		set(regs, BPP, (uint16_t)((random >> 16) % 40));
		return true;
	case 5:
		set(regs, VIRT_WIDTH, value);
		return true;
	case 6:
		set(regs, Y_OFFSET, value);
		set(regs, X_OFFSET, (uint16_t)(random >> 32) % 64);
		return true;
	case 7:
		(void)*(volatile uint8_t *)(regs + STATUS);
		*(volatile uint8_t *)(regs + ATTRIBUTE) = random >> 32 & 1 ? 0x20 : 0;
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
