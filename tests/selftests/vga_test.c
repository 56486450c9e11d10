// SPDX-License-Identifier: GPL-2.0
/*
 * A vGPU that is a VGA card to its VM: what drivers of QEMU's standard VGA find and write in the
 * first page of BAR 2, right and wrong, and what the display then shows.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <linux/pci_regs.h>

#include "display.h"
#include "tune.h"
#include "vga.h"

#define SHOWN		VGA_SHOWN
#define PAGE		4096u

static struct fx_vgpu v, other;
static const uint8_t *plane, *other_plane;
static struct display_limits limits;

static void begin(const char *type)
{
	vga_create(&v, type);
	display_limits(type, &limits);
	plane = display_map(&v);
}

static void put(uint32_t at, uint64_t value, size_t bytes)
{
	vga_put(&v, at, value, bytes);
}

static uint64_t get(uint32_t at, size_t bytes)
{
	return vga_get(&v, at, bytes);
}

static void vbe(unsigned int index, uint16_t value)
{
	vga_vbe(&v, index, value);
}

static uint16_t vbe_get(unsigned int index)
{
	return (uint16_t)get(VGPU_HW_VGA_DISPI(index), 2);
}

static struct picture mode_picture(uint32_t width, uint32_t height, uint32_t virt_width,
				   uint32_t x, uint32_t y)
{
	return picture_at(4ull * y * virt_width + 4ull * x, width, height, 4 * virt_width);
}

/* Sets the mode, draws into it, and checks what is shown. */
static void show_mode(uint32_t width, uint32_t height)
{
	struct picture p = mode_picture(width, height, width, 0, 0);

	picture_paint(&v, &p);
	vga_mode(&v, width, height);
	picture_check(&v, plane, &p);
}

static void check_ids(bool vga)
{
	uint16_t id;
	uint32_t class;

	FX_OK(v.dev, vgpu_config_read(v.dev, PCI_VENDOR_ID, &id, 2));
	CHECK_EQ(le16toh(id), vga ? 0x1234 : 0x1af4);
	FX_OK(v.dev, vgpu_config_read(v.dev, PCI_DEVICE_ID, &id, 2));
	CHECK_EQ(le16toh(id), vga ? 0x1111 : 0x10f1);
	FX_OK(v.dev, vgpu_config_read(v.dev, PCI_CLASS_REVISION, &class, 4));
	CHECK_EQ(le32toh(class) >> 8, vga ? 0x038000 : 0x030200);
}

static void defaults(void)
{
	static const struct {
		const char *type;
		bool vga;
	} types[] = { { "1Q", false }, { "1A", false }, { "1B", true }, { "2B", true } };
	unsigned int i;

	fx_need("display");
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		fx_create(&v, types[i].type);
		CHECK_EQ(vga_setting(&v), types[i].vga, "%s", types[i].type);
		fx_open(&v);
		check_ids(types[i].vga);
		fx_close(&v);
		fx_remove(&v);
	}
}

/* A VM keeps what it has until the device is opened again. */
static void taken_at_the_next_open(void)
{
	unsigned int i;

	fx_need("display");
	fx_create(&v, "1Q");
	fx_open(&v);
	check_ids(false);
	for (i = 0; i < 4; i++) {
		vga_set(&v, i % 2 ? "0" : "1");
		CHECK_EQ(vga_setting(&v), !(i % 2));
		check_ids(i % 2);
		FX_OK(v.dev, vgpu_dev_reset(v.dev));
		check_ids(i % 2);
		CHECK_EQ(vbe_get(VGPU_HW_DISPI_ID), i % 2 ? VGPU_HW_DISPI_ID_LAST : 0xffff);
		fx_close(&v);
		fx_open(&v);
		check_ids(!(i % 2));
		CHECK_EQ(vbe_get(VGPU_HW_DISPI_ID), i % 2 ? 0xffff : VGPU_HW_DISPI_ID_LAST);
	}
}

static void bad_settings(void)
{
	static const char * const texts[] = { "2", "-1", "4294967297", "yes please", "" };
	unsigned int i;
	int ret;

	fx_need("display");
	fx_create(&v, "1Q");
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ret = vga_try_set(&v, texts[i]);
		/* Nothing is written by a write of no bytes. */
		CHECK(ret == -EINVAL || ret == -ERANGE || (!ret && !*texts[i]), "'%s': %s",
		      texts[i], strerror(-ret));
		CHECK_EQ(vga_setting(&v), 0, "'%s'", texts[i]);
	}
}

/* Without the setting the page is as if nothing were there, and shows nothing. */
static void not_a_vga_card(void)
{
	uint32_t at;

	display_create(&v, "1Q");
	plane = display_map(&v);
	for (at = 0; at < PAGE; at += 8)
		CHECK_EQ(get(at, 8), ~0ull, "at %#x", at);
	vga_mode(&v, 640, 480);
	display_check_none(&v, plane);
	CHECK_EQ(v.dev->region[VGPU_HW_BAR_VGA].bytes, 0);
}

/* The page once more in a BAR of its own, where OVMF looks for it. */
static void page_in_bar_3(void)
{
	const uint32_t at = VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_XRES);
	uint8_t page[2][PAGE];
	uint16_t xres = 1234;

	begin("1Q");
	CHECK_EQ(v.dev->region[VGPU_HW_BAR_VGA].bytes, PAGE);
	CHECK(!v.dev->region[VGPU_HW_BAR_VGA].nr_areas, "it can be mapped");
	CHECK_EQ(vgpu_region_write(v.dev, VGPU_HW_BAR_VGA, at, &xres, 2), 2);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_XRES), 1234);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_VGA, 0, page[0], PAGE), PAGE);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, 0, page[1], PAGE), PAGE);
	CHECK(!memcmp(page[0], page[1], 0x400) && !memcmp(page[0] + 0x500, page[1] + 0x500, 0x100),
	      "the two differ");
}

static void reset_values(void)
{
	unsigned int i;

	CHECK_EQ(vbe_get(VGPU_HW_DISPI_ID), VGPU_HW_DISPI_ID_LAST);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_MEMORY_64K), VGPU_HW_VBE_BYTES_MAX >> 16);
	for (i = VGPU_HW_DISPI_XRES; i < VGPU_HW_DISPI_MEMORY_64K; i++)
		CHECK_EQ(vbe_get(i), 0, "register %u", i);
}

static void registers(void)
{
	unsigned int i;

	begin("1Q");
	reset_values();
	/* What a driver asks first: whether the newest ID is taken, and the largest mode. */
	vbe(VGPU_HW_DISPI_ID, VGPU_HW_DISPI_ID_FIRST);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_ID), VGPU_HW_DISPI_ID_FIRST);
	vbe(VGPU_HW_DISPI_ID, VGPU_HW_DISPI_ID_LAST);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_ID), VGPU_HW_DISPI_ID_LAST);
	vbe(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_GETCAPS);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_XRES), limits.width);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_YRES), limits.height);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_BPP), VGA_BPP);
	vbe(VGPU_HW_DISPI_ENABLE, 0);
	for (i = VGPU_HW_DISPI_XRES; i <= VGPU_HW_DISPI_BPP; i++) {
		vbe(i, (uint16_t)(0x1234 + i));
		CHECK_EQ(vbe_get(i), 0x1234 + i);
	}
	/* Registers that are only read, and where there are none. */
	vbe(VGPU_HW_DISPI_MEMORY_64K, 1);
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_MEMORY_64K), VGPU_HW_VBE_BYTES_MAX >> 16);
	for (i = VGPU_HW_DISPI_NR; i < 0x580; i++)
		vbe(i, 0x5555);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	reset_values();
	display_check_none(&v, plane);
}

static void modes(void)
{
	static const uint16_t modes[][2] = {
		{ 640, 480 }, { 800, 600 }, { 1024, 768 }, { 1280, 1024 }, { 1366, 768 },
		{ 1920, 1080 }, { 2560, 1440 }, { 720, 400 }, { 64, 64 }, { 1, 1 },
	};
	unsigned int i;

	begin("1Q");
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		show_mode(modes[i][0], modes[i][1]);
	vbe(VGPU_HW_DISPI_ENABLE, 0);
	display_check_none(&v, plane);
	show_mode(1024, 768);
}

static void largest_mode(void)
{
	begin("1Q");
	show_mode(limits.width, limits.height);
}

/* Pictures in a larger virtual screen: other pitches, other starts. */
static void panning(void)
{
	uint32_t width, height, virt, x, y;
	struct picture p;
	unsigned int i;

	begin("1Q");
	for (i = 0; i < 60; i++) {
		width = 1 + (uint32_t)fx_random_below(800);
		height = 1 + (uint32_t)fx_random_below(600);
		virt = width + (uint32_t)fx_random_below(400);
		x = (uint32_t)fx_random_below(virt - width + 1);
		y = (uint32_t)fx_random_below(1000);
		p = mode_picture(width, height, virt, x, y);
		picture_paint(&v, &p);
		vga_mode(&v, width, height);
		vga_pan(&v, virt, x, y);
		picture_check(&v, plane, &p);
	}
}

/* By words of 32 and 64 bits, which are as many registers. */
static void several_registers_at_once(void)
{
	struct picture p = mode_picture(320, 200, 320, 0, 0);

	begin("1Q");
	picture_paint(&v, &p);
	put(VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_YRES), 200 | VGA_BPP << 16, 4);
	put(VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_XRES), 320, 2);
	/* Index 4 to 7: of these all but ENABLE are what they are anyway. */
	put(VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_ENABLE), SHOWN, 8);
	vga_pan(&v, 320, 0, 0);
	picture_check(&v, plane, &p);
	CHECK_EQ(get(VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_YRES), 4), 200 | VGA_BPP << 16);
	/* And by bytes: the other half stays. */
	put(VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_YRES), 100, 1);
	p.height = 100;
	picture_paint(&v, &p);
	picture_check(&v, plane, &p);
}

static const struct hostile_mode {
	const char *what;
	uint16_t width, height, virt_width, x, y, bpp, enable;
} hostile_modes[] = {
	{ "no width", 0, 480, 640, 0, 0, 32, SHOWN },
	{ "no height", 640, 0, 640, 0, 0, 32, SHOWN },
	{ "no size", 0, 0, 0, 0, 0, 32, SHOWN },
	{ "the largest numbers", 0xffff, 0xffff, 0xffff, 0, 0, 32, SHOWN },
	{ "the largest numbers anywhere", 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 32, SHOWN },
	{ "larger than the type", 8192, 8192, 8192, 0, 0, 32, SHOWN },
	{ "below the end of memory", 640, 480, 1280, 0, 0xffff, 32, SHOWN },
	{ "across the end of memory", 1024, 1024, 0xffff, 0, 800, 32, SHOWN },
	{ "wide rows", 1024, 4000, 0xffff, 0, 0, 32, SHOWN },
	{ "4 bits per pixel", 640, 480, 640, 0, 0, 4, SHOWN },
	{ "8 bits per pixel", 640, 480, 640, 0, 0, 8, SHOWN },
	{ "15 bits per pixel", 640, 480, 640, 0, 0, 15, SHOWN },
	{ "16 bits per pixel", 640, 480, 640, 0, 0, 16, SHOWN },
	{ "24 bits per pixel", 640, 480, 640, 0, 0, 24, SHOWN },
	{ "no bits per pixel", 640, 480, 640, 0, 0, 0, SHOWN },
	{ "many bits per pixel", 640, 480, 640, 0, 0, 0xffff, SHOWN },
	{ "no linear framebuffer", 640, 480, 640, 0, 0, 32, VGPU_HW_DISPI_ENABLED },
	{ "not enabled", 640, 480, 640, 0, 0, 32, VGPU_HW_DISPI_LFB },
};

/* They are no error to anybody, and no picture. */
static void hostile(void)
{
	struct picture p = picture_at(DISPLAY_START, 320, 200, 0);
	const struct hostile_mode *m;
	struct vgpu_chan *chan;
	unsigned int i;

	begin("1Q");
	display_create(&other, "1A");
	other_plane = display_map(&other);
	chan = display_chan(&other);
	picture_paint(&other, &p);
	picture_present(chan, &p, 0);
	for (i = 0; i < sizeof(hostile_modes) / sizeof(hostile_modes[0]); i++) {
		m = &hostile_modes[i];
		ktap_note("%s", m->what);
		show_mode(640, 480);
		vbe(VGPU_HW_DISPI_ENABLE, 0);
		vbe(VGPU_HW_DISPI_BPP, m->bpp);
		vbe(VGPU_HW_DISPI_XRES, m->width);
		vbe(VGPU_HW_DISPI_YRES, m->height);
		vbe(VGPU_HW_DISPI_ENABLE, m->enable);
		vga_pan(&v, m->virt_width, m->x, m->y);
		display_check_none(&v, plane);
		picture_check(&other, other_plane, &p);
	}
	CHECK_EQ(fx_faults(&v), 0);
	show_mode(640, 480);
}

/* Of the two sources the one that spoke last is shown. */
static void newest_is_shown(void)
{
	struct picture p = picture_at(64 * FX_MIB, 320, 200, 0), q, m;
	struct vgpu_chan *chan;

	begin("1Q");
	chan = display_chan(&v);
	show_mode(640, 480);
	m = mode_picture(640, 480, 640, 0, 0);
	picture_paint(&v, &m);
	picture_check(&v, plane, &m);
	picture_paint(&v, &p);
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
	/* To another head: no news. */
	q = picture_at(80 * FX_MIB, 200, 100, 0);
	picture_paint(&v, &q);
	picture_present(chan, &q, 1);
	picture_check(&v, plane, &p);
	vga_pan(&v, 640, 0, 0);
	picture_check(&v, plane, &m);
	picture_present(chan, &q, 0);
	picture_check(&v, plane, &q);
	vga_mode(&v, 640, 480);
	picture_check(&v, plane, &m);
	vbe(VGPU_HW_DISPI_ENABLE, 0);
	display_check_none(&v, plane);
	picture_present(chan, &p, 0);
	picture_check(&v, plane, &p);
}

static void attribute(uint8_t value)
{
	get(VGPU_HW_VGA_PORT(VGPU_HW_VGA_STATUS1), 1);
	put(VGPU_HW_VGA_PORT(VGPU_HW_VGA_ATTRIBUTE), value, 1);
}

/* The screen goes dark and is lit again, as Linux's bochs driver does it; the mode stays. */
static void blank(void)
{
	struct picture p = mode_picture(640, 480, 640, 0, 0);
	struct vfio_device_gfx_plane_info info;
	unsigned int i;

	begin("1Q");
	picture_paint(&v, &p);
	vga_mode(&v, 640, 480);
	for (i = 0; i < 3; i++) {
		picture_check(&v, plane, &p);
		attribute(0);
		display_query(&v, &info);
		CHECK(info.drm_format && info.width == 640 && info.height == 480, "no mode");
		CHECK(display_is_dark(plane, v.dev->region[DISPLAY_PLANE].bytes), "not dark");
		attribute(VGPU_HW_VGA_LIT);
	}
	/* Data is no index: the second byte does not blank the screen. */
	attribute(VGPU_HW_VGA_LIT);
	put(VGPU_HW_VGA_PORT(VGPU_HW_VGA_ATTRIBUTE), 0, 1);
	picture_check(&v, plane, &p);
	/* No other port does anything. */
	for (i = 0x3c1; i < 0x3e0; i++)
		put(VGPU_HW_VGA_PORT(i), 0, 1);
	picture_check(&v, plane, &p);
}

static void set_link(uint32_t state)
{
	const uint64_t at = offsetof(struct vfio_region_gfx_edid, link_state);

	CHECK_EQ(vgpu_region_write(v.dev, DISPLAY_EDID, at, &state, 4), 4);
}

/* The VM reads in BAR 2 what the user has written to the region, by all widths. */
static void edid_of_the_guest(void)
{
	const struct vfio_region_gfx_edid *regs;
	uint8_t region[PAGE], guest[VGPU_HW_VGA_EDID_SIZE];
	uint32_t bytes, at, width, start;

	begin("1Q");
	regs = (const void *)region;
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_EDID, 0, region, sizeof(*regs)), sizeof(*regs));
	bytes = regs->edid_size;
	start = regs->edid_offset;
	CHECK(bytes <= sizeof(guest), "%u bytes", bytes);
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_EDID, start, region, bytes), bytes);
	for (width = 1; width <= 8; width *= 2) {
		for (at = 0; at < sizeof(guest); at += width)
			CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, at, guest + at, width),
				 width);
		CHECK(!memcmp(guest, region, bytes), "by %u bytes", width);
		CHECK(fx_is_zero(guest + bytes, sizeof(guest) - bytes), "behind the blob");
	}
	/* The VM cannot change it. */
	for (at = 0; at < bytes; at += 4)
		put(at, 0, 4);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, 0, guest, bytes), bytes);
	CHECK(!memcmp(guest, region, bytes), "the VM has written");
	/* It reaches the VM when the link goes up; without a link the VM has no monitor. */
	region[20] ^= 0x55;
	region[127] -= region[20] - guest[20];
	CHECK_EQ(vgpu_region_write(v.dev, DISPLAY_EDID, start, region, bytes), bytes);
	set_link(VFIO_DEVICE_GFX_LINK_STATE_DOWN);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, 0, guest, sizeof(guest)),
		 sizeof(guest));
	CHECK(fx_is_zero(guest, sizeof(guest)), "a monitor that is not plugged in");
	set_link(VFIO_DEVICE_GFX_LINK_STATE_UP);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, 0, guest, bytes), bytes);
	CHECK(!memcmp(guest, region, bytes), "another monitor");
}

/* While memory decoding is off nothing is there, and what is shown stays. */
static void memory_decoding_off(void)
{
	struct picture p = mode_picture(640, 480, 640, 0, 0);

	begin("1Q");
	picture_paint(&v, &p);
	vga_mode(&v, 640, 480);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, PCI_COMMAND_MEMORY));
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_ID), 0xffff);
	vbe(VGPU_HW_DISPI_ENABLE, 0);
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MEMORY, 0));
	CHECK_EQ(vbe_get(VGPU_HW_DISPI_ENABLE), SHOWN);
	picture_check(&v, plane, &p);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(defaults),
	KTAP_TEST(taken_at_the_next_open),
	KTAP_TEST(bad_settings),
	KTAP_TEST(not_a_vga_card),
	KTAP_TEST(page_in_bar_3),
	KTAP_TEST(registers),
	KTAP_TEST(modes),
	KTAP_TEST(largest_mode),
	KTAP_TEST(panning),
	KTAP_TEST(several_registers_at_once),
	KTAP_TEST(hostile),
	KTAP_TEST(newest_is_shown),
	KTAP_TEST(blank),
	KTAP_TEST(edid_of_the_guest),
	KTAP_TEST(memory_decoding_off),
};

static void cleanup(void)
{
	display_forget(&v, &plane);
	display_forget(&other, &other_plane);
	tune_cleanup();
}

KTAP_MAIN(tests, cleanup)
