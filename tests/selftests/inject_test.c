// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection (inject.h) into operations on a vGPU: creating, opening, mapping, setting up,
 * resetting and removing it.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "bus.h"
#include "child.h"
#include "inject.h"

#define AT		INJECT_AT

static struct fx_vgpu v;
static uint8_t *map;
static uint8_t bytes[3 * 4096];
static ssize_t moved;

static bool exists(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s", v.uuid);
	return !access(path, F_OK);
}

/* Create */

static void create_prepare(void)
{
	if (!v.uuid[0])
		fx_new_uuid(&v);
}

static int create_run(void)
{
	return fx_try_create(&v, "1Q");
}

static void create_check(int ret, bool hit)
{
	static unsigned int nr;

	if (ret) {
		CHECK(!exists(), "it exists after %s", strerror(-ret));
		inject_check_counts(0);
		return;
	}
	CHECK(exists(), "it does not exist");
	inject_check_counts(1);
	if (!hit || ++nr % 8 == 0) {
		fx_open(&v);
		inject_full_run(&v);
		fx_close(&v);
	}
	fx_remove(&v);
	inject_check_counts(0);
}

static void create(void)
{
	static const struct inject_op op = {
		.name = "create", .prepare = create_prepare,
		.run = create_run, .check = create_check,
	};

	inject_need();
	memset(&v, 0, sizeof(v));
	inject(&op);
}

/* Remove */

static void remove_prepare(void)
{
	if (!v.created)
		CHECK_EQ(fx_try_create(&v, "1Q"), 0);
}

static int remove_run(void)
{
	return fx_try_remove(&v);
}

static void remove_check(int ret, bool hit)
{
	(void)hit;
	CHECK_EQ(exists(), ret != 0);
	inject_check_counts(ret != 0);
}

static void remove_created(void)
{
	static const struct inject_op op = {
		.name = "remove", .prepare = remove_prepare,
		.run = remove_run, .check = remove_check,
	};

	inject_need();
	memset(&v, 0, sizeof(v));
	inject(&op);
}

/* Open: group, container, device, regions, mappings, first registers. */

static int open_run(void)
{
	return vgpu_dev_open_vfio(&v.dev, v.uuid);
}

static void open_check(int ret, bool hit)
{
	struct vgpu_ctl_instance inst;

	if (ret) {
		v.dev = NULL;
		fx_instance(&v, &inst);
		CHECK_EQ(inst.state, VGPU_STATE_CREATED);
		CHECK_EQ(inst.fb_backed_bytes, 0);
		return;
	}
	if (!hit)
		inject_full_run(&v);
	fx_close(&v);
}

static void open_device(void)
{
	static const struct inject_op op = {
		.name = "open", .run = open_run, .check = open_check,
	};

	inject_need();
	fx_create(&v, "1Q");
	inject(&op);
}

/* Map and touch, after a reset each time */

static void reset_device(void)
{
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
}

static int touch_run_bar(unsigned int bar, uint64_t offset)
{
	map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, v.dev->fd,
		   (off_t)(v.dev->region[bar].offset + offset));
	if (map == MAP_FAILED) {
		map = NULL;
		return -errno;
	}
	return bus_write(map + 4096, 0x42) ? 0 : -EFAULT;
}

static int touch_fb_run(void)
{
	return touch_run_bar(VGPU_HW_BAR_FB, AT);
}

static int touch_channel_run(void)
{
	/* The device does not use the second half of a channel page. */
	return touch_run_bar(VGPU_HW_BAR_CHANNELS, 0);
}

static void touch_check(int ret, bool hit)
{
	(void)hit;
	if (!ret)
		CHECK_EQ(map[4096], 0x42);
	if (map) {
		/* Without faults the memory can be touched, however the try ended. */
		map[8192] = 1;
		CHECK_EQ(map[12288], 0);
		munmap(map, 65536);
	}
	map = NULL;
	inject_full_run(&v);
}

static void map_and_touch(void)
{
	static const struct inject_op ops[] = {
		{ "touch framebuffer", reset_device, touch_fb_run, touch_check },
		{ "touch channel page", reset_device, touch_channel_run, touch_check },
	};

	inject_need();
	fx_create_open(&v, "1Q");
	bus_catch();
	inject(&ops[0]);
	inject(&ops[1]);
	bus_release();
}

/* A host without memory: the touch waits for memory, and there is no SIGBUS. */

#define SHORT_MS	300
#define TABLE_BYTES	(2 * (uintptr_t)FX_MIB)	/* of addresses, in a page table */

static volatile bool *short_begun;

/*
 * A process that has forked, or was forked, gets a new page where it writes next, and there is none
 * in a shortage. So it writes before to all that it will write to.
 */
static void rehearse(char *kind)
{
	pid_t self = gettid();

	inject_shortage(kind, &self, 0);
	inject_plenty(kind, &self, 1);
	(void)clk_ms();
}

/*
 * Touches framebuffer, so that there is a page table, and returns where there is no page yet in the
 * same table: the kernel itself allocates tables, and that may fail.
 */
static volatile uint8_t *begin_table(void)
{
	uintptr_t at = ((uintptr_t)v.dev->fb + AT + TABLE_BYTES - 1) & ~(TABLE_BYTES - 1);

	*(volatile uint8_t *)at = 1;
	return (volatile uint8_t *)at + TABLE_BYTES / 2;
}

static void end_shortage(void *arg)
{
	while (!*short_begun)
		clk_sleep_ms(1);
	clk_sleep_ms(SHORT_MS);
	inject_plenty(arg, NULL, 0);
}

static void touch_waits_for_memory(void)
{
	static char kind[] = "fail_page_alloc";
	pid_t self = gettid(), pid;
	volatile uint8_t *there;
	uint64_t begun_ms;
	int status;

	inject_need();
	fx_create_open(&v, "1Q");
	short_begun = child_shared(sizeof(*short_begun));
	there = begin_table();
	pid = child_start(end_shortage, kind);
	rehearse(kind);
	inject_shortage(kind, &self, 1);
	begun_ms = clk_ms();
	*short_begun = true;
	*there = 0x42;
	CHECK(clk_ms() - begun_ms >= SHORT_MS - 1, "there was memory");
	inject_plenty(kind, &self, 1);
	CHECK_EQ(*there, 0x42);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "does not end");
	inject_full_run(&v);
}

/*
 * Another process reads a VM's framebuffer, as KVM's kthreads and debuggers do, and the host has no
 * memory for it: it waits no longer than the VM lives, whose end waits for it.
 */

static volatile bool *vm_ready, *read_begun;
static pid_t vm;

static void be_vm(void *arg)
{
	(void)arg;
	begin_table();
	*vm_ready = true;
	for (;;)
		pause();
}

static void read_vm(void *arg)
{
	pid_t self = gettid();
	volatile uint8_t *there = begin_table();
	int status, error;
	long word;

	CHECK(!ptrace(PTRACE_SEIZE, vm, NULL, NULL), "%s", strerror(errno));
	CHECK(!ptrace(PTRACE_INTERRUPT, vm, NULL, NULL), "%s", strerror(errno));
	CHECK_EQ(waitpid(vm, &status, __WALL), vm);
	rehearse(arg);
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, vm, there - TABLE_BYTES / 2, NULL);
	CHECK(word == 1 && !errno, "%#lx, %s", word, strerror(errno));
	inject_shortage(arg, &self, 1);
	*read_begun = true;
	word = ptrace(PTRACE_PEEKDATA, vm, there, NULL);
	error = errno;
	inject_plenty(arg, &self, 1);
	CHECK(word == -1 && error, "%#lx, %s", word, strerror(error));
}

static void touch_for_a_killed_vm_ends(void)
{
	static char kind[] = "fail_page_alloc";
	int status = 0;
	pid_t reader;

	inject_need();
	fx_create_open(&v, "1Q");
	vm_ready = child_shared(sizeof(*vm_ready));
	read_begun = child_shared(sizeof(*read_begun));
	vm = child_start(be_vm, NULL);
	while (!*vm_ready)
		clk_sleep_ms(1);
	reader = child_start(read_vm, kind);
	while (!*read_begun)
		clk_sleep_ms(1);
	CHECK(!child_ends(reader, SHORT_MS, &status), "it does not wait for memory");
	CHECK(!kill(vm, SIGKILL), "%s", strerror(errno));
	CHECK(child_ends(reader, FX_TIMEOUT_MS, &status), "it waits for a VM that is no more");
	child_kill(vm);
	CHECK_EQ(status, 0);
	inject_full_run(&v);
}

/* Registers */

static void enable_prepare(void)
{
	reset_device();
	FX_OK(v.dev, vgpu_reg_write64(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_RING), AT));
}

static int enable_run(void)
{
	return vgpu_reg_write32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_CTRL), VGPU_HW_CTRL_ENABLE |
				1 << VGPU_HW_CTRL_ENGINE_SHIFT | 4 << VGPU_HW_CTRL_ORDER_SHIFT);
}

static void enable_check(int ret, bool hit)
{
	uint32_t state, code;

	FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_STATE), &state));
	FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_FAULT_CODE), &code));
	if (ret) {
		CHECK_EQ(state, VGPU_HW_STATE_DISABLED);
	} else if (state == VGPU_HW_STATE_FAULTED) {
		CHECK(hit, "a fault from nowhere");
		CHECK_EQ(code, VGPU_HW_FAULT_MEMORY);
	} else {
		CHECK_EQ(state, VGPU_HW_STATE_SLEEPING);
	}
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_CTRL), 0));
	inject_full_run(&v);
}

static void channel_enable(void)
{
	static const struct inject_op op = {
		"channel enable", enable_prepare, enable_run, enable_check,
	};

	inject_need();
	fx_create_open(&v, "1Q");
	inject(&op);
}

static int irqs_run(void)
{
	return vgpu_irq_enable(v.dev, 4);
}

static void irqs_check(int ret, bool hit)
{
	(void)hit;
	if (ret)
		FX_OK(v.dev, vgpu_irq_enable(v.dev, 4));
	inject_full_run(&v);
	FX_OK(v.dev, vgpu_irq_disable(v.dev));
}

static void interrupts(void)
{
	static const struct inject_op op = {
		"set irqs", NULL, irqs_run, irqs_check,
	};

	inject_need();
	fx_create_open(&v, "1Q");
	inject(&op);
}

/* Trapped accesses to framebuffer: bytes that were not written are as they were. */

static int write_run(void)
{
	memset(bytes, 0x66, sizeof(bytes));
	moved = vgpu_region_write(v.dev, 0, AT + 100, bytes, sizeof(bytes));
	if (moved < 0)
		return (int)moved;
	return moved == sizeof(bytes) ? 0 : -EIO;
}

static void write_check(int ret, bool hit)
{
	size_t done = moved > 0 ? (size_t)moved : 0, i;

	(void)ret;
	(void)hit;
	CHECK_EQ(vgpu_region_read(v.dev, 0, AT + 100, bytes, sizeof(bytes)), sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++)
		CHECK_EQ(bytes[i], i < done ? 0x66 : 0, "byte %zu of %zu", i, done);
}

static void read_prepare(void)
{
	reset_device();
	write_run();
}

static int read_run(void)
{
	memset(bytes, 0, sizeof(bytes));
	moved = vgpu_region_read(v.dev, 0, AT + 100, bytes, sizeof(bytes));
	if (moved < 0)
		return (int)moved;
	return moved == sizeof(bytes) ? 0 : -EIO;
}

static void read_check(int ret, bool hit)
{
	ssize_t i;

	(void)ret;
	(void)hit;
	for (i = 0; i < moved; i++)
		CHECK_EQ(bytes[i], 0x66);
}

static void trapped_access(void)
{
	static const struct inject_op ops[] = {
		{ "trapped write", reset_device, write_run, write_check },
		{ "trapped read", read_prepare, read_run, read_check },
	};

	inject_need();
	fx_create_open(&v, "1Q");
	inject(&ops[0]);
	inject(&ops[1]);
}

static int reset_run(void)
{
	return ioctl(v.dev->fd, VFIO_DEVICE_RESET) ? -errno : 0;
}

static void reset_prepare(void)
{
	reset_device();
	memset(v.dev->fb + AT, 0xff, 4096);
}

static void reset_check(int ret, bool hit)
{
	(void)hit;
	/* Callers do not look whether a reset has failed: so it must not need memory. */
	CHECK_EQ(ret, 0);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	CHECK(fx_is_zero(v.dev->fb + AT, 4096), "memory after reset");
	inject_full_run(&v);
}

static void reset(void)
{
	static const struct inject_op op = {
		"reset", reset_prepare, reset_run, reset_check,
	};

	inject_need();
	fx_create_open(&v, "1Q");
	inject(&op);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(create),
	KTAP_TEST(remove_created),
	KTAP_TEST(open_device),
	KTAP_TEST(map_and_touch),
	KTAP_TEST(touch_waits_for_memory),
	KTAP_TEST(touch_for_a_killed_vm_ends),
	KTAP_TEST(channel_enable),
	KTAP_TEST(interrupts),
	KTAP_TEST(trapped_access),
	KTAP_TEST(reset),
};

INJECT_MAIN(tests)
