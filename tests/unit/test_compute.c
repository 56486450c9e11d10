// SPDX-License-Identifier: GPL-2.0
/*
 * libvgpu's programs and dispatches, on a device that is nothing but memory: what lies in its
 * framebuffer, what packets say, what is refused; faults in words; what work-items print, from logs
 * that a hostile program has written, too.
 */
#include "vgpu_test.h"

#include "elf_file.h"
#include "libvgpu/internal.h"

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

static const struct vgpu_transport transport = { .reg_rw = reg_rw };

static int setup(void **state)
{
	struct elf_test_file file;

	dev = (struct vgpu_dev) { .transport = &transport, .name = "memory", .fb_bytes = FB_BYTES };
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
		{ "%d %d", { 1 }, 1, "1 %d" },
		{ "%n %q %*d %9999d %", { 1, 2 }, 2, "%n %q %*d %9999d %" },
		{ "%.9999d", { 1 }, 1, "%.9999d" },
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

/* Writes a record as vgpu_device.h does. */
static void put_record(struct vgpu_device_log *log, uint64_t format, const uint64_t *arg,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		log->word[(log->head + 1 + i) & (log->words - 1)] = arg[i];
	log->word[log->head & (log->words - 1)] = VGPU_DEVICE_LOG_VALID |
		nr << VGPU_DEVICE_LOG_ARGS_SHIFT | format << VGPU_DEVICE_LOG_FORMAT_SHIFT;
	log->head += 1 + nr;
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
		put_record(log, TEXT, arg, 2);
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
			elf.image[i] = "%sdf5.l\n"[random_range(&rnd, 0, 8)];
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
		TEST(dispatch),
		TEST(refused),
		TEST(explain),
		TEST(formats),
		TEST(log),
		TEST(hostile_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
