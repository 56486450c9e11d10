// SPDX-License-Identifier: GPL-2.0
/*
 * The display page of a vGPU that is a VGA card, against a model of the card: after any accesses
 * both have the same registers and the same picture, and no picture leaves VBE memory.
 */
#include "vgpu_test.h"

#include "soft/face/vga.h"

#define NR_RANDOM	300000
#define PIXELS_MAX	(5120ULL * 2880)

static const struct soft_vga_limits limits = {
	.vbe_bytes = VGPU_HW_VBE_BYTES_MAX, .max_width = 5120, .max_height = 2880,
};

static struct soft_vga vga;

/*
 * The model: a card of registers by name, that takes 16 bits at a time, and knows nothing of bytes
 * and offsets. Memory is counted in pixels.
 */
static struct card {
	u16 id, xres, yres, bpp, enable, bank, virt_width, virt_height, x, y;
	u8 attribute;
	bool data;
	bool beam;
} card;

static void card_reset(void)
{
	memset(&card, 0, sizeof(card));
	card.id = 0xb0c5;
	card.attribute = 0x20;
}

static u16 *card_register(unsigned int index)
{
	u16 *regs[] = {
		&card.id, &card.xres, &card.yres, &card.bpp, &card.enable, &card.bank,
		&card.virt_width, &card.virt_height, &card.x, &card.y,
	};

	return index < ARRAY_SIZE(regs) ? regs[index] : NULL;
}

static u16 card_read(unsigned int index)
{
	if (index > 0xa)
		return 0xffff;
	if (index == 0xa)
		return 4096;
	if (card.enable & 2 && index == 1)
		return 5120;
	if (card.enable & 2 && index == 2)
		return 2880;
	if (card.enable & 2 && index == 3)
		return 32;
	return *card_register(index);
}

static bool card_write(unsigned int index, u16 value)
{
	bool was_on = card.enable & 1;

	if (index == 0 && (value < 0xb0c0 || value > 0xb0c5))
		return false;
	if (index == 7 || index > 9)
		return false;
	*card_register(index) = value;
	if (index == 0 || index == 5 || !(card.enable & 1))
		return false;
	if (!was_on) {
		card.virt_width = card.xres;
		card.x = 0;
		card.y = 0;
	}
	if (card.virt_width < card.xres)
		card.virt_width = card.xres;
	card.virt_height = 0;
	if (card.virt_width) {
		u64 rows = VGPU_HW_VBE_BYTES_MAX / 4 / card.virt_width;

		card.virt_height = rows > 65535 ? 65535 : rows;
	}
	return true;
}

static bool card_picture(u64 *first, u64 *last)
{
	const u64 memory = VGPU_HW_VBE_BYTES_MAX / 4;

	if ((card.enable & 0x41) != 0x41 || card.bpp != 32 || !card.xres || !card.yres)
		return false;
	if ((u64)card.xres * card.yres > PIXELS_MAX)
		return false;
	*first = (u64)card.y * card.virt_width + card.x;
	*last = ((u64)card.y + card.yres - 1) * card.virt_width + card.x + card.xres - 1;
	return *last < memory;
}

/* One access to the card, taken apart: to ports by bytes, to registers by 16 bits. */
static u64 card_access(u32 offset, u64 value, unsigned int count, bool write, bool *newest)
{
	u8 bytes[8];
	u64 read = 0;
	unsigned int i;

	memcpy(bytes, &value, 8);
	*newest = false;
	for (i = 0; i < count; i++) {
		u32 at = offset + i;
		unsigned int index = (at - 0x500) / 2;
		u8 out = 0xff;

		if (at >= 0x400 && at < 0x420) {
			out = 0;
			if (at == 0x400 && write) {
				if (!card.data)
					card.attribute = bytes[i] % 64;
				card.data = !card.data;
			} else if (at == 0x400) {
				out = card.data ? 0 : card.attribute;
			} else if (at == 0x41a && !write) {
				card.beam = !card.beam;
				card.data = false;
				out = card.beam ? 9 : 0;
			}
		} else if (at >= 0x500 && at < 0x516) {
			out = card_read(index) >> (at % 2 ? 8 : 0);
			if (write && count == 1) {
				u16 old = index < 10 ? *card_register(index) : 0;

				*newest = card_write(index, at % 2 ?
						     bytes[0] * 256 + old % 256 :
						     old / 256 * 256 + bytes[0]);
			} else if (write && at % 2) {
				*newest |= card_write(index, bytes[i] * 256 + bytes[i - 1]);
			}
		}
		read |= (u64)out << 8 * i;
	}
	return read;
}

/* Offsets: all of the page, but most of them where registers are. */
static u32 random_offset(u64 *rnd)
{
	switch (random_range(rnd, 0, 9)) {
	case 0:
		return random_range(rnd, VGPU_HW_VGA_EDID_SIZE, 0xfff);
	case 1:
		return random_range(rnd, 0x400, 0x41f);
	case 2:
		return random_one_in(rnd, 2) ? 0x400 : 0x41a;
	default:
		return random_range(rnd, 0x500, 0x517);
	}
}

/* Values as a driver would write them, and as nobody would. */
static u64 random_value(u64 *rnd)
{
	static const u16 likely[] = {
		0, 1, 8, 32, 0x20, 0x41, 0x41, 0x41, 0x43, 0xc1, 480, 600, 640, 768, 800, 1024,
		1280, 1920, 2880, 5120, 8192, 0x7fff, 0x8000, 0xffff,
	};
	unsigned int i;
	u64 value = 0;

	if (random_one_in(rnd, 8))
		return random_next(rnd);
	for (i = 0; i < 4; i++)
		value = value << 16 | likely[random_range(rnd, 0, ARRAY_SIZE(likely) - 1)];
	return value;
}

static void test_random(void **state)
{
	unsigned int i, pictures = 0, flips = 0;
	u64 rnd = test_seed();
	__int128 end;

	soft_vga_reset(&vga);
	card_reset();
	for (i = 0; i < NR_RANDOM; i++) {
		unsigned int count = 1U << random_range(&rnd, 0, 3);
		u32 offset = random_offset(&rnd) & ~(count - 1);
		bool write = !random_one_in(&rnd, 4), newest, want;
		u64 value = random_value(&rnd), first = 0, last = 0, read;
		struct vgpu_scanout out = {};

		if (random_one_in(&rnd, 500)) {
			soft_vga_reset(&vga);
			card_reset();
		}
		/* Most random modes are none; some begin with a good one. */
		if (random_one_in(&rnd, 20)) {
			u16 xres = random_range(&rnd, 1, 2000), yres = random_range(&rnd, 1, 2000);
			static const u8 order[] = { 4, 3, 1, 2, 4 };
			u16 values[] = { 0, 32, xres, yres, 0x41 };
			unsigned int k;

			for (k = 0; k < ARRAY_SIZE(order); k++) {
				want = card_write(order[k], values[k]);
				newest = soft_vga_write(&vga, &limits,
							VGPU_HW_VGA_DISPI(order[k]), values[k], 2);
				assert_int_equal(newest, want);
			}
		}
		read = card_access(offset, value, count, write, &want);
		if (write) {
			newest = soft_vga_write(&vga, &limits, offset, value, count);
			check_that(newest == want, "%u at %#x: %#llx", count, offset,
				   (unsigned long long)value);
			flips += newest;
		} else {
			value = soft_vga_read(&vga, &limits, offset, count);
			check_that(value == read, "%u at %#x: %#llx, not %#llx", count, offset,
				   (unsigned long long)value, (unsigned long long)read);
		}
		want = card_picture(&first, &last);
		check_that(soft_vga_scanout(&vga, &limits, &out) == want,
			   "%u x %u of %u + %u, %u", card.xres, card.yres, card.virt_width,
			   card.x, card.y);
		if (!want)
			continue;
		pictures++;
		check_that(out.offset == first * 4 && out.width == card.xres &&
			   out.height == card.yres && out.pitch == card.virt_width * 4U &&
			   out.blank == !(card.attribute & 0x20), "%#llx %u x %u, %u",
			   (unsigned long long)out.offset, out.width, out.height, out.pitch);
		/* Whatever the model says, this is what nobody may get around. */
		end = (__int128)out.pitch * (out.height - 1) + out.offset + 4ULL * out.width;
		check_that(end <= VGPU_HW_VBE_BYTES_MAX && end == (last + 1) * 4 &&
			   out.pitch >= (u64)out.width * 4 && out.width && out.height &&
			   (u64)out.width * out.height <= PIXELS_MAX, "outside");
	}
	printf("# %u of %u accesses left a picture, %u were mode sets or flips\n", pictures,
	       NR_RANDOM, flips);
	assert_true(pictures > NR_RANDOM / 20 && flips > NR_RANDOM / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
