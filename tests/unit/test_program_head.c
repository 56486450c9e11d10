// SPDX-License-Identifier: GPL-2.0
/* Heads of programs: which ones pass, which ones fault and how. */
#include "vgpu_test.h"

#include "soft/work/head.h"

#define FB	0x40000000ULL

static const struct soft_limits limits = { .fb_bytes = FB };
static const struct soft_limits virt = { .fb_bytes = FB, .virt = true };

static void expect_program(const struct vgpu_hw_program *raw, u32 items, enum vgpu_hw_fault want,
			   u64 want_addr, int line)
{
	const struct soft_dispatch_operands op = { .head = 0x40, .group = { 1, items, 1 } };
	struct soft_program_head head;
	enum vgpu_hw_fault fault;
	u64 addr = 0x123;

	fault = soft_program_decode(raw, &limits, &op, &head, &addr);
	check_that(fault == want && addr == want_addr, "line %d: fault %d at %#llx, not %d at %#llx",
		   line, fault, addr, want, want_addr);
	if (!fault)
		check_that(head.image == raw->image && head.image_bytes == raw->image_bytes &&
			   head.text_bytes == raw->text_bytes && head.entry == raw->entry &&
			   head.private_bytes == raw->private_bytes, "line %d", line);
}

/* A good head, but for what is said behind it. */
#define PROGRAM(items, want, addr, ...) do {				\
	struct vgpu_hw_program raw_ = { .magic = VGPU_HW_PROGRAM_MAGIC,	\
		.image_bytes = 64, .text_bytes = 32, .entry = 4, .image = 0x2000 }; \
									\
	__VA_ARGS__;							\
	expect_program(&raw_, items, VGPU_HW_FAULT_##want, addr, __LINE__); \
} while (0)

static void test_program(void **state)
{
	unsigned int i;

	PROGRAM(1, NONE, 0, raw_.entry = 0);
	PROGRAM(1, PROGRAM, 0x40, raw_.magic++);
	for (i = 0; i < 9; i++)
		PROGRAM(1, PROGRAM, 0x40, raw_.pad[i] = 1);
	PROGRAM(1, NONE, 0, raw_.image_bytes = VGPU_HW_IMAGE_MAX);
	PROGRAM(1, PROGRAM, 0x40, raw_.image_bytes = VGPU_HW_IMAGE_MAX + 4);
	PROGRAM(1, PROGRAM, 0x40, raw_.image_bytes = 66);
	PROGRAM(1, PROGRAM, 0x40, raw_.image_bytes = 28);
	PROGRAM(1, PROGRAM, 0x40, raw_.image_bytes = 0, raw_.text_bytes = 0, raw_.entry = 0);
	PROGRAM(1, PROGRAM, 0x40, raw_.text_bytes = 30);
	PROGRAM(1, NONE, 0, raw_.text_bytes = VGPU_HW_TEXT_MAX,
		raw_.image_bytes = VGPU_HW_TEXT_MAX);
	PROGRAM(1, PROGRAM, 0x40, raw_.text_bytes = VGPU_HW_TEXT_MAX + 4,
		raw_.image_bytes = VGPU_HW_IMAGE_MAX);
	PROGRAM(1, NONE, 0, raw_.entry = 28);
	PROGRAM(1, PROGRAM, 0x40, raw_.entry = 32);
	PROGRAM(1, PROGRAM, 0x40, raw_.entry = 2);
	PROGRAM(1, ALIGN, 0x2040, raw_.image = 0x2040);
	PROGRAM(1, NONE, 0, raw_.image = FB - 4096, raw_.image_bytes = 4096);
	PROGRAM(1, ADDRESS, FB - 4096, raw_.image = FB - 4096, raw_.image_bytes = 4100);
	PROGRAM(1, ADDRESS, ~4095ULL, raw_.image = ~4095ULL, raw_.image_bytes = 8192);
	PROGRAM(128, NONE, 0, raw_.private_bytes = VGPU_HW_PRIVATE_MAX);
	PROGRAM(1, PROGRAM, 0x40, raw_.private_bytes = VGPU_HW_PRIVATE_MAX + 16);
	PROGRAM(1, PROGRAM, 0x40, raw_.private_bytes = 8);
	PROGRAM(129, GRID, 0, raw_.private_bytes = VGPU_HW_PRIVATE_MAX);
	PROGRAM(1024, NONE, 0, raw_.private_bytes = 8192);
	PROGRAM(1024, GRID, 0, raw_.private_bytes = 8208);
}

/* Where addresses are virtual, the image may be anywhere in one half of them. */
static void test_virtual(void **state)
{
	const struct soft_dispatch_operands op = { .head = 0x40, .group = { 1, 1, 1 } };
	struct vgpu_hw_program raw = { .magic = VGPU_HW_PROGRAM_MAGIC, .image_bytes = 8192,
		.text_bytes = 4, .image = 2 * FB };
	struct soft_program_head head;
	u64 addr;

	assert_int_equal(soft_program_decode(&raw, &virt, &op, &head, &addr),
			 VGPU_HW_FAULT_NONE);
	raw.image = (1ULL << (VGPU_HW_VA_BITS - 1)) - 4096;
	assert_int_equal(soft_program_decode(&raw, &virt, &op, &head, &addr),
			 VGPU_HW_FAULT_ADDRESS);
	assert_true(addr == raw.image);
	raw.image = ~8191ULL;
	assert_int_equal(soft_program_decode(&raw, &virt, &op, &head, &addr),
			 VGPU_HW_FAULT_NONE);
}

/* Whatever passes is inside of the vGPU's framebuffer and of the limits. */
static void test_random(void **state)
{
	const struct soft_dispatch_operands op = { .head = 0x40, .group = { 32, 32, 1 } };
	u64 seed = test_seed(), passed = 0, addr;
	struct soft_program_head h;
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		struct vgpu_hw_program raw = {
			.magic = VGPU_HW_PROGRAM_MAGIC,
			.image_bytes = random_next(&seed) >> random_range(&seed, 32, 63) & ~3ULL,
			.text_bytes = random_next(&seed) >> random_range(&seed, 40, 63) & ~3ULL,
			.entry = random_next(&seed) >> random_range(&seed, 48, 63) & ~3ULL,
			.image = (random_next(&seed) >> random_range(&seed, 20, 63)) & ~4095ULL,
			.private_bytes = random_next(&seed) >> random_range(&seed, 48, 63) & ~15ULL,
		};

		if (soft_program_decode(&raw, &limits, &op, &h, &addr))
			continue;
		passed++;
		check_that(addr == 0 && h.image <= FB && h.image_bytes <= FB - h.image &&
			   h.image_bytes <= VGPU_HW_IMAGE_MAX && h.text_bytes <= h.image_bytes &&
			   h.text_bytes <= VGPU_HW_TEXT_MAX && h.entry < h.text_bytes &&
			   !((h.image_bytes | h.text_bytes | h.entry) % 4) &&
			   h.private_bytes * 1024ULL <= VGPU_HW_PRIVATE_GROUP_MAX,
			   "%#llx, %u, %u, %u, %u", h.image, h.image_bytes, h.text_bytes, h.entry,
			   h.private_bytes);
	}
	assert_true(passed > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_virtual),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
