// SPDX-License-Identifier: GPL-2.0
/*
 * Framebuffer is charged to the cgroup of who opened the device. At its limit a
 * channel is stalled, and faults after some seconds, or a touch is a SIGBUS; nobody
 * is killed, nobody else notices.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tune.h"

#define ROOT	"/sys/fs/cgroup"
#define LIMIT	(48 * FX_MIB)
/* What is charged beside framebuffer: tables, the vGPU's own structures. */
#define OTHER	(8 * FX_MIB)
#define START	FX_MIB

static struct fx_vgpu v, other;
static const char * const groups[] = { "vgpu-test-a", "vgpu-test-b" };

static int group_file(const char *group, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "/%s/%s", group, file);
	return fx_write_file(path, text);
}

static uint64_t group_value(const char *group, const char *file,
			    const char *key)
{
	char path[128], text[2048], *at;
	int n;

	snprintf(path, sizeof(path), ROOT "/%s/%s", group, file);
	n = fx_read_file(path, text, sizeof(text));
	CHECK(n > 0, "%s: %s", path, strerror(-n));
	at = text;
	if (key) {
		at = strstr(text, key);
		CHECK(at, "%s has no %s", path, key);
		at += strlen(key);
	}
	return strtoull(at, NULL, 10);
}

static void make_group(const char *group, uint64_t limit)
{
	char path[128], text[32];
	int ret;

	fx_write_file(ROOT "/cgroup.subtree_control", "+memory");
	snprintf(path, sizeof(path), ROOT "/%s", group);
	if (mkdir(path, 0755) && errno != EEXIST)
		ktap_skip("%s: %s", path, strerror(errno));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
	ret = group_file(group, "memory.max", text);
	if (ret)
		ktap_skip("%s/memory.max: %s", path, strerror(-ret));
	group_file(group, "memory.swap.max", "0");
}

static void enter_group(const char *group)
{
	int ret = group_file(group, "cgroup.procs", "0");

	CHECK(!ret, "%s: %s", group, strerror(-ret));
}

static void leave_group(void)
{
	fx_write_file(ROOT "/cgroup.procs", "0");
}

/* The device is charged to the group, this process is not. */
static void open_in(struct fx_vgpu *who, const char *group)
{
	enter_group(group);
	fx_open(who);
	leave_group();
}

static void check_nobody_killed(const char *group)
{
	CHECK_EQ(group_value(group, "memory.events", "oom_kill "), 0);
}

/* Pages are given back a moment after the last reference is gone. */
static void wait_charge_below(const char *group, uint64_t bytes)
{
	uint64_t end = fx_now_ms() + 10000, now;

	while ((now = group_value(group, "memory.current", NULL)) >= bytes) {
		CHECK(fx_now_ms() < end, "%llu KiB are still charged",
		      (unsigned long long)now >> 10);
		fx_sleep_ms(20);
	}
}

static uint64_t backed_bytes(const struct fx_vgpu *who)
{
	struct vgpu_ctl_instance inst;

	fx_instance(who, &inst);
	return inst.fb_backed_bytes;
}

static uint64_t map_failures(const struct fx_vgpu *who)
{
	char path[128], text[32];
	int n;

	snprintf(path, sizeof(path),
		 "/sys/bus/mdev/devices/%s/vgpu/map_failures", who->uuid);
	n = fx_read_file(path, text, sizeof(text));
	CHECK(n > 0, "%s: %s", path, strerror(-n));
	return strtoull(text, NULL, 10);
}

static bool is_reserved(void)
{
	char text[8];

	return fx_read_file("/sys/module/vgpu_soft/parameters/fb_reserve",
			    text, sizeof(text)) > 0 && text[0] == 'Y';
}

static void need_no_reserve(void)
{
	fx_gpu();
	if (is_reserved())
		ktap_skip("vgpu_soft is loaded with fb_reserve=1");
}

static void need_reserve(void)
{
	fx_gpu();
	if (!is_reserved())
		ktap_skip("vgpu_soft is loaded with fb_reserve=0");
}

#define OVERCOMMIT	"/sys/module/vgpu_soft/parameters/fb_overcommit"

static char overcommit[16];	/* as it was, if it has been changed */

/* Such that vGPUs of @gib GiB together may be there, and no more. */
static void limit_to(uint64_t gib)
{
	struct sysinfo info;
	char text[16];

	if (!overcommit[0])
		CHECK(fx_read_file(OVERCOMMIT, overcommit,
				   sizeof(overcommit)) > 0, OVERCOMMIT);
	CHECK(!sysinfo(&info), "sysinfo");
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(gib * FX_GIB * 100 /
				      ((uint64_t)info.totalram * info.mem_unit) +
				      1));
	CHECK(!fx_write_file(OVERCOMMIT, text), OVERCOMMIT);
}

static void limit_as_before(void)
{
	if (overcommit[0])
		fx_write_file(OVERCOMMIT, overcommit);
	overcommit[0] = 0;
}

static void cleanup(void)
{
	char path[128];
	unsigned int i;

	leave_group();
	limit_as_before();
	tune_cleanup();
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		snprintf(path, sizeof(path), ROOT "/%s", groups[i]);
		rmdir(path);
	}
}

/* A FILL that the group cannot pay for: the fault is that channel's. */
static void fill_faults_its_channel_alone(void)
{
	struct vgpu_chan *chan, *neighbour;
	struct vgpu_fault fault;
	uint64_t fence, i;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	make_group(groups[1], 4 * LIMIT);
	fx_create(&v, "1Q");
	fx_create(&other, "1Q");
	open_in(&v, groups[0]);
	open_in(&other, groups[1]);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	neighbour = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);

	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0xa5a5a5a5,
				    4 * LIMIT));
	for (i = 0; i < 50; i++) {
		FX_OK(other.dev, vgpu_chan_fill(neighbour,
						VGPU_FB(START + i * 65536),
						(uint32_t)i + 1, 65536));
		fx_finish(neighbour);
	}
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_MEMORY);
	CHECK_EQ(fault.pos, 0);
	CHECK(fault.addr >= START + LIMIT - OTHER &&
	      fault.addr < START + LIMIT, "%#llx",
	      (unsigned long long)fault.addr);
	check_nobody_killed(groups[0]);
	CHECK_EQ(group_value(groups[0], "memory.events", "oom "), 0);
	CHECK(group_value(groups[0], "memory.current", NULL) <= LIMIT, "");
	CHECK(backed_bytes(&v) <= LIMIT, "%llu",
	      (unsigned long long)backed_bytes(&v));
	for (i = 0; i < 50; i++)
		CHECK_EQ(*(uint32_t *)(other.dev->fb + START + i * 65536 + 65532),
			 i + 1);
	FX_OK(other.dev, vgpu_chan_fence(neighbour, &fence));
	CHECK(fx_wait_fence(neighbour, fence, FX_TIMEOUT_MS), "neighbour");

	/* What it has, it keeps, and it goes on with that. */
	CHECK_EQ(*(uint32_t *)(v.dev->fb + START), 0xa5a5a5a5);
	FX_OK(v.dev, vgpu_chan_disable(chan));
	FX_OK(v.dev, vgpu_chan_enable(chan));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x5a5a5a5a,
				    FX_MIB));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(v.dev->fb + 2 * FX_MIB - 4), 0x5a5a5a5a);

	fx_close(&v);
	wait_charge_below(groups[0], OTHER);
	CHECK_EQ(backed_bytes(&v), 0);
	check_nobody_killed(groups[1]);
}

/* What is lacking for a second, and comes then, is noticed by the clock only. */
static void short_of_memory_stalls_only(void)
{
	uint64_t fence, end = fx_now_ms() + FX_TIMEOUT_MS;
	struct vgpu_chan *chan;
	struct vgpu_fault fault;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	fx_create(&v, "1Q");
	open_in(&v, groups[0]);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x5eed5eed,
				    2 * LIMIT));
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	while (group_value(groups[0], "memory.events", "max ") == 0)
		CHECK(fx_now_ms() < end, "the limit is not reached");
	CHECK(!fx_wait_fence(chan, fence, 1000), "filled beyond the limit");
	FX_OK(v.dev, vgpu_chan_fault(chan, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_NONE);
	CHECK(!group_file(groups[0], "memory.max", "max"), "memory.max");
	CHECK(fx_wait_fence(chan, fence, FX_TIMEOUT_MS), "does not go on");
	CHECK_EQ(*(uint32_t *)(v.dev->fb + START + 2 * LIMIT - 4), 0x5eed5eed);
	CHECK_EQ(fx_faults(&v), 0);
	check_nobody_killed(groups[0]);
}

/* A reset does not wait until the worker has given up. */
static void reset_ends_the_wait(void)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;
	struct vgpu_chan *chan;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	fx_create(&v, "1Q");
	open_in(&v, groups[0]);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 1, 2 * LIMIT));
	while (group_value(groups[0], "memory.events", "max ") == 0)
		CHECK(fx_now_ms() < end, "the limit is not reached");
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(backed_bytes(&v), 0);
	CHECK_EQ(fx_faults(&v), 0);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 2, LIMIT / 2));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(v.dev->fb + START + LIMIT / 2 - 4), 2);
	check_nobody_killed(groups[0]);
}

/* A single fault is enough for quarantine here, but not one for want of memory. */
static void want_of_memory_is_no_strike(void)
{
	struct vgpu_ctl_sched sched = {
		.quarantine_faults = 1,
		.quarantine_backoff_ms = 600000,
	};
	struct vgpu_hw_packet wrong = { .type = 0xee };
	struct vgpu_ctl_instance inst;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS |
			 VGPU_SCHED_QUARANTINE_BACKOFF);
	fx_create(&v, "1Q");
	open_in(&v, groups[0]);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, 2 * LIMIT));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_MEMORY);
	FX_SOON(fx_faults(&v) == 1);
	/* It works on: nothing holds it. */
	FX_OK(v.dev, vgpu_chan_disable(chan));
	FX_OK(v.dev, vgpu_chan_enable(chan));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 7, FX_MIB));
	fx_finish(chan);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 0);
	CHECK_EQ(inst.faults, 1);
	/* And the guest's own fault does. */
	FX_OK(v.dev, vgpu_chan_submit(chan, &wrong, 1));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	FX_SOON((fx_instance(&v, &inst), inst.quarantines == 1));
	fx_release(&v);
}

/**
 * struct result - what a child that is at its limit says: without a system call
 * @done:   the rest is valid
 * @fault:  of its channel
 * @failed: a call that should not
 */
struct result {
	volatile bool done;
	volatile bool failed;
	struct vgpu_fault fault;
};

/* Like a VM's process: all of it is in the group, for all its life. */
static void limited_child(void *arg)
{
	struct result *result = arg;
	struct vgpu_chan *chan;

	enter_group(groups[0]);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, 4 * LIMIT));
	result->failed = vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS,
					      &result->fault);
	result->done = true;
	for (;;)
		pause();
}

static void owner_at_its_limit_lives(void)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;
	struct result *result;
	int status;
	pid_t pid;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	fx_create(&v, "1Q");
	result = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(result != MAP_FAILED, "mmap");
	memset(result, 0, sizeof(*result));
	pid = fx_fork(limited_child, result);
	while (!result->done && fx_now_ms() < end)
		fx_sleep_ms(5);
	CHECK(result->done && !result->failed, "no fault came");
	CHECK_EQ(result->fault.code, VGPU_HW_FAULT_MEMORY);
	check_nobody_killed(groups[0]);
	CHECK(waitpid(pid, &status, WNOHANG) == 0, "the owner is dead");
	CHECK(backed_bytes(&v) >= LIMIT / 2, "%llu",
	      (unsigned long long)backed_bytes(&v));
	/* Killed with all of it: nothing stays charged. */
	kill(pid, SIGKILL);
	CHECK(fx_wait_child(pid, FX_TIMEOUT_MS, &status), "does not die");
	wait_charge_below(groups[0], FX_MIB);
	CHECK_EQ(backed_bytes(&v), 0);
	munmap(result, 4096);
	fx_open(&v);
	CHECK(fx_is_zero(v.dev->fb + START, FX_MIB), "what was before");
}

static sigjmp_buf bus_return;

static void on_bus(int sig)
{
	siglongjmp(bus_return, sig);
}

/* Whether a byte can be written. */
static bool touch(volatile uint8_t *at, uint8_t value)
{
	if (sigsetjmp(bus_return, 1))
		return false;
	*at = value;
	return true;
}

static void touch_beyond_the_limit_is_sigbus(void)
{
	struct sigaction action = { .sa_handler = on_bus }, old;
	volatile uint64_t at, fault_at;
	volatile unsigned int seen = 0;
	struct vgpu_chan *chan;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	make_group(groups[1], LIMIT);
	fx_create(&v, "1Q");
	fx_create(&other, "1Q");
	open_in(&v, groups[0]);
	open_in(&other, groups[1]);
	CHECK_EQ(map_failures(&v), 0);
	sigaction(SIGBUS, &action, &old);
	for (at = START; at < START + 4 * LIMIT; at += 4096)
		if (!touch(v.dev->fb + at, (uint8_t)(at >> 12)))
			break;
	fault_at = at;
	/* Again and again; some may be had, as others' pages are reclaimed. */
	for (at = fault_at; at < fault_at + 4 * FX_MIB; at += 4096)
		seen += !touch(v.dev->fb + at, 1);
	sigaction(SIGBUS, &old, NULL);
	ktap_note("SIGBUS after %llu KiB",
		  (unsigned long long)(fault_at - START) >> 10);
	CHECK(fault_at >= START + LIMIT - OTHER && fault_at < START + LIMIT,
	      "at %#llx", (unsigned long long)fault_at);
	CHECK(seen > 512, "only %u of 1024 pages", seen);
	CHECK_EQ(map_failures(&v), seen + 1);
	CHECK_EQ(map_failures(&other), 0);
	check_nobody_killed(groups[0]);
	for (at = START; at < fault_at; at += 4096)
		CHECK_EQ(v.dev->fb[at], (uint8_t)(at >> 12));
	chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(START), 7, FX_MIB));
	fx_finish(chan);
	/* A reset gives all back; it can be used again. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(backed_bytes(&v), 0);
	wait_charge_below(groups[0], OTHER);
	CHECK(fx_is_zero(v.dev->fb + START, FX_MIB), "after a reset");
	fx_close(&v);
	wait_charge_below(groups[0], FX_MIB);
}

static void trapped_write_beyond_the_limit_fails(void)
{
	static uint8_t page[4096];
	uint64_t at;
	ssize_t n;

	need_no_reserve();
	make_group(groups[0], LIMIT);
	fx_create(&v, "1Q");
	open_in(&v, groups[0]);
	memset(page, 0x77, sizeof(page));
	for (at = START; at < START + 2 * LIMIT; at += sizeof(page)) {
		n = vgpu_region_write(v.dev, 0, at, page, sizeof(page));
		if (n != sizeof(page))
			break;
	}
	CHECK_EQ(n, -ENOMEM, "after %llu KiB",
		 (unsigned long long)(at - START) >> 10);
	CHECK(at >= START + LIMIT - OTHER, "at %#llx", (unsigned long long)at);
	check_nobody_killed(groups[0]);
	CHECK_EQ(vgpu_region_read(v.dev, 0, at, page, sizeof(page)),
		 sizeof(page));
	CHECK(fx_is_zero(page, sizeof(page)), "a refused write left bytes");
}

static void backed_bytes_are_exact(void)
{
	struct vgpu_chan *chan;
	uint64_t before;

	need_no_reserve();
	fx_create_open(&v, "1Q");
	CHECK_EQ(backed_bytes(&v), 0);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	before = backed_bytes(&v);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), 1, 3 * FX_MIB));
	fx_finish(chan);
	CHECK_EQ(backed_bytes(&v) - before, 3 * FX_MIB);
	/* The same again, zeros where nothing is, and a look at it. */
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), 2, 3 * FX_MIB));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(16 * FX_MIB), 0, FX_MIB));
	fx_finish(chan);
	CHECK_EQ(backed_bytes(&v) - before, 3 * FX_MIB);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(8 * FX_MIB - 4), 1, 8));
	fx_finish(chan);
	CHECK_EQ(backed_bytes(&v) - before, 3 * FX_MIB + 8192);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(backed_bytes(&v), 0);
}

/* What ps and the OOM killer see, in bytes: "VmRSS:", "RssShmem:". */
static uint64_t resident(const char *key)
{
	char text[4096], *at;

	CHECK(fx_read_file("/proc/self/status", text, sizeof(text)) > 0,
	      "/proc/self/status");
	at = strstr(text, key);
	CHECK(at, "no %s", key);
	return strtoull(at + strlen(key), NULL, 10) << 10;
}

/* Page tables, the machine's own changes, pages that are mapped around. */
#define RSS_ROOM	(4 * FX_MIB)

/* Within the time that it may take to be noticed, and so it stays. */
static void check_resident(const char *key, uint64_t bytes, const char *when)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;

	while (resident(key) + RSS_ROOM < bytes ||
	       resident(key) > bytes + RSS_ROOM) {
		CHECK(fx_now_ms() < end, "%s: %s %llu KiB, not %llu", when, key,
		      (unsigned long long)resident(key) >> 10,
		      (unsigned long long)bytes >> 10);
		fx_sleep_ms(50);
	}
}

/* As much as is filled, however it is mapped, and no more. */
static void filled_memory_is_resident(void)
{
	uint64_t fill = fx_memory_bytes() / 4 & ~(FX_MIB - 1), before, i;
	volatile uint8_t *at;
	struct vgpu_chan *chan;
	unsigned int sum = 0;

	need_no_reserve();
	if (fill > 768 * FX_MIB)
		fill = 768 * FX_MIB;
	fx_create_open(&v, "1Q");
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	before = resident("VmRSS:");
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x600dcafe, fill));
	fx_finish(chan);
	check_resident("VmRSS:", before + fill, "filled");
	check_resident("RssShmem:", fill, "filled");

	/* What is mapped is counted by the kernel, and not by the driver any more. */
	at = v.dev->fb + START;
	for (i = 0; i < fill / 2; i += 4096)
		sum += at[i];
	CHECK_EQ(sum, (unsigned int)(fill / 2 / 4096 * 0xfe));
	check_resident("RssShmem:", fill / 2, "half of it touched");
	check_resident("VmRSS:", before + fill, "half of it touched");

	/* It does not go by being unmapped. */
	CHECK(!madvise((void *)at, fill / 2, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	check_resident("RssShmem:", fill, "unmapped");
	check_resident("VmRSS:", before + fill, "unmapped");

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a reset");
	for (i = 0; i < 32 * FX_MIB; i += 4096)
		at[i] = 1;
	CHECK(!madvise((void *)at, 32 * FX_MIB, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	check_resident("VmRSS:", before + 32 * FX_MIB, "touched, unmapped");
	fx_close(&v);
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a close");
}

/**
 * struct heir - what a process says that is left with the device
 * @alone:    the one that opened it has ended
 * @resident: of the one that is left, after it has used it
 * @done:     both are valid
 * @leave:    it is to end
 */
struct heir {
	volatile bool alone;
	volatile bool leave;
	volatile uint64_t resident;
	volatile bool done;
};

static void inherit(struct heir *heir)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;
	uint32_t value;

	while (!heir->alone)
		fx_sleep_ms(5);
	do {
		fx_sleep_ms(50);
		vgpu_reg_read32(v.dev, VGPU_HW_STATUS, &value);
		heir->resident = resident("RssShmem:");
	} while (heir->resident < LIMIT && fx_now_ms() < end);
	heir->done = true;
	/* In the end by itself: nobody knows this process. */
	while (!heir->leave && fx_now_ms() < end)
		fx_sleep_ms(5);
	_exit(0);
}

static void bequeath(void *arg)
{
	struct vgpu_chan *chan;

	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, LIMIT));
	fx_finish(chan);
	if (!fork())
		inherit(arg);
	_exit(0);
}

/* The process that opened the device ends, another one goes on with it. */
static void who_goes_on_has_it(void)
{
	uint64_t end = fx_now_ms() + 2 * FX_TIMEOUT_MS;
	struct vgpu_ctl_instance inst;
	struct heir *heir;
	int status;
	pid_t pid;

	need_no_reserve();
	fx_create(&v, "1Q");
	heir = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(heir != MAP_FAILED, "mmap");
	memset(heir, 0, sizeof(*heir));
	pid = fx_fork(bequeath, heir);
	CHECK(fx_wait_child(pid, FX_TIMEOUT_MS, &status), "does not end");
	CHECK_EQ(backed_bytes(&v) >= LIMIT, true);
	heir->alone = true;
	while (!heir->done && fx_now_ms() < end)
		fx_sleep_ms(10);
	CHECK(heir->done, "says nothing");
	CHECK(heir->resident >= LIMIT, "%llu KiB are resident",
	      (unsigned long long)heir->resident >> 10);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	heir->leave = true;
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
	munmap(heir, 4096);
}

static void reserve_backs_all(void)
{
	struct vgpu_chan *chan;

	need_reserve();
	if (fx_memory_bytes() < FX_GIB + FX_GIB / 4)
		ktap_skip("%llu MiB of memory",
			  (unsigned long long)fx_memory_bytes() >> 20);
	fx_create(&v, "1Q");
	CHECK_EQ(backed_bytes(&v), FX_GIB);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), ~0u,
				    16 * FX_MIB));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(v.dev->fb + 4 * FX_MIB), ~0u);
	CHECK_EQ(backed_bytes(&v), FX_GIB);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(backed_bytes(&v), FX_GIB);
	CHECK(fx_is_zero(v.dev->fb, 32 * FX_MIB), "after a reset");
	memset(v.dev->fb + 4 * FX_MIB, 0xee, FX_MIB);
	fx_close(&v);
	CHECK_EQ(backed_bytes(&v), FX_GIB);
	fx_open(&v);
	CHECK(fx_is_zero(v.dev->fb, 32 * FX_MIB), "after a close");
}

static void check_refusal(int error, const char *what, const char *figure)
{
	struct vgpu_ctl_refusal refusal = { .size = sizeof(refusal) };

	memcpy(refusal.uuid, v.id, sizeof(v.id));
	CHECK(!ioctl(fx_control(), VGPU_IOC_REFUSAL, &refusal), "%s",
	      strerror(errno));
	ktap_note("refusal: %s", (char *)refusal.text);
	CHECK_EQ(refusal.error, (uint32_t)error);
	CHECK(strstr((char *)refusal.text, what), "does not name %s", what);
	CHECK(strstr((char *)refusal.text, figure), "does not name %s", figure);
}

/* available_instances says what create does, and a refusal what to do about it. */
static void promises_end_with_host_memory(void)
{
	static struct fx_vgpu more[3];
	unsigned int i, nr = fx_available("1Q");

	need_no_reserve();
	if (nr < 4)
		ktap_skip("framebuffer of %u GiB", nr);
	limit_to(3);
	CHECK_EQ(fx_available("1Q"), 3);
	CHECK_EQ(fx_available("4Q"), 0);
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, "4Q"), -ENOSPC);
	check_refusal(ENOSPC, "vgpu_soft.fb_overcommit=", "4096 MiB wanted");
	check_refusal(ENOSPC, fx_gpu(), "3072 MiB would fit");
	for (i = 0; i < 3; i++) {
		fx_create(&more[i], "1Q");
		CHECK_EQ(fx_available("1Q"), 2 - i);
	}
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, "1Q"), -ENOSPC);
	check_refusal(ENOSPC, "host memory", " 0 MiB would fit");
	fx_remove(&more[0]);
	CHECK_EQ(fx_available("1Q"), 1);
	CHECK_EQ(fx_try_create(&v, "1Q"), 0);
	CHECK(fx_write_file(OVERCOMMIT, "10001") < 0, "10001 is taken");
	CHECK(!fx_write_file(OVERCOMMIT, "0"), OVERCOMMIT);
	CHECK_EQ(fx_available("1Q"), nr - 3);
}

/* The creator's group pays, or the creation is refused. */
static void reserve_refuses_what_the_creator_cannot_pay(void)
{
	unsigned int before;
	int ret;

	need_reserve();
	before = fx_available("1Q");
	make_group(groups[0], LIMIT);
	memset(&v, 0, sizeof(v));
	enter_group(groups[0]);
	ret = fx_try_create(&v, "1Q");
	leave_group();
	CHECK_EQ(ret, -ENOMEM);
	check_nobody_killed(groups[0]);
	check_refusal(ENOMEM, "host memory", "1024 MiB");
	CHECK_EQ(fx_available("1Q"), before);
	wait_charge_below(groups[0], OTHER);
}

static void reserve_refuses_what_the_host_has_not(void)
{
	unsigned int before;
	char suffix[32];
	uint64_t gib;

	need_reserve();
	gib = 4;
	while (gib << 30 <= fx_memory_bytes())
		gib *= 2;
	snprintf(suffix, sizeof(suffix), "%lluQ", (unsigned long long)gib);
	before = fx_available(suffix);
	if (!before)
		ktap_skip("no %s on this GPU", suffix);
	memset(&v, 0, sizeof(v));
	CHECK_EQ(fx_try_create(&v, suffix), -ENOMEM);
	CHECK_EQ(fx_available(suffix), before);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(fill_faults_its_channel_alone),
	KTAP_TEST(short_of_memory_stalls_only),
	KTAP_TEST(reset_ends_the_wait),
	KTAP_TEST(want_of_memory_is_no_strike),
	KTAP_TEST(owner_at_its_limit_lives),
	KTAP_TEST(touch_beyond_the_limit_is_sigbus),
	KTAP_TEST(trapped_write_beyond_the_limit_fails),
	KTAP_TEST(backed_bytes_are_exact),
	KTAP_TEST(filled_memory_is_resident),
	KTAP_TEST(who_goes_on_has_it),
	KTAP_TEST(promises_end_with_host_memory),
	KTAP_TEST(reserve_backs_all),
	KTAP_TEST(reserve_refuses_what_the_creator_cannot_pay),
	KTAP_TEST(reserve_refuses_what_the_host_has_not),
};

KTAP_MAIN(tests, cleanup)
