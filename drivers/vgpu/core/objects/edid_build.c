// SPDX-License-Identifier: GPL-2.0
/*
 * The EDID of a display that can show any mode: a base block of VESA's EDID 1.4 with the preferred
 * mode, common modes and limits. A DisplayID 1.3 extension has the modes that are too large for the
 * base block's 12 bits per size. Timings are those of VESA's CVT with reduced blanking at 60 Hz.
 * They drive no hardware, but the guest selects modes by them.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "edid_build.h"

/* Offsets in the base block. */
#define ESTABLISHED	35
#define STANDARDS	38
#define STANDARDS_END	54
#define DESCRIPTOR_LEN	18
#define DESCRIPTOR(i)	(54 + DESCRIPTOR_LEN * (i))
#define EXTENSIONS	126
#define CHECKSUM	127

/* Offsets in the extension. Its DisplayID section has its own checksum. */
#define SECTION		1
#define SECTION_DATA	5
#define SECTION_CHECKSUM 126
#define TYPE1_LEN	20

/* Maximum pixels of a side: a size in cm has 8 bits, and products of sizes fit into 32 bits. */
#define SIDE_MAX	8192
/* Dots per inch, from which the display's size in millimetres is computed. */
#define DPI		96

/* The constants of CVT with reduced blanking. */
#define HBLANK		160
#define HFRONT		48
#define HSYNC		32
#define VFRONT		3
#define VBACK_MIN	6

/**
 * struct edid_timing - a mode at 60 Hz
 * @width:  pixels per row
 * @height: rows
 * @vsync:  rows of the vertical sync pulse
 * @vblank: rows of the vertical blanking, including @vsync
 * @clock:  pixel clock in units of 10 kHz
 */
struct edid_timing {
	u32 width;
	u32 height;
	u32 vsync;
	u32 vblank;
	u32 clock;
};

struct edid_size {
	u32 width;
	u32 height;
};

/* Large modes in common use. */
static const struct edid_size edid_large[] = {
	{ 5120, 2880 }, { 3840, 2160 }, { 2560, 1440 }, { 2560, 1600 }, { 1920, 1080 },
	{ 1280, 720 }, { 640, 480 },
};

/**
 * struct edid_modes - the modes that get detailed timings
 * @size:  the modes; the first is the preferred one, the second the largest if it is another
 * @nr:    number of modes
 * @based: bits of the modes that the base block contains
 */
struct edid_modes {
	struct edid_size size[2 + ARRAY_SIZE(edid_large)];
	unsigned int nr;
	unsigned long based;
};

/* VESA's standard modes with EDID's code of the aspect ratio. The first eight that fit are used. */
static const struct {
	struct edid_size size;
	u8 aspect;
} edid_standards[] = {
	{ { 1920, 1200 }, 0 }, { { 1920, 1080 }, 3 }, { { 1680, 1050 }, 0 },
	{ { 1600, 1200 }, 1 }, { { 1600, 900 }, 3 }, { { 1440, 900 }, 0 },
	{ { 1280, 1024 }, 2 }, { { 1280, 720 }, 3 }, { { 1280, 960 }, 1 },
	{ { 1280, 800 }, 0 },
};

/* Established modes, which have one bit each. */
static const struct {
	struct edid_size size;
	u8 byte;
	u8 bit;
} edid_established[] = {
	{ { 640, 480 }, 0, 5 }, { { 800, 600 }, 0, 0 }, { { 1024, 768 }, 1, 3 },
};

static bool edid_fits(const struct edid_size *size, const struct edid_size *max)
{
	return size->width <= max->width && size->height <= max->height;
}

/* CVT encodes the aspect ratio in the length of the vertical sync pulse. */
static u32 edid_vsync(const struct edid_size *size)
{
	static const struct {
		u8 x, y, vsync;
	} aspects[] = { { 4, 3, 4 }, { 16, 9, 5 }, { 16, 10, 6 }, { 5, 4, 7 }, { 15, 9, 7 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(aspects); i++)
		if (size->width * aspects[i].y == size->height * aspects[i].x)
			return aspects[i].vsync;
	return 10;
}

/* The vertical blanking takes at least 460 us; the pixel clock is a multiple of 250 kHz. */
static void edid_timing(struct edid_timing *t, const struct edid_size *size)
{
	u32 vblank = size->height * 3 * 460 / (50000 - 3 * 460) + 1;

	t->width = size->width;
	t->height = size->height;
	t->vsync = edid_vsync(size);
	t->vblank = max(vblank, VFRONT + t->vsync + VBACK_MIN);
	t->clock = (t->width + HBLANK) * (t->height + t->vblank) * 3 / 12500 * 25;
}

/* Whether a mode fits into the base block, where a size has 12 bits and a clock 16 bits. */
static bool edid_is_small(const struct edid_size *size)
{
	struct edid_timing t;

	edid_timing(&t, size);
	return t.width < 4096 && t.height < 4096 && t.clock <= U16_MAX;
}

static void edid_put16(u8 *at, u32 value)
{
	at[0] = value;
	at[1] = value >> 8;
}

/* Stores the checksum of @len bytes into the byte after them, so that the sum of all is 0. */
static void edid_checksum(u8 *bytes, unsigned int len)
{
	u8 sum = 0;

	while (len--)
		sum += *bytes++;
	*bytes = -sum;
}

static u32 edid_mm(u32 pixels)
{
	return pixels * 254 / (DPI * 10);
}

/* Writes a detailed timing of mode @size, with the size of @screen in millimetres. */
static void edid_put_detailed(u8 *d, const struct edid_size *size, const struct edid_size *screen)
{
	u32 x_mm = edid_mm(screen->width), y_mm = edid_mm(screen->height);
	struct edid_timing t;

	edid_timing(&t, size);
	edid_put16(d, t.clock);
	d[2] = t.width;
	d[3] = HBLANK;
	d[4] = t.width >> 8 << 4 | HBLANK >> 8;
	d[5] = t.height;
	d[6] = t.vblank;
	d[7] = t.height >> 8 << 4 | t.vblank >> 8;
	d[8] = HFRONT;
	d[9] = HSYNC;
	d[10] = VFRONT << 4 | t.vsync;
	d[12] = x_mm;
	d[13] = y_mm;
	d[14] = x_mm >> 8 << 4 | y_mm >> 8;
	d[17] = 0x1a;	/* separate syncs, the horizontal one positive */
}

/* Begins a descriptor that is not a timing: those have 0 in the place of the clock. */
static u8 *edid_put_tag(u8 *d, u8 tag)
{
	d[3] = tag;
	return d + 5;
}

/*
 * Writes the limits. Returns false for a clock above 2550 MHz, EDID's maximum, or below 10 MHz,
 * which readers of EDIDs take for an error. (EDID can express the 505 kHz of SIDE_MAX rows.)
 */
static bool edid_put_limits(u8 *d, const struct edid_modes *modes)
{
	/* VESA's timings of the standard modes are within these limits. */
	u32 min_khz = 30, max_khz = 80, mhz = 200;
	struct edid_timing t;
	unsigned int i;
	u32 khz;

	for (i = 0; i < modes->nr; i++) {
		edid_timing(&t, &modes->size[i]);
		if (t.clock < 1000)
			return false;
		khz = t.clock * 10 / (t.width + HBLANK);
		min_khz = min(min_khz, max(khz, 1U));
		max_khz = max(max_khz, khz + 1);
		mhz = max(mhz, t.clock / 100 + 1);
	}
	if (mhz > 2550)
		return false;
	edid_put_tag(d, 0xfd);
	d[4] = max_khz > 255 ? 0x08 : 0;
	d[5] = 50;
	d[6] = 75;
	d[7] = min_khz;
	d[8] = max_khz > 255 ? max_khz - 255 : max_khz;
	d[9] = (mhz + 9) / 10;
	d[10] = 0x01;	/* limits only: no timing formula for modes that are not listed */
	d[11] = '\n';
	memset(d + 12, ' ', 6);
	return true;
}

/* Writes the display's name, which ends with a newline if there is room for it. */
static void edid_put_name(u8 *d, const char *name)
{
	u8 *text = edid_put_tag(d, 0xfc);
	unsigned int i;

	memset(text, ' ', 13);
	for (i = 0; i < 13 && name[i]; i++)
		text[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
	if (i < 13)
		text[i] = '\n';
}

static void edid_put_common(u8 *edid, const struct edid_size *max)
{
	u8 *at = edid + STANDARDS;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(edid_established); i++)
		if (edid_fits(&edid_established[i].size, max))
			edid[ESTABLISHED + edid_established[i].byte] |=
				1 << edid_established[i].bit;
	memset(at, 0x01, STANDARDS_END - STANDARDS);
	for (i = 0; i < ARRAY_SIZE(edid_standards) && at < edid + STANDARDS_END; i++) {
		if (!edid_fits(&edid_standards[i].size, max))
			continue;
		*at++ = edid_standards[i].size.width / 8 - 31;
		*at++ = edid_standards[i].aspect << 6;	/* rate 0: 60 Hz */
	}
}

/* Writes a type I timing of DisplayID: numbers minus 1, and one aspect-ratio code for all modes. */
static u8 *edid_put_type1(u8 *at, const struct edid_size *size, bool preferred)
{
	struct edid_timing t;

	edid_timing(&t, size);
	edid_put16(at, t.clock - 1);
	at[2] = (t.clock - 1) >> 16;
	at[3] = (preferred ? 0x80 : 0) | 8;
	edid_put16(at + 4, t.width - 1);
	edid_put16(at + 6, HBLANK - 1);
	edid_put16(at + 8, (HFRONT - 1) | 0x8000);
	edid_put16(at + 10, HSYNC - 1);
	edid_put16(at + 12, t.height - 1);
	edid_put16(at + 14, t.vblank - 1);
	edid_put16(at + 16, VFRONT - 1);
	edid_put16(at + 18, t.vsync - 1);
	return at + TYPE1_LEN;
}

static void edid_add(struct edid_modes *modes, const struct edid_size *size)
{
	unsigned int i;

	for (i = 0; i < modes->nr; i++)
		if (modes->size[i].width == size->width && modes->size[i].height == size->height)
			return;
	modes->size[modes->nr++] = *size;
}

/* Fills the descriptors of the base block. Returns false if EDID cannot express the limits. */
static bool edid_put_descriptors(u8 *edid, struct edid_modes *modes, const char *name)
{
	u8 *d = edid + DESCRIPTOR(0);
	unsigned int i;

	/* At least one timing comes first: the preferred mode, if it fits into the base block. */
	for (i = 0; i < modes->nr && d < edid + DESCRIPTOR(2); i++) {
		if (!edid_is_small(&modes->size[i]))
			continue;
		edid_put_detailed(d, &modes->size[i], &modes->size[0]);
		modes->based |= BIT(i);
		d += DESCRIPTOR_LEN;
	}
	if (!modes->based || !edid_put_limits(d, modes))
		return false;
	edid_put_name(d + DESCRIPTOR_LEN, name);
	if (d == edid + DESCRIPTOR(1))
		edid_put_tag(edid + DESCRIPTOR(3), 0x10);
	return true;
}

/* Writes the blocks that DisplayID requires besides timings. */
static u8 *edid_put_display(u8 *at, const struct edid_size *screen)
{
	u32 wide = max(screen->width, screen->height), narrow = min(screen->width, screen->height);

	at[2] = 12;	/* product identification, as in the base block */
	memcpy(at + 3, "VGP", 3);
	at[6] = 1;
	at[13] = 26;	/* year, counted from 2000 */
	at += 15;

	at[0] = 0x01;	/* display parameters */
	at[2] = 12;
	edid_put16(at + 3, edid_mm(screen->width) * 10);
	edid_put16(at + 5, edid_mm(screen->height) * 10);
	edid_put16(at + 7, screen->width);
	edid_put16(at + 9, screen->height);
	at[12] = 120;	/* gamma 2.2 */
	at[13] = min(wide * 100 / narrow, 355U) - 100;
	at[14] = 0x77;	/* 8 bits per colour */
	at += 15;

	at[0] = 0x0f;	/* interface: proprietary digital link, RGB of 8 bits */
	at[2] = 10;
	at[3] = 0xb1;
	at[5] = 0x02;
	return at + 13;
}

/* Fills the extension: the preferred mode, which it must have, and modes not in the base block. */
static void edid_put_extension(u8 *ext, const struct edid_modes *modes)
{
	u8 *head, *at;
	unsigned int i;

	ext[0] = 0x70;
	ext[SECTION] = 0x13;
	ext[SECTION + 1] = SECTION_CHECKSUM - SECTION_DATA;
	ext[SECTION + 2] = 3;	/* a monitor */
	head = edid_put_display(ext + SECTION_DATA, &modes->size[0]);
	head[0] = 0x03;
	at = edid_put_type1(head + 3, &modes->size[0], true);
	for (i = 1; i < modes->nr && at + TYPE1_LEN <= ext + SECTION_CHECKSUM; i++)
		if (!(modes->based & BIT(i)))
			at = edid_put_type1(at, &modes->size[i], false);
	head[2] = at - head - 3;
	edid_checksum(ext + SECTION, SECTION_CHECKSUM - SECTION);
	edid_checksum(ext, CHECKSUM);
}

/**
 * vgpu_edid_build() - write the EDID of a display
 * @edid: set to the EDID; may be overwritten even if this fails
 * @room: bytes of @edid; VGPU_EDID_BUILD_MAX is enough
 * @width: width of the preferred mode, in pixels
 * @height: height of the preferred mode, in pixels
 * @max_width: width of the display's largest mode, at least @width
 * @max_height: height of that mode, at least @height
 * @name: name of the display; its first 13 characters are used
 *
 * Return: bytes of the EDID: VGPU_EDID_BLOCK, or twice that if a mode needs an extension; 0 if
 * @room is too small, or EDID cannot express such modes.
 */
size_t vgpu_edid_build(u8 *edid, size_t room, u32 width, u32 height, u32 max_width,
		       u32 max_height, const char *name)
{
	static const u8 head[] = {
		0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00,
		0x58, 0xf0,	/* "VGP", which is not registered */
		0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		36,		/* made in 2026 */
		0x01, 0x04,	/* EDID 1.4 */
		0xa0,		/* digital, 8 bits per colour */
		0x00, 0x00,	/* the size in cm */
		120,		/* gamma 2.2 */
		0x06,		/* sRGB, and the first mode is the native one */
		0xee, 0x91, 0xa3, 0x54, 0x4c, 0x99, 0x26, 0x0f, 0x50, 0x54, /* sRGB */
	};
	const struct edid_size preferred = { width, height }, max = { max_width, max_height };
	struct edid_modes modes = {};
	unsigned int i, x_cm, y_cm;
	bool extended;
	size_t bytes;

	if (!width || !height || !edid_fits(&preferred, &max) ||
	    max_width > SIDE_MAX || max_height > SIDE_MAX)
		return 0;
	extended = !edid_is_small(&preferred) || !edid_is_small(&max);
	bytes = extended ? VGPU_EDID_BUILD_MAX : VGPU_EDID_BLOCK;
	if (room < bytes)
		return 0;
	edid_add(&modes, &preferred);
	edid_add(&modes, &max);
	for (i = 0; i < ARRAY_SIZE(edid_large); i++)
		if (edid_fits(&edid_large[i], &max))
			edid_add(&modes, &edid_large[i]);

	memset(edid, 0, bytes);
	memcpy(edid, head, sizeof(head));
	x_cm = (edid_mm(width) + 5) / 10;
	y_cm = (edid_mm(height) + 5) / 10;
	/* A size needs both. */
	if (x_cm && y_cm) {
		edid[21] = x_cm;
		edid[22] = y_cm;
	}
	edid_put_common(edid, &max);
	if (!edid_put_descriptors(edid, &modes, name))
		return 0;
	edid[EXTENSIONS] = extended;
	edid_checksum(edid, CHECKSUM);
	if (extended)
		edid_put_extension(edid + VGPU_EDID_BLOCK, &modes);
	return bytes;
}
