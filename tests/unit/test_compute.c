// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu's programs and dispatches, on a device that is nothing but memory: what lies in its
 * framebuffer, what packets say, what is refused; faults in words; what work-items print, from logs
 * that a hostile program has written, too.
 */
#include "vgpu_test.h"

#include "elf_file.h"
#include "libvgpu/internal.h"

/* What runs on the device, with functions beside libc's, and loads between which others run. */
static uint64_t device_load(const uint64_t *at);

#define __riscv
#define memcpy	device_memcpy
#define memmove	device_memmove
#define memcmp	device_memcmp
#define memset	device_memset
#define __atomic_load_n(at, order)	device_load(at)
#include "libvgpu/device/vgpu_device.h"
#undef __atomic_load_n
#undef memset
#undef memcmp
#undef memmove
#undef memcpy
#undef __riscv

#define FB_BYTES	(4u << 20)

static struct vgpu_dev dev;
static struct vgpu_hw_channel page;
static struct vgpu_hw_packet ring[16];
static struct vgpu_chan chan;
static struct vgpu_elf elf;
static u32 invalidated;

static int reg_rw(struct vgpu_dev *of, uint64_t offset, void *buf, size_t count, bool write)
{
	if (write && offset == VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE)
		invalidated++;
	if (!write)
		memset(buf, 0, count);
	if (offset == vgpu_chan_reg(0, VGPU_HW_CHAN_FAULT_CODE))
		memcpy(buf, &page.fault_code, count);
	if (offset == vgpu_chan_reg(0, VGPU_HW_CHAN_FAULT_ADDR))
		memcpy(buf, &page.fault_addr, count);
	return 0;
}

/* Nothing here waits. */
int vgpu_irq_wait(struct vgpu_dev *of, unsigned int vector, int timeout_ms)
{
	return -ETIMEDOUT;
}

static const struct vgpu_bus bus = { .reg_rw = reg_rw };

static int setup(void **state)
{
	struct elf_test_file file;

	dev = (struct vgpu_dev) {
		.transport = &vgpu_regs_transport, .bus = &bus, .name = "memory",
		.fb_bytes = FB_BYTES,
	};
	dev.fb = calloc(1, FB_BYTES);
	page = (struct vgpu_hw_channel) { .state = VGPU_HW_STATE_AWAKE };
	memset(ring, 0, sizeof(ring));
	chan = (struct vgpu_chan) { .dev = &dev, .order = 4, .page = &page, .ring = ring };
	elf_test_file(&file);
	return !dev.fb || vgpu_elf_parse(&elf, &file, sizeof(file));
}

static int teardown(void **state)
{
	vgpu_elf_free(&elf);
	free(dev.fb);
	return 0;
}

static void test_load(void **state)
{
	struct vgpu_program program;
	struct vgpu_hw_program *hw;
	uint64_t unused;

	invalidated = 0;
	assert_int_equal(vgpu_fb_alloc(&dev, 100, 4, &unused), 0);
	assert_int_equal(vgpu_program_load(&dev, &elf, &program), 0);
	assert_int_equal(program.image % VGPU_HW_PAGE_SIZE, 0);
	assert_int_equal(program.kernels % 64, 0);
	assert_memory_equal(dev.fb + program.image, elf.image, elf.image_bytes);
	assert_int_equal(invalidated, 1);
	hw = (struct vgpu_hw_program *)(dev.fb + program.kernels);
	assert_int_equal(hw[1].magic, VGPU_HW_PROGRAM_MAGIC);
	assert_int_equal(hw[1].image, program.image);
	assert_int_equal(hw[1].image_bytes, 40);
	assert_int_equal(hw[1].text_bytes, 24);
	assert_int_equal(hw[1].entry, 16);
	assert_int_equal(hw[0].private_bytes, 1024);
	dev.fb_next = FB_BYTES - 64;
	assert_int_equal(vgpu_program_load(&dev, &elf, &program), -ENOSPC);
}

static void test_dispatch(void **state)
{
	struct vgpu_program program;
	struct vgpu_launch launch = {
		.program = &program, .kernel = &elf.kernel[1], .args = 4096,
		.grid = { 1000, 7, ~0u }, .local_bytes = 20,
	};

	assert_int_equal(vgpu_program_load(&dev, &elf, &program), 0);
	vgpu_launch_group(&launch);
	assert_int_equal(vgpu_chan_dispatch(&chan, &launch), 0);
	assert_int_equal(page.put, 1);
	assert_int_equal(ring[0].type, VGPU_HW_PKT_DISPATCH);
	assert_int_equal(ring[0].dst, program.kernels + sizeof(struct vgpu_hw_program));
	assert_int_equal(ring[0].src, 4096);
	assert_int_equal(ring[0].grid[0], 1000);
	assert_int_equal(ring[0].grid[1], 7);
	assert_int_equal(ring[0].grid[2], ~0u);
	assert_int_equal(ring[0].group[0], 256);
	assert_int_equal(ring[0].group[1] | ring[0].group[2], 1);
	/* The program's own 100 bytes, rounded up to 16, come first. */
	assert_int_equal(ring[0].local_bytes, 112 + 20);
	assert_int_equal(vgpu_local_address(&elf, 4), VGPU_HW_VA_LOCAL + 112 + 4);
	assert_int_equal(ring[0].signal_addr | ring[0].signal_value | ring[0].flags, 0);
}

/* In an address space, addresses are those at which programs find what was mapped. */
/* A device that says it has completed more than there was. */
static void test_hostile_get(void **state)
{
	struct vgpu_hw_packet nop = { .type = VGPU_HW_PKT_NOP };

	assert_int_equal(vgpu_chan_submit(&chan, &nop, 1), 0);
	page.get = htole64(2);
	assert_int_equal(vgpu_chan_submit(&chan, &nop, 1), -EPROTO);
	assert_string_equal(vgpu_dev_error(&dev),
			    "memory: channel 0 has completed 2 packets of 1");
	page.get = htole64(1);
	assert_int_equal(vgpu_chan_submit(&chan, &nop, 1), 0);
}

static void test_space(void **state)
{
	struct vgpu_program program, other;
	struct vgpu_launch launch = {
		.program = &program, .kernel = &elf.kernel[0], .args = 3 * 4096,
		.grid = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	struct vgpu_hw_program *hw;
	uint64_t *entry, data;

	assert_int_equal(vgpu_space_create(&dev, &chan.space), 0);
	assert_int_equal(vgpu_program_load_in(chan.space, &elf, &program), 0);
	entry = vgpu_space_entry(chan.space, VGPU_HW_VA_GLOBAL + program.image, 0);
	assert_int_equal(*entry, program.image / 4096 << VGPU_HW_PTE_PAGE_SHIFT | VGPU_HW_PTE_V |
			 VGPU_HW_PTE_R | VGPU_HW_PTE_X);
	hw = (struct vgpu_hw_program *)(dev.fb + program.kernels);
	assert_int_equal(hw->image, VGPU_HW_VA_GLOBAL + program.image);
	/* Nothing else comes to be in a page of the program. */
	assert_int_equal(vgpu_fb_alloc(&dev, 8, 8, &data), 0);
	assert_true(data / 4096 > program.kernels / 4096);
	assert_int_equal(vgpu_space_map_fb(chan.space, data + 100, 4096, VGPU_HW_PTE_R), 0);
	assert_true(*vgpu_space_entry(chan.space, VGPU_HW_VA_GLOBAL + data, 0));
	assert_true(*vgpu_space_entry(chan.space, VGPU_HW_VA_GLOBAL + data + 4096, 0));
	assert_false(*vgpu_space_entry(chan.space, VGPU_HW_VA_GLOBAL + data + 8192, 0));
	assert_int_equal(vgpu_chan_dispatch(&chan, &launch), 0);
	assert_int_equal(ring[0].dst, VGPU_HW_VA_GLOBAL + program.kernels);
	assert_int_equal(ring[0].src, VGPU_HW_VA_GLOBAL + 3 * 4096);
	assert_int_equal(vgpu_program_load(&dev, &elf, &other), 0);
	launch.program = &other;
	assert_int_equal(vgpu_chan_dispatch(&chan, &launch), -EINVAL);
	assert_non_null(strstr(dev.error, "in another address space than channel 0"));
	vgpu_space_destroy(chan.space);
}

/* Tables that a program has written over lead nowhere. */
static void test_broken_space(void **state)
{
	const uint64_t va = VGPU_HW_VA_GLOBAL;
	uint64_t *entry;
	unsigned int level;

	for (level = 1; level < 3; level++) {
		assert_int_equal(vgpu_space_create(&dev, &chan.space), 0);
		assert_int_equal(vgpu_space_map_fb(chan.space, 0, 4096, VGPU_HW_PTE_R), 0);
		entry = vgpu_space_entry(chan.space, va, level);
		*entry = (uint64_t)FB_BYTES / 4096 << VGPU_HW_PTE_PAGE_SHIFT | VGPU_HW_PTE_V;
		assert_null(vgpu_space_entry(chan.space, va, 0));
		assert_int_equal(vgpu_space_map_fb(chan.space, 0, 4096, VGPU_HW_PTE_R), -EIO);
		assert_non_null(strstr(dev.error, "page table at page 0x400: framebuffer has 0x400"));
		*entry = ~(uint64_t)(VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X);
		assert_int_equal(vgpu_space_unmap(chan.space, va, 4096), -EIO);
		vgpu_space_destroy(chan.space);
	}
}

static void test_refused(void **state)
{
	static const struct {
		u32 grid[3];
		u32 group[3];
		u32 local_bytes;
		const char *said;
	} cases[] = {
		{ { 0, 1, 1 }, { 1, 1, 1 }, 0, "is empty" },
		{ { 1, 1, 1 }, { 1, 0, 1 }, 0, "is empty" },
		{ { 1, 1, 1 }, { 1025, 1, 1 }, 0, "at most 1024" },
		{ { 1, 1, 1 }, { 33, 32, 1 }, 0, "at most 1024" },
		{ { 1, 1, 1 }, { ~0u, ~0u, ~0u }, 0, "at most 1024" },
		{ { 1, 1, 1 }, { 1, 1, 1 }, VGPU_HW_LOCAL_MAX - 111, "65537 bytes" },
		{ { 1, 1, 1 }, { 1, 1, 1 }, ~0u, "bytes of memory of the work-group" },
	};
	struct vgpu_program program;
	struct vgpu_launch launch = { .program = &program, .kernel = &elf.kernel[0] };
	unsigned int i;

	assert_int_equal(vgpu_program_load(&dev, &elf, &program), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(launch.grid, cases[i].grid, sizeof(launch.grid));
		memcpy(launch.group, cases[i].group, sizeof(launch.group));
		launch.local_bytes = cases[i].local_bytes;
		assert_int_equal(vgpu_chan_dispatch(&chan, &launch), -EINVAL);
		check_that(strstr(dev.error, cases[i].said), "case %u: %s", i, dev.error);
	}
	elf.kernel[0].private_bytes = VGPU_HW_PRIVATE_MAX;
	launch.local_bytes = 0;
	launch.grid[0] = 200;
	launch.group[0] = 129;
	assert_int_equal(vgpu_chan_dispatch(&chan, &launch), -EINVAL);
	assert_non_null(strstr(dev.error, "at most 128 work-items"));
	vgpu_launch_group(&launch);
	assert_int_equal(launch.group[0], 128);
	assert_int_equal(vgpu_chan_dispatch(&chan, &launch), 0);
}

static void test_explain(void **state)
{
	char text[128];

	assert_int_equal(vgpu_chan_explain(&chan, &elf, text, sizeof(text)), -ENOENT);
	page.fault_code = VGPU_HW_FAULT_PAGE;
	page.fault_addr = 0x1234;
	page.fault_pc = VGPU_HW_VA_IMAGE + 20;
	page.fault_id[0] = 7;
	page.fault_id[2] = 3;
	assert_int_equal(vgpu_chan_explain(&chan, &elf, text, sizeof(text)), 0);
	assert_string_equal(text,
			    "page fault in second+0x4 (pc 0x10014), address 0x1234, work-item 7,0,3");
	page.fault_pc = VGPU_HW_VA_IMAGE + 12;
	assert_int_equal(vgpu_chan_explain(&chan, &elf, text, sizeof(text)), 0);
	assert_string_equal(text, "page fault (pc 0x1000c), address 0x1234, work-item 7,0,3");
	page.fault_code = VGPU_HW_FAULT_GRID;
	page.fault_pc = 0;
	assert_int_equal(vgpu_chan_explain(&chan, &elf, text, sizeof(text)), 0);
	assert_string_equal(text, "grid fault at packet 0, address 0x1234");
}

/* ---- the log ---- */

/* The words of a double, and of the constant of elf_file.c. */
static const double number = 1.5;
#define TEXT	(VGPU_HW_VA_IMAGE + 24)
#define DOUBLE	0x3ff8000000000000ull

static void test_formats(void **state)
{
	static const struct {
		const char *format;
		uint64_t arg[2];
		unsigned int nr;
		const char *text;
	} cases[] = {
		{ "none", {}, 0, "none" },
		{ "%d %i", { (uint64_t)-5, 7 }, 2, "-5 7" },
		{ "%u %x", { (uint64_t)-1, (uint64_t)-1 }, 2, "4294967295 ffffffff" },
		{ "%lu %llx", { (uint64_t)-1, (uint64_t)-1 }, 2,
		  "18446744073709551615 ffffffffffffffff" },
		{ "%ld|%zu", { (uint64_t)-2, 3 }, 2, "-2|3" },
		{ "[%5d][%-4x]", { 42, 0xab }, 2, "[   42][ab  ]" },
		{ "%s, %c", { TEXT, 'z' }, 2, "a constant, z" },
		{ "%.3s", { TEXT }, 1, "a c" },
		{ "%s", { 4 }, 1, "(no constant)" },
		{ "100%% %d", { 1 }, 1, "100% 1" },
		{ "%d %d %d", { 1 }, 1, "1 (%d: no argument) (%d: no argument)" },
		{ "%hd %hu", { 0x18000, 0x18000 }, 2, "-32768 32768" },
		{ "%hhd %hhx", { 0x1ff, 0x1ff }, 2, "-1 ff" },
		{ "%lld %lu", { 1ull << 40, 1ull << 40 }, 2, "1099511627776 1099511627776" },
		{ "%jd %tx", { (uint64_t)-3, 1ull << 63 }, 2, "-3 8000000000000000" },
		{ "%p %-8p|", { 0x100000000, 0x10 }, 2, "0x100000000 0x10    |" },
		{ "[%*d]", { 5, 42 }, 2, "[   42]" },
		{ "[%*d]", { (uint64_t)-5, 42 }, 2, "[42   ]" },
		{ "[%.*s]", { 3, TEXT }, 2, "[a c]" },
		{ "[%.*s]", { (uint64_t)-1, TEXT }, 2, "[a constant]" },
		{ "[%*.1f]", { 4, DOUBLE }, 2, "[ 1.5]" },
		{ "[%05.0lf]", { DOUBLE }, 1, "[00002]" },
		{ "[%*d] %d", { 5 }, 1, "[(%*d: no argument)] (%d: no argument)" },
		{ "[%.d]", { 0 }, 1, "[]" },
		{ "[%*9999999999d]", { (uint64_t)-5, 42 }, 2, "[(%*9999999999d: not known here)]" },
		{ "%n%d", { 4096, 2 }, 2, "(%n: not known here)2" },
		{ "%Lf %d", { 1, 2 }, 2, "(%Lf: not known here) 2" },
		{ "%ls %lc %1$d", { 1, 2 }, 2,
		  "(%ls: not known here) (%lc: not known here) (%1$d: not known here)" },
		{ "%hf %hs", { 1, 2 }, 2, "(%hf: not known here) (%hs: not known here)" },
		{ "%q", { 1, 2 }, 2, "(%q: not known here)" },
		{ "%9999d %", { 1, 2 }, 2, "(%9999d: not known here) (%: not known here)" },
		{ "%.9999d", { 1 }, 1, "(%.9999d: not known here)" },
		{ "%------d", { 1 }, 1, "(%------d: not known here)" },
	};
	char *text;
	size_t bytes;
	unsigned int i;
	FILE *out;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		out = open_memstream(&text, &bytes);
		vgpu_log_format(&elf, cases[i].format, cases[i].arg, cases[i].nr, out);
		fclose(out);
		check_that(!strcmp(text, cases[i].text), "case %u: \"%s\"", i, text);
		free(text);
	}
}

#define FORMAT	((const char *)(uintptr_t)TEXT)

/* What happens before the log's tail is loaded next. */
static struct vgpu_device_log *raced;
static void (*race)(void);

static uint64_t device_load(const uint64_t *at)
{
	void (*now)(void) = race;

	if (now && at == &raced->tail) {
		race = NULL;
		now();
	}
	return *at;
}

static void test_log(void **state)
{
	struct vgpu_device_log *log;
	uint64_t offset, lost, arg[2] = { TEXT };
	unsigned int i, now, records = 0;
	char *text;
	size_t bytes;
	FILE *out;

	assert_int_equal(vgpu_log_alloc(&dev, &offset), 0);
	log = (struct vgpu_device_log *)(dev.fb + offset);
	memcpy(&arg[1], &number, sizeof(number));
	/* A format in the image. */
	memcpy(elf.image + 24, "%s %g\n", 7);
	out = open_memstream(&text, &bytes);
	assert_int_equal(vgpu_log_print(&dev, offset, &elf, out, &lost), 0);
	for (i = 0; i < VGPU_LOG_WORDS; i++) {
		vgpu_log_write(log, FORMAT, arg, 2);
		if (i % 1000 == 0)
			while ((now = vgpu_log_print(&dev, offset, &elf, out, &lost)))
				records += now;
	}
	while ((now = vgpu_log_print(&dev, offset, &elf, out, &lost)))
		records += now;
	assert_int_equal(records, VGPU_LOG_WORDS);
	assert_int_equal(log->tail, log->head);
	assert_int_equal(lost, 0);
	log->lost = 5;
	assert_int_equal(vgpu_log_print(&dev, offset, &elf, out, &lost), 0);
	assert_int_equal(lost, 5);
	fclose(out);
	assert_int_equal(bytes, 11 * VGPU_LOG_WORDS);
	for (i = 0; i < VGPU_LOG_WORDS; i++)
		assert_memory_equal(text + 11 * i, "%s %g\n 1.5\n", 11);
	free(text);
}

static void write_record(void)
{
	vgpu_log_write(raced, FORMAT, NULL, 0);
}

/* Others fill the log. */
static void write_all(void)
{
	while (raced->head - raced->tail < raced->words)
		write_record();
}

/* Others fill it, and the host prints that. */
static void write_and_print(void)
{
	uint64_t lost, offset = (uint8_t *)raced - dev.fb;
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	write_all();
	while (vgpu_log_print(&dev, offset, &elf, out, &lost))
		;
	fclose(out);
}

/* A record is lost if the log is full, not if the log was read between two looks at it. */
static void test_log_race(void **state)
{
	uint64_t offset;

	assert_int_equal(vgpu_log_alloc(&dev, &offset), 0);
	raced = (struct vgpu_device_log *)(dev.fb + offset);
	race = write_and_print;
	write_record();
	assert_int_equal(raced->lost, 0);
	assert_int_equal(raced->head, VGPU_LOG_WORDS + 1);
	assert_int_equal(raced->tail, VGPU_LOG_WORDS);
	race = write_all;
	write_record();
	assert_int_equal(raced->lost, 1);
	assert_int_equal(raced->head, 2 * VGPU_LOG_WORDS);
}

/* Whatever is in a log, printing it ends. */
static void test_hostile_log(void **state)
{
	uint64_t offset, lost;
	u64 rnd = test_seed();
	FILE *out = fopen("/dev/null", "w");
	struct vgpu_device_log *log;
	unsigned int round, i, now, records = 0;

	assert_non_null(out);
	assert_int_equal(vgpu_log_alloc(&dev, &offset), 0);
	log = (struct vgpu_device_log *)(dev.fb + offset);
	for (round = 0; round < 5; round++) {
		log->head = random_next(&rnd);
		log->tail = random_next(&rnd);
		log->words = random_next(&rnd);
		for (i = 0; i < VGPU_LOG_WORDS; i++)
			log->word[i] = (random_next(&rnd) & 0xffff) | VGPU_DEVICE_LOG_VALID |
				(VGPU_HW_VA_IMAGE + random_range(&rnd, 0, elf.image_bytes)) << 32;
		for (i = 0; i < elf.image_bytes; i++)
			elf.image[i] = "%sdf5.*hln"[random_range(&rnd, 0, 10)];
		while ((now = vgpu_log_print(&dev, offset, &elf, out, &lost)))
			records += now;
	}
	assert_true(records > VGPU_LOG_WORDS / (1 + VGPU_DEVICE_LOG_ARGS_MAX));
	fclose(out);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(load),
		TEST(dispatch), TEST(hostile_get),
		TEST(space),
		TEST(broken_space),
		TEST(refused),
		TEST(explain),
		TEST(formats),
		TEST(log),
		TEST(log_race),
		TEST(hostile_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
