// SPDX-License-Identifier: GPL-2.0
/*
 * The display page of a vGPU that is a VGA card: what drivers write to it, in their order, and each
 * register by itself. test_vga_model.c has any accesses in any order.
 */
#include "vgpu_test.h"

#include "soft/face/vga.h"

#define PIXELS_MAX	(5120ULL * 2880)

static const struct soft_vga_limits limits = {
	.vbe_bytes = VGPU_HW_VBE_BYTES_MAX, .max_width = 5120, .max_height = 2880,
};

static struct soft_vga vga;

static u16 dispi_read(unsigned int index)
{
	return soft_vga_read(&vga, &limits, VGPU_HW_VGA_DISPI(index), 2);
}

static bool dispi_write(unsigned int index, u16 value)
{
	return soft_vga_write(&vga, &limits, VGPU_HW_VGA_DISPI(index), value, 2);
}

static void port_write(unsigned int port, u8 value)
{
	/* No write to a VGA port is a mode set. */
	assert_false(soft_vga_write(&vga, &limits, VGPU_HW_VGA_PORT(port), value, 1));
}

static u8 port_read(unsigned int port)
{
	return soft_vga_read(&vga, &limits, VGPU_HW_VGA_PORT(port), 1);
}

static void check_none(void)
{
	struct vgpu_scanout out;

	assert_false(soft_vga_scanout(&vga, &limits, &out));
}

static void check_shown(u64 offset, u32 width, u32 height, u32 pitch, bool blank)
{
	struct vgpu_scanout out = {};

	assert_true(soft_vga_scanout(&vga, &limits, &out));
	check_that(out.offset == offset && out.width == width && out.height == height &&
		   out.pitch == pitch && out.blank == blank, "%#llx %u x %u, %u, %s",
		   (unsigned long long)out.offset, out.width, out.height, out.pitch,
		   out.blank ? "blank" : "lit");
}

/* What Linux's bochs driver of 6.12 does, in its order. */

static void bochs_blank(bool blank)
{
	port_write(0x3c2, 1);
	port_read(0x3da);
	port_write(0x3c0, blank ? 0 : 0x20);
}

static bool bochs_mode(u16 width, u16 height)
{
	bool newest = false;

	bochs_blank(false);
	newest |= dispi_write(VGPU_HW_DISPI_ENABLE, 0);
	newest |= dispi_write(VGPU_HW_DISPI_BPP, 32);
	newest |= dispi_write(VGPU_HW_DISPI_XRES, width);
	newest |= dispi_write(VGPU_HW_DISPI_YRES, height);
	newest |= dispi_write(VGPU_HW_DISPI_BANK, 0);
	newest |= dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, width);
	newest |= dispi_write(VGPU_HW_DISPI_VIRT_HEIGHT, limits.vbe_bytes / (width * 4));
	newest |= dispi_write(VGPU_HW_DISPI_X_OFFSET, 0);
	newest |= dispi_write(VGPU_HW_DISPI_Y_OFFSET, 0);
	/* Up to here there is nothing to be shown. */
	assert_false(newest);
	check_none();
	return dispi_write(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB);
}

static void bochs_flip(u32 stride, u64 address)
{
	assert_true(dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, stride * 8 / 32));
	assert_true(dispi_write(VGPU_HW_DISPI_X_OFFSET, address % stride * 8 / 32));
	assert_true(dispi_write(VGPU_HW_DISPI_Y_OFFSET, address / stride));
}

static void test_reset(void **state)
{
	struct soft_vga other;

	memset(&vga, 0xa5, sizeof(vga));
	soft_vga_reset(&vga);
	memset(&other, 0x5a, sizeof(other));
	soft_vga_reset(&other);
	assert_int_equal(memcmp(&vga, &other, sizeof(vga)), 0);
	check_none();
	assert_int_equal(dispi_read(VGPU_HW_DISPI_ID), 0xb0c5);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_ENABLE), 0);
	/* A picture does not outlive a reset. */
	bochs_mode(1024, 768);
	check_shown(0, 1024, 768, 4096, false);
	soft_vga_reset(&vga);
	check_none();
	assert_int_equal(memcmp(&vga, &other, sizeof(vga)), 0);
}

static void test_bochs(void **state)
{
	u64 rnd = test_seed(), address;
	unsigned int i;

	soft_vga_reset(&vga);
	/* The driver looks for the card and its memory. */
	assert_int_equal(dispi_read(VGPU_HW_DISPI_ID) & 0xfff0, 0xb0c0);
	assert_int_equal((u64)dispi_read(VGPU_HW_DISPI_MEMORY_64K) * 65536, limits.vbe_bytes);

	assert_true(bochs_mode(1024, 768));
	check_shown(0, 1024, 768, 4096, false);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_VIRT_HEIGHT), 65535);
	bochs_flip(4096, 0);
	check_shown(0, 1024, 768, 4096, false);
	bochs_flip(4096, 0x300000);
	check_shown(0x300000, 1024, 768, 4096, false);
	/* A buffer can be wider than the screen, and its start anywhere. */
	for (i = 0; i < 1000; i++) {
		u32 stride = random_range(&rnd, 1024, 8000) * 4;
		u64 last = limits.vbe_bytes - 767 * stride - 4096;

		address = random_range(&rnd, 0, min(last, 65535ULL * stride)) & ~3ULL;
		bochs_flip(stride, address);
		check_shown(address, 1024, 768, stride, false);
	}

	bochs_blank(true);
	check_shown(address, 1024, 768, vga.dispi[VGPU_HW_DISPI_VIRT_WIDTH] * 4, true);
	bochs_blank(false);
	check_shown(address, 1024, 768, vga.dispi[VGPU_HW_DISPI_VIRT_WIDTH] * 4, false);

	/* Other modes: one whose width is no multiple of 8, one larger than its type has. */
	bochs_mode(1366, 768);
	check_shown(0, 1366, 768, 5464, false);
	bochs_flip(5464, 4096 * 1025);
	check_shown(4096 * 1025, 1366, 768, 5464, false);
	bochs_mode(5120, 2880);
	check_shown(0, 5120, 2880, 20480, false);
	bochs_mode(7680, 4320);
	check_none();
	bochs_mode(640, 480);
	check_shown(0, 640, 480, 2560, false);
	bochs_blank(true);
	bochs_mode(800, 600);
	check_shown(0, 800, 600, 3200, false);
}

/* The bochs driver of older kernels unblanks without a look at 0x3da. */
static void test_bochs_old(void **state)
{
	unsigned int i;

	soft_vga_reset(&vga);
	for (i = 0; i < 5; i++) {
		port_write(0x3c0, 0x20);
		dispi_write(VGPU_HW_DISPI_ENABLE, 0);
		dispi_write(VGPU_HW_DISPI_BPP, 32);
		dispi_write(VGPU_HW_DISPI_XRES, 1280);
		dispi_write(VGPU_HW_DISPI_YRES, 1024);
		assert_true(dispi_write(VGPU_HW_DISPI_ENABLE,
					VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB));
		check_shown(0, 1280, 1024, 5120, false);
	}
}

static void ovmf_mode(u16 width, u16 height)
{
	unsigned int i;

	port_write(0x3c0, 0x20);
	dispi_write(VGPU_HW_DISPI_ENABLE, 0);
	dispi_write(VGPU_HW_DISPI_BANK, 0);
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 0);
	dispi_write(VGPU_HW_DISPI_Y_OFFSET, 0);
	dispi_write(VGPU_HW_DISPI_BPP, 32);
	dispi_write(VGPU_HW_DISPI_XRES, width);
	dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, width);
	dispi_write(VGPU_HW_DISPI_YRES, height);
	dispi_write(VGPU_HW_DISPI_VIRT_HEIGHT, height);
	check_none();
	assert_true(dispi_write(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB));
	/* Its palette of 256 colours, for modes of 8 bits, too. */
	for (i = 0; i < 256; i++) {
		port_write(0x3c8, i);
		port_write(0x3c9, i >> 2);
		port_write(0x3c9, i >> 2);
		port_write(0x3c9, i >> 2);
	}
}

static void test_ovmf(void **state)
{
	soft_vga_reset(&vga);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_ID) & 0xfff0, 0xb0c0);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_MEMORY_64K), 4096);
	ovmf_mode(640, 480);
	check_shown(0, 640, 480, 2560, false);
	ovmf_mode(1280, 800);
	check_shown(0, 1280, 800, 5120, false);
	ovmf_mode(1366, 768);
	check_shown(0, 1366, 768, 5464, false);
	/* It hands over to Linux. */
	bochs_mode(1024, 768);
	bochs_flip(4096, 0x40000);
	check_shown(0x40000, 1024, 768, 4096, false);
	/* And back, in the middle of a flip, when the guest reboots without a reset. */
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 77);
	ovmf_mode(800, 600);
	check_shown(0, 800, 600, 3200, false);
}

/* The shortest way to a picture: what no driver of the above leaves out. */
static void test_short_mode_set(void **state)
{
	soft_vga_reset(&vga);
	dispi_write(VGPU_HW_DISPI_XRES, 1920);
	dispi_write(VGPU_HW_DISPI_YRES, 1080);
	dispi_write(VGPU_HW_DISPI_BPP, 32);
	/* The last client's offsets do not count. */
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 5);
	dispi_write(VGPU_HW_DISPI_Y_OFFSET, 6);
	dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, 4000);
	dispi_write(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB |
		    VGPU_HW_DISPI_NOCLEARMEM);
	check_shown(0, 1920, 1080, 7680, false);
	/* Setting it again changes nothing: it is on. */
	dispi_write(VGPU_HW_DISPI_Y_OFFSET, 6);
	dispi_write(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB);
	check_shown(6 * 7680, 1920, 1080, 7680, false);
	/* A mode can be changed while it is on; a row is never shorter than the picture is wide. */
	dispi_write(VGPU_HW_DISPI_XRES, 2560);
	check_shown(6 * 10240, 2560, 1080, 10240, false);
	dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, 100);
	check_shown(6 * 10240, 2560, 1080, 10240, false);
	dispi_write(VGPU_HW_DISPI_XRES, 1280);
	check_shown(6 * 10240, 1280, 1080, 10240, false);
}

/* One thing wrong with a good mode, and there is no picture until it is mended. */
static void test_no_picture(void **state)
{
	static const struct {
		u8 index;
		u16 bad;
	} cases[] = {
		{ VGPU_HW_DISPI_ENABLE, 0 },
		{ VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED },
		{ VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_LFB },
		{ VGPU_HW_DISPI_BPP, 0 }, { VGPU_HW_DISPI_BPP, 4 }, { VGPU_HW_DISPI_BPP, 8 },
		{ VGPU_HW_DISPI_BPP, 15 }, { VGPU_HW_DISPI_BPP, 16 },
		{ VGPU_HW_DISPI_BPP, 24 }, { VGPU_HW_DISPI_BPP, 33 },
		{ VGPU_HW_DISPI_BPP, 0x2020 },
		{ VGPU_HW_DISPI_XRES, 0 }, { VGPU_HW_DISPI_YRES, 0 },
		{ VGPU_HW_DISPI_YRES, 0xffff },
		/* One row of pixels more than the type's largest resolution has. */
		{ VGPU_HW_DISPI_YRES, PIXELS_MAX / 1024 + 1 },
	};
	unsigned int i;

	soft_vga_reset(&vga);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bochs_mode(1024, 768);
		dispi_write(cases[i].index, cases[i].bad);
		assert_int_equal(dispi_read(cases[i].index), cases[i].bad);
		check_none();
		bochs_mode(1024, 768);
		check_shown(0, 1024, 768, 4096, false);
	}
	dispi_write(VGPU_HW_DISPI_YRES, PIXELS_MAX / 1024);
	check_shown(0, 1024, PIXELS_MAX / 1024, 4096, false);

	/* The last row's last pixel may be the last of memory, and no further. */
	bochs_mode(1024, 768);
	bochs_flip(4096, VGPU_HW_VBE_BYTES_MAX - 768 * 4096);
	check_shown(VGPU_HW_VBE_BYTES_MAX - 768 * 4096, 1024, 768, 4096, false);
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 1);
	check_none();
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 0);
	dispi_write(VGPU_HW_DISPI_Y_OFFSET, 65536 - 767);
	check_none();
	/* A row that is longer than the picture need not be there to its end. */
	bochs_mode(1024, 768);
	dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, 2048);
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 1024);
	dispi_write(VGPU_HW_DISPI_Y_OFFSET, 32768 - 768);
	check_shown(VGPU_HW_VBE_BYTES_MAX - 768 * 8192 + 4096, 1024, 768, 8192, false);
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 1025);
	check_none();
	/* Everything at its largest does not wrap around. */
	bochs_mode(1024, 1);
	dispi_write(VGPU_HW_DISPI_VIRT_WIDTH, 0xffff);
	dispi_write(VGPU_HW_DISPI_X_OFFSET, 0xffff);
	dispi_write(VGPU_HW_DISPI_Y_OFFSET, 0xffff);
	check_none();
	dispi_write(VGPU_HW_DISPI_XRES, 0xffff);
	dispi_write(VGPU_HW_DISPI_YRES, 0xffff);
	check_none();
}

/* A small vGPU: modes that fit into its memory, but not all that its type could show. */
static void test_small_memory(void **state)
{
	const struct soft_vga_limits small = {
		.vbe_bytes = 0x800000, .max_width = 7680, .max_height = 4320,
	};
	struct vgpu_scanout out;

	soft_vga_reset(&vga);
	bochs_mode(1920, 1080);
	assert_true(soft_vga_scanout(&vga, &small, &out));
	dispi_write(VGPU_HW_DISPI_YRES, 1093);
	assert_false(soft_vga_scanout(&vga, &small, &out));
	assert_int_equal(soft_vga_read(&vga, &small, VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_MEMORY_64K),
				       2), 128);
	soft_vga_write(&vga, &small, VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_XRES), 1920, 2);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_VIRT_HEIGHT), 0x800000 / 7680);
}

static void test_caps(void **state)
{
	soft_vga_reset(&vga);
	bochs_mode(1024, 768);
	dispi_write(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB |
		    VGPU_HW_DISPI_GETCAPS);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_XRES), 5120);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_YRES), 2880);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_BPP), 32);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_VIRT_WIDTH), 1024);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_ENABLE), 0x43);
	/* The mode stays, also where half a register is written meanwhile. */
	check_shown(0, 1024, 768, 4096, false);
	assert_true(soft_vga_write(&vga, &limits, VGPU_HW_VGA_DISPI(VGPU_HW_DISPI_XRES), 0x10, 1));
	dispi_write(VGPU_HW_DISPI_ENABLE, VGPU_HW_DISPI_ENABLED | VGPU_HW_DISPI_LFB);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_XRES), 1024 + 16);
}

static void test_id(void **state)
{
	unsigned int id;
	u16 now = 0xb0c5;

	soft_vga_reset(&vga);
	for (id = 0; id < 0x10000; id++) {
		assert_false(dispi_write(VGPU_HW_DISPI_ID, id));
		if (id >= 0xb0c0 && id <= 0xb0c5)
			now = id;
		assert_int_equal(dispi_read(VGPU_HW_DISPI_ID), now);
	}
	/* What can only be read. */
	dispi_write(VGPU_HW_DISPI_MEMORY_64K, 1);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_MEMORY_64K), 4096);
	dispi_write(VGPU_HW_DISPI_VIRT_HEIGHT, 7);
	assert_int_equal(dispi_read(VGPU_HW_DISPI_VIRT_HEIGHT), 0);
}

/* Index and data go to the same port in turns; 0x3da says that an index is next. */
static void test_attribute(void **state)
{
	u8 first, second;

	soft_vga_reset(&vga);
	bochs_mode(1024, 768);
	assert_int_equal(port_read(0x3c0), 0);	/* data is next */
	port_read(0x3da);
	assert_int_equal(port_read(0x3c0), 0x20);
	port_write(0x3c0, 0x01);
	check_shown(0, 1024, 768, 4096, true);
	/* Palette entries are data: no bit of theirs lights the screen. */
	port_write(0x3c0, 0x3f);
	check_shown(0, 1024, 768, 4096, true);
	port_write(0x3c0, 0xe2);
	check_shown(0, 1024, 768, 4096, false);
	port_read(0x3da);
	assert_int_equal(port_read(0x3c0), 0x22);
	/* Index and data in one write of 16 bits. */
	assert_false(soft_vga_write(&vga, &limits, VGPU_HW_VGA_PORT(0x3c0), 0x3f00, 2));
	check_shown(0, 1024, 768, 4096, true);
	port_write(0x3c1, 0x20);
	check_shown(0, 1024, 768, 4096, true);

	/* Whoever waits for the retrace, or for its end, sees it. */
	first = port_read(0x3da);
	second = port_read(0x3da);
	assert_int_equal((first ^ second) & 0x09, 0x09);
	assert_int_equal(port_read(0x3da), first);
	/* The other ports are not there; waiting there for a bit to be clear ends, too. */
	assert_int_equal(port_read(0x3c2), 0);
	assert_int_equal(port_read(0x3cc), 0);
	assert_int_equal(port_read(0x3d5), 0);
}

/* Where nothing is, all bits are set; QEMU's extended registers are not there. */
static void test_holes(void **state)
{
	u32 offset;

	soft_vga_reset(&vga);
	bochs_mode(1024, 768);
	for (offset = VGPU_HW_VGA_EDID_SIZE; offset < 0x1000; offset += 8) {
		if (offset < 0x420 || (offset >= 0x500 && offset < 0x518))
			continue;
		assert_false(soft_vga_write(&vga, &limits, offset, 0x1e1e1e1ebebebebe, 8));
		assert_true(soft_vga_read(&vga, &limits, offset, 8) == ~0ULL);
		assert_int_equal(soft_vga_read(&vga, &limits, offset, 1), 0xff);
		assert_true(soft_vga_read(&vga, &limits, offset, 4) == 0xffffffff);
	}
	/* The last register, with the hole behind it. */
	assert_true(soft_vga_read(&vga, &limits, 0x510, 8) == 0xffff100000000000);
	assert_true(soft_vga_read(&vga, &limits, 0x514, 4) == 0xffff1000);
	assert_int_equal(soft_vga_read(&vga, &limits, 0x516, 2), 0xffff);
	check_shown(0, 1024, 768, 4096, false);
}

static void test_widths(void **state)
{
	soft_vga_reset(&vga);
	/* Registers 0 to 3, and 4 to 7, by one write each. */
	assert_false(soft_vga_write(&vga, &limits, 0x500, 0x0020025803200000, 8));
	assert_true(soft_vga_write(&vga, &limits, 0x508, 0x0000040000000041, 8));
	check_shown(0, 800, 600, 4096, false);
	assert_true(soft_vga_read(&vga, &limits, 0x500, 8) == 0x002002580320b0c5);
	assert_int_equal(soft_vga_read(&vga, &limits, 0x502, 2), 800);
	assert_int_equal(soft_vga_read(&vga, &limits, 0x502, 1), 0x20);
	assert_int_equal(soft_vga_read(&vga, &limits, 0x503, 1), 0x03);
	assert_true(soft_vga_read(&vga, &limits, 0x504, 4) == 0x00200258);
	/* Both offsets by one write. */
	assert_true(soft_vga_write(&vga, &limits, 0x510, 0x00020003, 4));
	check_shown(2 * 4096 + 12, 800, 600, 4096, false);
	/* Halves of a register. */
	assert_true(soft_vga_write(&vga, &limits, 0x513, 0x01, 1));
	check_shown(0x102 * 4096 + 12, 800, 600, 4096, false);
	assert_true(soft_vga_write(&vga, &limits, 0x512, 0x00, 1));
	check_shown(0x100 * 4096 + 12, 800, 600, 4096, false);
	/* Bits beyond the width are not looked at. */
	assert_true(soft_vga_write(&vga, &limits, 0x512, 0xffffffffffff0005, 2));
	check_shown(5 * 4096 + 12, 800, 600, 4096, false);
	assert_int_equal(soft_vga_read(&vga, &limits, 0x514, 2), 0x1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_bochs),
		cmocka_unit_test(test_bochs_old),
		cmocka_unit_test(test_ovmf),
		cmocka_unit_test(test_short_mode_set),
		cmocka_unit_test(test_no_picture),
		cmocka_unit_test(test_small_memory),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_id),
		cmocka_unit_test(test_attribute),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
