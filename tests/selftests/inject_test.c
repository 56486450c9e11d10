// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: the Nth allocation (or user copy) of an operation fails, for
 * N = 1, 2, ... until it gets through. It then fails as a whole, and may be
 * tried again, or succeeds as a whole. Needs a kernel with /proc/<pid>/fail-nth.
 *
 * VGPU_TEST_INJECT_MS: of each operation; when it has passed, the distance
 * between the points tried grows (3000).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "fixture.h"

#define DEBUGFS		"/sys/kernel/debug"
#define DRIVER		"/sys/bus/pci/drivers/vgpu_soft"
#define AT		(8 * FX_MIB)
#define BYTES		(128 * 1024)

static struct fx_vgpu v;
static unsigned int at_first;	/* available when nothing is there */
static struct vgpu_chan *chan;
static struct vgpu_buf buf;
static uint8_t *map;
static uint8_t bytes[3 * 4096];
static ssize_t moved;

/*
 * VFIO's vfio_create_group() warns in its own error path, about a group that it
 * drops with an IOMMU group in it (seen in 6.12). None of our code is below it:
 * no fault there. Finds the function, or the one that it has been inlined into.
 */
static bool find_vfio_group(unsigned long long *start, unsigned long long *end)
{
	unsigned long long at;
	char line[512], name[256];
	FILE *f;

	f = fopen("/proc/kallsyms", "re");
	CHECK(f, "/proc/kallsyms: %s", strerror(errno));
	*start = 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &at, name) == 2 &&
		    (!strcmp(name, "vfio_create_group") ||
		     (!*start && !strcmp(name, "vfio_device_set_group"))))
			*start = at;
	*end = ~0ull;
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx", &at) == 1 && at > *start && at < *end)
			*end = at;
	fclose(f);
	return *start;
}

static void need_fail_nth(void)
{
	static const char * const kinds[] = {
		"failslab", "fail_page_alloc", "fail_usercopy"
	};
	unsigned long long start, end;
	char path[128], text[32];
	static bool set;
	unsigned int i;

	fx_gpu();
	fx_need_no_quarantine();
	if (set)
		return;
	set = true;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		/* Not all kinds have all of these. */
		snprintf(path, sizeof(path), DEBUGFS "/%s/verbose", kinds[i]);
		CHECK(!fx_write_file(path, "0"), "%s", path);
		snprintf(path, sizeof(path), DEBUGFS "/%s/ignore-gfp-wait",
			 kinds[i]);
		fx_write_file(path, "N");
		snprintf(path, sizeof(path), DEBUGFS "/%s/ignore-gfp-highmem",
			 kinds[i]);
		fx_write_file(path, "N");
		snprintf(path, sizeof(path), DEBUGFS "/%s/min-order",
			 kinds[i]);
		fx_write_file(path, "0");
		if (!find_vfio_group(&start, &end))
			continue;
		snprintf(path, sizeof(path), DEBUGFS "/%s/reject-start",
			 kinds[i]);
		snprintf(text, sizeof(text), "%#llx", start);
		fx_write_file(path, text);
		snprintf(path, sizeof(path), DEBUGFS "/%s/reject-end",
			 kinds[i]);
		snprintf(text, sizeof(text), "%#llx", end);
		fx_write_file(path, text);
	}
	at_first = fx_available("1Q");
}

/* A file of a task: written, the task's Nth from now on fails. */
static int open_nth(pid_t pid)
{
	char path[64];
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid);
	else
		strcpy(path, "/proc/thread-self/fail-nth");
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

static void arm(int fd, unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	CHECK_EQ(pwrite(fd, text, (size_t)n, 0), n);
}

/* Whether it came to that. */
static bool disarm(int fd)
{
	char text[16] = "";

	while (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		;
	while (pwrite(fd, "0", 1, 0) != 1)
		;
	return text[0] == '0';
}

/**
 * struct op - an operation to be tried with each of its allocations failing
 * @name:    in notes
 * @prepare: before each try, or NULL
 * @run:     the operation: 0 or -errno
 * @check:   after each try: nothing is half done; undoes it
 */
struct op {
	const char *name;
	void (*prepare)(void);
	int (*run)(void);
	void (*check)(int ret, bool hit);
};

static void inject_task(const struct op *op, pid_t pid)
{
	uint64_t end = fx_now_ms() + fx_env("VGPU_TEST_INJECT_MS", 3000);
	unsigned int nth = 1, step = 1, points = 0, failures = 0;
	int fd = open_nth(pid), ret;
	bool hit;

	do {
		if (op->prepare)
			op->prepare();
		arm(fd, nth);
		ret = op->run();
		hit = disarm(fd);
		if (!hit && ret)
			ktap_note("%s: %s", op->name, strerror(-ret));
		CHECK(hit || !ret, "%s, nothing injected", op->name);
		op->check(ret, hit);
		points += hit;
		failures += ret != 0;
		if (fx_now_ms() > end)
			step += step / 4 + 1;
		/* Others in each run, where not all can be had. */
		nth += step == 1 ? 1 : 1 + fx_random_below(2 * step);
		CHECK(nth < 1000000, "%s does not end", op->name);
	} while (hit);
	ktap_note("%s: %u points below %u, %u made it fail", op->name,
		  points, nth, failures);
	CHECK(points, "%s: nothing was injected", op->name);
	close(fd);
}

static void inject(const struct op *op)
{
	inject_task(op, 0);
}

static void check_counts(unsigned int instances)
{
	struct vgpu_ctl_gpu gpu;

	CHECK_EQ(fx_available("1Q"), at_first - instances);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.instances, instances);
}

/* It works, all of it, with data. */
static void full_run(void)
{
	uint64_t from = v.dev->fb_next;
	struct vgpu_chan *c;
	uint32_t i;

	c = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(c, VGPU_FB(AT), 0x12345678, 65536));
	FX_OK(v.dev, vgpu_chan_copy(c, VGPU_FB(2 * AT), VGPU_FB(AT), 65536));
	fx_finish(c);
	for (i = 0; i < 65536; i += 4)
		CHECK_EQ(*(uint32_t *)(v.dev->fb + 2 * AT + i), 0x12345678);
	vgpu_chan_destroy(c);
	vgpu_fb_release(v.dev, from);
}

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
		check_counts(0);
		return;
	}
	CHECK(exists(), "it does not exist");
	check_counts(1);
	if (!hit || ++nr % 8 == 0) {
		fx_open(&v);
		full_run();
		fx_close(&v);
	}
	fx_remove(&v);
	check_counts(0);
}

static void create(void)
{
	static const struct op op = {
		.name = "create", .prepare = create_prepare,
		.run = create_run, .check = create_check,
	};

	need_fail_nth();
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
	check_counts(ret != 0);
}

static void remove_created(void)
{
	static const struct op op = {
		.name = "remove", .prepare = remove_prepare,
		.run = remove_run, .check = remove_check,
	};

	need_fail_nth();
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
		full_run();
	fx_close(&v);
}

static void open_device(void)
{
	static const struct op op = {
		.name = "open", .run = open_run, .check = open_check,
	};

	need_fail_nth();
	fx_create(&v, "1Q");
	inject(&op);
}

/* Map and touch, from a fresh device on */

static sigjmp_buf bus_return;

static void on_bus(int sig)
{
	siglongjmp(bus_return, sig);
}

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
	if (sigsetjmp(bus_return, 1))
		return -EFAULT;
	*(volatile uint8_t *)(map + 4096) = 0x42;
	return 0;
}

static int touch_fb_run(void)
{
	return touch_run_bar(VGPU_HW_BAR_FB, AT);
}

static int touch_channel_run(void)
{
	/* The tail of a channel page is nobody's but the guest's. */
	return touch_run_bar(VGPU_HW_BAR_CHANNELS, 0);
}

static void touch_check(int ret, bool hit)
{
	(void)hit;
	if (!ret)
		CHECK_EQ(map[4096], 0x42);
	if (map) {
		/* Now it can be touched, whatever was. */
		map[8192] = 1;
		CHECK_EQ(map[12288], 0);
		munmap(map, 65536);
	}
	map = NULL;
	full_run();
}

static void map_and_touch(void)
{
	static const struct op ops[] = {
		{ "touch framebuffer", reset_device, touch_fb_run, touch_check },
		{ "touch channel page", reset_device, touch_channel_run,
		  touch_check },
	};
	struct sigaction action = { .sa_handler = on_bus }, old;

	need_fail_nth();
	fx_create_open(&v, "1Q");
	sigaction(SIGBUS, &action, &old);
	inject(&ops[0]);
	inject(&ops[1]);
	sigaction(SIGBUS, &old, NULL);
}

/* Registers */

static void enable_prepare(void)
{
	reset_device();
	FX_OK(v.dev, vgpu_reg_write64(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_RING),
				      AT));
}

static int enable_run(void)
{
	return vgpu_reg_write32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_CTRL),
				VGPU_HW_CTRL_ENABLE |
				1 << VGPU_HW_CTRL_ENGINE_SHIFT |
				4 << VGPU_HW_CTRL_ORDER_SHIFT);
}

static void enable_check(int ret, bool hit)
{
	uint32_t state, code;

	FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_STATE),
				     &state));
	FX_OK(v.dev, vgpu_reg_read32(v.dev,
				     vgpu_chan_reg(3, VGPU_HW_CHAN_FAULT_CODE),
				     &code));
	if (ret) {
		CHECK_EQ(state, VGPU_HW_STATE_DISABLED);
	} else if (state == VGPU_HW_STATE_FAULTED) {
		CHECK(hit, "a fault from nowhere");
		CHECK_EQ(code, VGPU_HW_FAULT_MEMORY);
	} else {
		CHECK_EQ(state, VGPU_HW_STATE_SLEEPING);
	}
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_CTRL),
				      0));
	full_run();
}

static void channel_enable(void)
{
	static const struct op op = {
		"channel enable", enable_prepare, enable_run, enable_check,
	};

	need_fail_nth();
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
	full_run();
	FX_OK(v.dev, vgpu_irq_disable(v.dev));
}

static void interrupts(void)
{
	static const struct op op = {
		"set irqs", NULL, irqs_run, irqs_check,
	};

	need_fail_nth();
	fx_create_open(&v, "1Q");
	inject(&op);
}

/* Trapped framebuffer: what was not written is as it was. */

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
	CHECK_EQ(vgpu_region_read(v.dev, 0, AT + 100, bytes, sizeof(bytes)),
		 sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++)
		CHECK_EQ(bytes[i], i < done ? 0x66 : 0, "byte %zu of %zu", i,
			 done);
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
	static const struct op ops[] = {
		{ "trapped write", reset_device, write_run, write_check },
		{ "trapped read", read_prepare, read_run, read_check },
	};

	need_fail_nth();
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
	/* Nobody looks whether it has: it must not need memory. */
	CHECK_EQ(ret, 0);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	CHECK(fx_is_zero(v.dev->fb + AT, 4096), "memory after reset");
	full_run();
}

static void reset(void)
{
	static const struct op op = {
		"reset", reset_prepare, reset_run, reset_check,
	};

	need_fail_nth();
	fx_create_open(&v, "1Q");
	inject(&op);
}

/* The control node */

static int control_run(void)
{
	struct vgpu_ctl_version version = { .size = sizeof(version) };
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 4 };
	struct vgpu_ctl_gpu gpu = { .size = sizeof(gpu) };
	struct vgpu_ctl_type type = { .size = sizeof(type) };
	struct vgpu_ctl_instance inst = { .size = sizeof(inst) };
	struct vgpu_ctl_refusal refusal = { .size = sizeof(refusal) };
	uint8_t uuids[4][VGPU_UUID_LEN];
	int fd, error = 0;
	uint32_t ids[4];

	memcpy(inst.uuid, v.id, sizeof(v.id));
	memcpy(refusal.uuid, v.id, sizeof(v.id));
	fd = open("/dev/vgpu", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	list.ids = (uintptr_t)ids;
	if (ioctl(fd, VGPU_IOC_VERSION, &version) ||
	    ioctl(fd, VGPU_IOC_GPUS, &list))
		error = -errno;
	gpu.gpu = ids[0];
	type.gpu = ids[0];
	if (!error && (ioctl(fd, VGPU_IOC_GPU, &gpu) ||
		       ioctl(fd, VGPU_IOC_TYPE, &type)))
		error = -errno;
	list.gpu = ~0u;
	list.count = 4;
	list.ids = (uintptr_t)uuids;
	if (!error && (ioctl(fd, VGPU_IOC_INSTANCES, &list) ||
		       ioctl(fd, VGPU_IOC_INSTANCE, &inst)))
		error = -errno;
	if (!error && ioctl(fd, VGPU_IOC_REFUSAL, &refusal) && errno != ENOENT)
		error = -errno;
	if (!error && read(fd, bytes, sizeof(bytes)) < 0 && errno != EAGAIN)
		error = -errno;
	close(fd);
	return error;
}

static void control_check(int ret, bool hit)
{
	(void)ret;
	(void)hit;
	check_counts(1);
}

static void control_node(void)
{
	static const struct op op = {
		"control node", NULL, control_run, control_check,
	};

	need_fail_nth();
	fx_create(&v, "1Q");
	inject(&op);
}

/* Settings: each call sets all or nothing, whatever policy it comes from */

static struct vgpu_ctl_sched was, set;
static struct vgpu_ctl_share share;
static unsigned int settings_done;

static void settings_prepare(void)
{
	static const char * const policies[] = {
		"equal_share", "fixed_share", "qos", "best_effort",
	};
	static unsigned int nr;
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	memset(&set, 0, sizeof(set));
	set.size = sizeof(set);
	set.gpu = gpu.gpu;
	was = set;
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED, &was), "%s",
	      strerror(errno));
	set.valid = VGPU_SCHED_POLICY | VGPU_SCHED_LINGER;
	snprintf((char *)set.policy, sizeof(set.policy), "%s",
		 policies[nr % 4]);
	set.linger_us = nr % 1000;
	memcpy(share.uuid, v.id, sizeof(v.id));
	share.valid = VGPU_SHARE_WEIGHT | VGPU_SHARE_FRL;
	share.weight = nr % 1000 + 1;
	share.frl = nr % 1000;
	nr++;
	settings_done = 0;
}

static int settings_run(void)
{
	static struct vgpu_ctl_switch entries[VGPU_SCHED_LOG];
	struct vgpu_ctl_shares shares = { .size = sizeof(shares), .count = 1 };
	struct vgpu_ctl_sched_log log = { .size = sizeof(log) };
	struct vgpu_ctl_sched try = set;

	log.gpu = set.gpu;
	log.count = VGPU_SCHED_LOG;
	log.entries = (uintptr_t)entries;
	shares.entries = (uintptr_t)&share;
	if (ioctl(fx_control(), VGPU_IOC_SCHED_SET, &try))
		return -errno;
	settings_done++;
	if (ioctl(fx_control(), VGPU_IOC_SHARES_SET, &shares))
		return -errno;
	settings_done++;
	return ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &log) ? -errno : 0;
}

static void settings_check(int ret, bool hit)
{
	struct vgpu_ctl_sched now = { .size = sizeof(now), .gpu = set.gpu };
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_sched *want;

	(void)hit;
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED, &now), "%s",
	      strerror(errno));
	/* What was set and could not be given back has been set. */
	if (ret != -EFAULT || settings_done) {
		want = settings_done ? &set : &was;
		CHECK(!strcmp((char *)now.policy, (char *)want->policy), "%s",
		      (char *)now.policy);
		CHECK_EQ(now.linger_us, want->linger_us);
	}
	fx_instance(&v, &inst);
	if (ret != -EFAULT || settings_done != 1) {
		CHECK_EQ(inst.weight == share.weight, settings_done >= 2);
		CHECK_EQ(inst.frl_config == share.frl, settings_done >= 2);
	}
	check_counts(1);
	full_run();
}

static void settings(void)
{
	static const struct op op = {
		"settings", settings_prepare, settings_run, settings_check,
	};
	struct vgpu_ctl_sched before = { .size = sizeof(before) };
	struct vgpu_ctl_gpu gpu;

	need_fail_nth();
	fx_create_open(&v, "1Q");
	fx_ctl_gpu(&gpu);
	before.gpu = gpu.gpu;
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED, &before), "%s",
	      strerror(errno));
	inject(&op);
	before.valid = VGPU_SCHED_POLICY | VGPU_SCHED_LINGER;
	CHECK(!ioctl(fx_control(), VGPU_IOC_SCHED_SET, &before), "%s",
	      strerror(errno));
}

/* A GPU comes: all of it or nothing */

static bool bound(void)
{
	char path[128];

	snprintf(path, sizeof(path), DRIVER "/%s", fx_gpu());
	return !access(path, F_OK);
}

static void bind_prepare(void)
{
	if (bound())
		CHECK_EQ(fx_write_file(DRIVER "/unbind", fx_gpu()), 0);
}

static int bind_run(void)
{
	return fx_write_file(DRIVER "/bind", fx_gpu());
}

static void bind_check(int ret, bool hit)
{
	struct vgpu_ctl_list list = { .size = sizeof(list) };
	char path[128];

	(void)hit;
	/* What has failed may be tried again at once. */
	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s", fx_gpu());
	CHECK(!ioctl(fx_control(), VGPU_IOC_GPUS, &list), "%s",
	      strerror(errno));
	CHECK_EQ(bound(), ret == 0, "%s", strerror(-ret));
	CHECK_EQ(list.count, ret == 0);
	CHECK_EQ(!access(path, F_OK), ret == 0, "%s", path);
	if (!ret) {
		check_counts(0);
		fx_create(&v, "1Q");
		fx_remove(&v);
	}
}

static void bind_gpu(void)
{
	static const struct op op = {
		"bind", bind_prepare, bind_run, bind_check,
	};

	need_fail_nth();
	inject(&op);
	check_counts(0);
}

/* Engines and the DMA worker: threads of the kernel's own */

static pid_t find_thread(const char *prefix)
{
	char path[300], text[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir;

	dir = opendir("/proc");
	CHECK(dir, "/proc: %s", strerror(errno));
	while (!found && (entry = readdir(dir))) {
		if (!isdigit(entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (fx_read_file(path, text, sizeof(text)) > 0 &&
		    !strncmp(text, prefix, strlen(prefix)))
			found = atoi(entry->d_name);
	}
	closedir(dir);
	CHECK(found, "no thread %s", prefix);
	return found;
}

static enum vgpu_ring work_ring;
static uint32_t faults_allowed;	/* bits: enum vgpu_hw_fault */

static void work_prepare(void)
{
	uint64_t from = v.dev->fb_next;

	reset_device();
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 2 * BYTES, &buf));
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, work_ring, 4);
	vgpu_fb_release(v.dev, from);
}

/* Framebuffer, to guest, guest to guest, back, and a signal behind. */
static int work_run(void)
{
	uint64_t fence;

	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(AT), 0x600df00d, BYTES));
	vgpu_chan_copy(chan, VGPU_SYS(&buf, 0), VGPU_FB(AT), BYTES);
	vgpu_chan_copy(chan, VGPU_SYS(&buf, BYTES), VGPU_SYS(&buf, 0), BYTES);
	vgpu_chan_copy(chan, VGPU_FB(2 * AT), VGPU_SYS(&buf, BYTES), BYTES);
	if (vgpu_chan_fence(chan, &fence))
		return -EIO;
	return vgpu_chan_wait(chan, fence, FX_TIMEOUT_MS);
}

static void work_check(int ret, bool hit)
{
	struct vgpu_fault fault;
	uint32_t i;

	(void)hit;
	if (ret) {
		CHECK_EQ(ret, -EIO, "%s", vgpu_dev_error(v.dev));
		FX_OK(v.dev, vgpu_chan_fault(chan, &fault));
		CHECK(faults_allowed & 1u << fault.code, "%s",
		      vgpu_fault_name(fault.code));
	} else {
		for (i = 0; i < BYTES; i += 4) {
			CHECK_EQ(*(uint32_t *)(v.dev->fb + 2 * AT + i),
				 0x600df00d);
			CHECK_EQ(*(uint32_t *)((char *)buf.ptr + i),
				 0x600df00d);
		}
	}
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
	full_run();
}

static void inject_thread(const char *what, const char *thread)
{
	const struct op op = { what, work_prepare, work_run, work_check };

	inject_task(&op, find_thread(thread));
}

static void engine(void)
{
	need_fail_nth();
	fx_create_open(&v, "1Q");
	faults_allowed = 1u << VGPU_HW_FAULT_MEMORY;
	work_ring = VGPU_RING_FB;
	inject_thread("engine, ring in framebuffer", "vgpu-ce0-");
	work_ring = VGPU_RING_SYS;
	inject_thread("engine, ring in guest memory", "vgpu-ce0-");
}

/* A page of the guest's own that cannot be had is a page that is not there. */
static void dma_worker(void)
{
	need_fail_nth();
	fx_create_open(&v, "1Q");
	faults_allowed = 1u << VGPU_HW_FAULT_DMA | 1u << VGPU_HW_FAULT_MEMORY;
	work_ring = VGPU_RING_SYS;
	inject_thread("DMA worker", "vgpu-dma");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(create),
	KTAP_TEST(remove_created),
	KTAP_TEST(open_device),
	KTAP_TEST(map_and_touch),
	KTAP_TEST(channel_enable),
	KTAP_TEST(interrupts),
	KTAP_TEST(trapped_access),
	KTAP_TEST(reset),
	KTAP_TEST(control_node),
	KTAP_TEST(settings),
	KTAP_TEST(engine),
	KTAP_TEST(dma_worker),
	KTAP_TEST(bind_gpu),
};

int main(void)
{
	if (access("/proc/self/fail-nth", W_OK))
		ktap_skip_all("no fault injection in this kernel");
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]), fx_cleanup);
}
