// SPDX-License-Identifier: GPL-2.0
/*
 * What a vGPU has of the host's memory counts as memory of the process that has the device, and of
 * nobody who only looks at that process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "compute.h"
#include "group.h"
#include "silent.h"

#define START		FX_MIB
#define FILL_MAX	(256 * FX_MIB)

static struct fx_vgpu v;

/* What ps and the OOM killer see of a process, in bytes; @key: "VmRSS:", "RssShmem:". */
static uint64_t resident_of(pid_t pid, const char *key)
{
	char path[32];
	uint64_t kib;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	CHECK(!file_number(path, key, &kib), "%s: no %s", path, key);
	return kib << 10;
}

static uint64_t resident(const char *key)
{
	return resident_of(getpid(), key);
}

/* By how much the figures may be off: page tables, pages mapped around those touched. */
#define RSS_ROOM	(4 * FX_MIB)

/* Waits until the driver has noticed the change, which takes up to some seconds. */
static void check_resident(const char *key, uint64_t bytes, const char *when)
{
	uint64_t now;

	FX_SOON((now = resident(key), now + RSS_ROOM >= bytes && now <= bytes + RSS_ROOM),
		"%s: %s %llu KiB, not %llu", when, key, (unsigned long long)now >> 10,
		(unsigned long long)bytes >> 10);
}

/* What is filled counts as resident, mapped or not, and nothing else does. */
static void filled_memory_is_resident(void)
{
	uint64_t fill = fx_memory_bytes() / 4 & ~(FX_MIB - 1), before, i;
	volatile uint8_t *at;
	struct vgpu_chan *chan;
	unsigned int sum = 0;

	fx_need_reserve(false);
	if (fill > FILL_MAX)
		fill = FILL_MAX;
	fx_create_open(&v, "1Q");
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	before = resident("VmRSS:");
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x600dcafe, fill));
	fx_finish(chan);
	check_resident("VmRSS:", before + fill, "filled");
	check_resident("RssShmem:", fill, "filled");

	/* The kernel counts pages that are mapped, and the driver counts only the others. */
	at = v.dev->fb + START;
	for (i = 0; i < fill / 2; i += 4096)
		sum += at[i];
	CHECK_EQ(sum, (unsigned int)(fill / 2 / 4096 * 0xfe));
	check_resident("RssShmem:", fill / 2, "half of it touched");
	check_resident("VmRSS:", before + fill, "half of it touched");

	/* Pages that are unmapped are still there. */
	CHECK(!madvise((void *)at, fill / 2, MADV_DONTNEED), "madvise: %s", strerror(errno));
	check_resident("RssShmem:", fill, "unmapped");
	check_resident("VmRSS:", before + fill, "unmapped");

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a reset");
	for (i = 0; i < 32 * FX_MIB; i += 4096)
		at[i] = 1;
	CHECK(!madvise((void *)at, 32 * FX_MIB, MADV_DONTNEED), "madvise: %s", strerror(errno));
	check_resident("VmRSS:", before + 32 * FX_MIB, "touched, unmapped");
	fx_close(&v);
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "after a close");
}

/* Contexts of programs that run are resident, too, though no BAR has them. */
static void contexts_are_resident(void)
{
	enum { CONTEXT = 8 * FX_MIB, NR = 2 };
	uint64_t before, now = 0;
	unsigned int i;

	fx_need_no_quarantine();
	fx_need_reserve(false);
	fx_create_open(&v, "1Q");
	compute_load(&v, compute_loop, 3, 8192);
	before = resident("VmRSS:");
	for (i = 0; i < NR; i++)
		compute_dispatch(compute_chan(&v), COMPUTE_SIZE(1024, 1, 1),
				 COMPUTE_SIZE(1024, 1, 1), 0);
	FX_SOON((now = resident("VmRSS:")) >= before + NR * CONTEXT, "%llu KiB, before: %llu",
		(unsigned long long)now >> 10, (unsigned long long)before >> 10);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_SOON((now = resident("VmRSS:")) < before + RSS_ROOM, "after a reset: %llu KiB",
		(unsigned long long)now >> 10);
}

/**
 * struct heir - between the test and the process that is left with the device
 * @idle:     it does not use the device
 * @mapped:   it has closed its file of the device, and keeps mappings
 * @pid:      the process; 0 until it has the device
 * @fb:       where it has BAR 0
 * @alone:    the process that opened the device has ended
 * @leave:    the process that is left is to end
 */
struct heir {
	bool idle;
	bool mapped;
	volatile pid_t pid;
	uint8_t *volatile fb;
	volatile bool alone;
	volatile bool leave;
};

/* It ends by itself if the test fails: fx_cleanup() does not know this process. */
static void inherit(struct heir *heir)
{
	uint64_t end = clk_ms() + 2 * FX_TIMEOUT_MS, at = 0;
	uint8_t *page;

	if (heir->mapped) {
		close(v.dev->fd);
		close(v.dev->group);
		close(v.dev->container);
	}
	heir->fb = v.dev->fb;
	heir->pid = getpid();
	while (!heir->leave && clk_ms() < end) {
		if (heir->alone && !heir->idle) {
			page = v.dev->fb + START + at;
			(void)*(volatile uint32_t *)page;
			madvise(page, 4096, MADV_DONTNEED);
			at = (at + FX_MIB) % GROUP_LIMIT;
		}
		clk_sleep_ms(20);
	}
	_exit(0);
}

static void fill(uint64_t bytes)
{
	struct vgpu_chan *chan;

	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, bytes));
	fx_finish(chan);
}

static void bequeath(void *arg)
{
	fill(GROUP_LIMIT);
	if (!fork())
		inherit(arg);
	_exit(0);
}

/* Opens the device in a process that then ends, and leaves the device to another one. */
static void leave_it_to(struct heir *heir, void (*run)(void *arg))
{
	int status;
	pid_t pid;

	fx_create(&v, "1Q");
	pid = child_start(run, heir);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "does not end");
	FX_SOON(heir->pid, "nobody is left");
	CHECK_EQ(fx_backed_bytes(&v) >= GROUP_LIMIT, true);
	heir->alone = true;
}

static void let_it_go(struct heir *heir)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	heir->leave = true;
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

static pid_t owner_pid(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.owner_pid;
}

static struct heir *leave_it(bool idle, bool mapped)
{
	struct heir *heir = child_shared(sizeof(*heir));

	fx_need_reserve(false);
	heir->idle = idle;
	heir->mapped = mapped;
	leave_it_to(heir, bequeath);
	return heir;
}

/* @key: "RssShmem:" of what the driver shows; "VmRSS:" of what is mapped, too. */
static void check_inherits(const struct heir *heir, const char *key)
{
	uint64_t now = 0;

	FX_SOON((now = resident_of(heir->pid, key)) >= GROUP_LIMIT, "%llu KiB",
		(unsigned long long)now >> 10);
	CHECK_EQ(owner_pid(), heir->pid);
}

/* The process that opened the device ends, another process goes on to use it. */
static void who_goes_on_has_it(void)
{
	struct heir *heir = leave_it(false, true);

	check_inherits(heir, "VmRSS:");
	let_it_go(heir);
}

/* It need not use the device. */
static void who_keeps_it_has_it(void)
{
	struct heir *heir = leave_it(true, false);

	check_inherits(heir, "RssShmem:");
	let_it_go(heir);
}

/* A mapping will do. Who reads it from outside has nothing of the vGPU. */
static void who_looks_has_nothing(void)
{
	enum { LOOKS = 64 };
	struct heir *heir = leave_it(true, true);
	uint64_t before = resident("VmRSS:"), at;
	char path[32];
	uint32_t word;
	int mem, i;

	snprintf(path, sizeof(path), "/proc/%d/mem", heir->pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(mem >= 0, "%s: %s", path, strerror(errno));
	for (i = 0; i < LOOKS; i++) {
		at = (uint64_t)(uintptr_t)heir->fb + START + i * (GROUP_LIMIT / LOOKS);
		CHECK_EQ(pread(mem, &word, sizeof(word), (off_t)at), sizeof(word));
		CHECK_EQ(word, ~0u);
	}
	close(mem);
	check_inherits(heir, "VmRSS:");
	CHECK(resident("VmRSS:") < before + RSS_ROOM, "%llu KiB, before: %llu",
	      (unsigned long long)resident("VmRSS:") >> 10, (unsigned long long)before >> 10);
	let_it_go(heir);
}

/**
 * struct parcel - between the test, who sends the device, and who receives it
 * @socket: by which it is sent
 * @came:   it has been received
 * @use:    the receiver is to make a call
 * @used:   it has done so
 * @stay:   the sender is not to end
 */
struct parcel {
	int socket[2];
	volatile bool came;
	volatile bool use;
	volatile bool used;
	volatile bool stay;
};

static void send_it(void *arg)
{
	struct parcel *parcel = arg;

	fill(GROUP_LIMIT);
	silent_send_fd(parcel->socket[0], v.dev->fd);
	while (parcel->stay)
		clk_sleep_ms(2);
}

static void receive_it(void *arg)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct parcel *parcel = arg;
	int fd = silent_receive_fd(parcel->socket[1]);

	parcel->came = true;
	while (!parcel->use)
		clk_sleep_ms(2);
	CHECK(!ioctl(fd, VFIO_DEVICE_GET_INFO, &info), "%s", strerror(errno));
	parcel->used = true;
	for (;;)
		pause();
}

/* A device that is sent away is nobody's, until who receives it does something with it. */
static void who_receives_it_has_it(void)
{
	struct parcel *parcel = child_shared(sizeof(*parcel));
	struct vgpu_ctl_instance inst;
	uint64_t now = 0;
	int status;
	pid_t pid;

	fx_need_reserve(false);
	fx_create(&v, "1Q");
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, parcel->socket), "%s",
	      strerror(errno));
	pid = child_start(send_it, parcel);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "does not end");
	CHECK_EQ(status, 0);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.state, VGPU_STATE_STARTED);
	CHECK_EQ(inst.fb_backed_bytes >= GROUP_LIMIT, true);
	CHECK_EQ(inst.owner_pid, 0);

	pid = child_start(receive_it, parcel);
	close(parcel->socket[0]);
	close(parcel->socket[1]);
	FX_SOON(parcel->came, "no message comes");
	CHECK_EQ(owner_pid(), 0);
	parcel->use = true;
	FX_SOON(parcel->used, "no call");
	CHECK_EQ(owner_pid(), pid);
	FX_SOON((now = resident_of(pid, "RssShmem:")) >= GROUP_LIMIT, "%llu KiB",
		(unsigned long long)now >> 10);
	child_kill(pid);
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
	CHECK_EQ(inst.owner_pid, 0);
}

/* Nor has who is sent it, and looks at it, while the sender uses it. */
static void who_is_sent_it_has_nothing(void)
{
	struct parcel *parcel = child_shared(sizeof(*parcel));
	pid_t sender, pid;
	uint64_t now = 0;
	int status;

	fx_need_reserve(false);
	fx_create(&v, "1Q");
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, parcel->socket), "%s",
	      strerror(errno));
	parcel->stay = true;
	parcel->use = true;
	sender = child_start(send_it, parcel);
	pid = child_start(receive_it, parcel);
	FX_SOON(parcel->used, "no call");
	FX_SOON((now = resident_of(sender, "RssShmem:")) >= GROUP_LIMIT, "%llu KiB",
		(unsigned long long)now >> 10);
	CHECK_EQ(owner_pid(), sender);
	CHECK(resident_of(pid, "RssShmem:") < RSS_ROOM, "the receiver has it");

	parcel->stay = false;
	CHECK(child_ends(sender, FX_TIMEOUT_MS, &status), "does not end");
	CHECK_EQ(owner_pid(), pid);
	FX_SOON((now = resident_of(pid, "RssShmem:")) >= GROUP_LIMIT, "%llu KiB",
		(unsigned long long)now >> 10);
	child_kill(pid);
	close(parcel->socket[0]);
	close(parcel->socket[1]);
}

static void exec_with_it(void *arg)
{
	(void)arg;
	fill(GROUP_LIMIT);
	CHECK(!fcntl(v.dev->fd, F_SETFD, 0), "%s", strerror(errno));
	execlp("sleep", "sleep", "1000", (char *)NULL);
	FAIL("sleep: %s", strerror(errno));
}

/* A process that becomes another program keeps the framebuffer, but it is nobody's. */
static void who_execs_has_it_no_more(void)
{
	struct vgpu_ctl_instance inst;
	char path[32], name[32];
	uint64_t now = 0;
	pid_t pid;

	fx_need_reserve(false);
	fx_create(&v, "1Q");
	pid = child_start(exec_with_it, NULL);
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	FX_SOON(file_read(path, name, sizeof(name)) > 0 && !strcmp(name, "sleep\n"),
		"does not exec");
	CHECK_EQ(fx_backed_bytes(&v) >= GROUP_LIMIT, true);
	now = resident_of(pid, "RssShmem:");
	CHECK(now < RSS_ROOM, "%llu KiB", (unsigned long long)now >> 10);
	CHECK_EQ(owner_pid(), 0);
	child_kill(pid);
	FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(filled_memory_is_resident),
	KTAP_TEST(contexts_are_resident),
	KTAP_TEST(who_goes_on_has_it),
	KTAP_TEST(who_keeps_it_has_it),
	KTAP_TEST(who_looks_has_nothing),
	KTAP_TEST(who_receives_it_has_it),
	KTAP_TEST(who_is_sent_it_has_nothing),
	KTAP_TEST(who_execs_has_it_no_more),
};

KTAP_MAIN(tests, fx_cleanup)
