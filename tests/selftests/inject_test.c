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

/*
 * A host without memory. A process that is short of it can do nothing but wait: each file that it
 * opens wants some, and each page that it writes to for the first time since the fork. So that
 * process is not the test, which begins the shortage and ends it, and it has done before all that
 * it will do in the shortage.
 */

#define SHORT_FAULTS	10	/* repeated ones, by which a process is seen to wait */
#define TABLE_BYTES	(2 * (uintptr_t)FX_MIB)	/* of addresses, in a page table */

static char short_kind[] = "fail_page_alloc";

static struct short_state {
	volatile bool vm_ready, ready, go, done;
	volatile long word;
	volatile int error;
} *sh;

static bool short_wait(const volatile bool *what, int timeout_ms)
{
	uint64_t end = clk_ms() + (uint64_t)timeout_ms;

	while (!*what) {
		if (clk_ms() > end)
			return false;
		clk_sleep_ms(1);
	}
	return true;
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

static void short_begin(void)
{
	inject_need();
	fx_create_open(&v, "1Q");
	sh = child_shared(sizeof(*sh));
	memset(sh, 0, sizeof(*sh));
}

/* The process that is to be short: waits for the shortage, having rehearsed what it does in it. */
static void short_enter(void)
{
	/* What short_wait() may do later, and perhaps does not now. */
	clk_ms();
	clk_sleep_ms(1);
	short_wait(&sh->go, 2);
	sh->ready = true;
	short_wait(&sh->go, FX_TIMEOUT_MS);
}

static void short_leave(void)
{
	sh->done = true;
	for (;;)
		clk_sleep_ms(1);
}

/* The page faults of a process that have succeeded, or are to be repeated. */
static unsigned long short_faults(pid_t pid)
{
	unsigned long faults;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	CHECK(f, "%s: %s", path, strerror(errno));
	CHECK_EQ(fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu", &faults), 1);
	fclose(f);
	return faults;
}

/* Lets a process go on, for which there is no memory: the driver is to have it wait for some. */
static void short_run(pid_t pid)
{
	unsigned long before;

	CHECK(short_wait(&sh->ready, FX_TIMEOUT_MS), "the process that is to be short ends");
	inject_shortage(short_kind, &pid, 1);
	before = short_faults(pid);
	sh->go = true;
	/* Where the kernel has no memory for it, the fault fails: only the driver repeats it. */
	FX_SOON(sh->done || short_faults(pid) > before + SHORT_FAULTS, "it does not wait in the driver");
	CHECK(!sh->done, "it does not wait for memory");
}

static void touch_short(void *arg)
{
	volatile uint8_t *there = begin_table();

	(void)arg;
	short_enter();
	*there = 0x42;
	short_leave();
}

/* The touch waits for memory, and there is no SIGBUS. */
static void touch_waits_for_memory(void)
{
	pid_t pid;

	short_begin();
	pid = child_start(touch_short, NULL);
	short_run(pid);
	inject_plenty(short_kind, &pid, 1);
	CHECK(short_wait(&sh->done, FX_TIMEOUT_MS), "it was killed, or still waits");
	CHECK_EQ(*begin_table(), 0x42);
	child_kill(pid);
	inject_full_run(&v);
}

/*
 * Another process reads a VM's framebuffer, as KVM's kthreads and debuggers do, and the host has no
 * memory for it: it waits no longer than the VM lives, whose end waits for it.
 */

static pid_t vm;

static void be_vm(void *arg)
{
	(void)arg;
	begin_table();
	sh->vm_ready = true;
	for (;;)
		pause();
}

static void read_short(void *arg)
{
	volatile uint8_t *there = begin_table();
	int status;
	long word;

	(void)arg;
	CHECK(!ptrace(PTRACE_SEIZE, vm, NULL, NULL), "%s", strerror(errno));
	CHECK(!ptrace(PTRACE_INTERRUPT, vm, NULL, NULL), "%s", strerror(errno));
	CHECK_EQ(waitpid(vm, &status, __WALL), vm);
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, vm, there - TABLE_BYTES / 2, NULL);
	CHECK(word == 1 && !errno, "%#lx, %s", word, strerror(errno));
	short_enter();
	sh->word = ptrace(PTRACE_PEEKDATA, vm, there, NULL);
	sh->error = errno;
	short_leave();
}

static void touch_for_a_killed_vm_ends(void)
{
	pid_t reader;

	short_begin();
	vm = child_start(be_vm, NULL);
	CHECK(short_wait(&sh->vm_ready, FX_TIMEOUT_MS), "the VM ends");
	reader = child_start(read_short, NULL);
	short_run(reader);
	CHECK(!kill(vm, SIGKILL), "%s", strerror(errno));
	CHECK(short_wait(&sh->done, FX_TIMEOUT_MS), "it waits for a VM that is no more");
	inject_plenty(short_kind, &reader, 1);
	CHECK(sh->word == -1 && sh->error, "%#lx, %s", sh->word, strerror(sh->error));
	child_kill(reader);
	child_kill(vm);
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
