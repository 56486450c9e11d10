// SPDX-License-Identifier: GPL-2.0
/* The threads of an open vGPU are charged to the cgroup of the process that opened it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "fixture.h"
#include "tracing.h"

#define ROOT	"/sys/fs/cgroup"
#define GROUP	"vgpu-test"

static struct fx_vgpu v;

static void enter(const char *group)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	ret = file_write(path, "0");
	CHECK(!ret, "%s: %s", path, strerror(-ret));
}

static void make_group(void)
{
	struct statfs fs;

	if (statfs(ROOT, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
		ktap_skip("no cgroup2 at " ROOT);
	CHECK(!mkdir(ROOT "/" GROUP, 0755) || errno == EEXIST, "%s", strerror(errno));
}

/* PID of the vGPU's thread of that kind ("vgpu-dma"), 0 if there is none. */
static int find_thread(const char *kind)
{
	char name[32];

	snprintf(name, sizeof(name), "%s/%.6s\n", kind, v.uuid);
	return file_find_process(name);
}

static void check_group(int pid, const char *group)
{
	char path[64], text[4096], wanted[64];

	CHECK(pid, "no such thread");
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	snprintf(wanted, sizeof(wanted), "0::/%s\n", group);
	CHECK(strstr(text, wanted), "is in %s", text);
}

static uint64_t used_us(void)
{
	uint64_t us;

	CHECK(!file_number(ROOT "/" GROUP "/cpu.stat", "usage_usec ", &us), "no cpu.stat");
	return us;
}

static bool group_is_gone(void)
{
	return !rmdir(ROOT "/" GROUP) || errno == ENOENT;
}

/*
 * The opener leaves the cgroup when it has opened the device: what the cgroup uses from then on
 * is used by the vGPU's threads, which are still in it.
 */
static void opener_pays(void)
{
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint64_t before_us, start, end;
	unsigned int i, rounds = 0;

	make_group();
	fx_create(&v, fx_default_type());
	enter(ROOT "/" GROUP);
	start = clk_ms();
	fx_open(&v);
	ktap_note("opened in %llu ms", (unsigned long long)(clk_ms() - start));
	enter(ROOT);
	check_group(find_thread("vgpu-dma"), GROUP);
	check_group(find_thread("vgpu-irq"), GROUP);

	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 8);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, FX_MIB, &buf));
	before_us = used_us();
	end = clk_ms() + FX_TIMEOUT_MS;
	/* User Mode Linux charges a thread for ticks: for none, if each comes when others run. */
	do {
		for (i = 0; i < 64; i++)
			FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_SYS(&buf, 0), i, FX_MIB));
		fx_finish(chan);
		rounds++;
	} while (used_us() == before_us && clk_ms() < end);
	ktap_note("%u times 64 MiB cost the opener %llu us", rounds,
		  (unsigned long long)(used_us() - before_us));
	CHECK(used_us() > before_us, "nothing was charged");
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
	start = clk_ms();
	fx_close(&v);
	ktap_note("closed in %llu ms", (unsigned long long)(clk_ms() - start));
	FX_SOON(group_is_gone(), "threads are left in the cgroup");
}

static unsigned int nr_left;

/* A record is "... dst_path=/ pid=PID comm=COMM". */
static void check_left(char *line)
{
	if (strstr(line, " dst_path=/ ") &&
	    (strstr(line, "comm=vgpu-dma/") || strstr(line, "comm=vgpu-irq/")))
		nr_left++;
}

/*
 * Whoever closes the device waits for the vGPU's threads, and that may be a thread of the kernel.
 * So these threads first leave the user's cgroup, which may get no processor.
 */
static void close_needs_no_quota(void)
{
	static const struct tracing attach = { "cgroup/cgroup_attach_task" };

	make_group();
	fx_create(&v, fx_default_type());
	enter(ROOT "/" GROUP);
	fx_open(&v);
	enter(ROOT);
	tracing_begin(&attach, "0");
	fx_close(&v);
	tracing_end(&attach);
	nr_left = 0;
	tracing_read(&attach, check_left);
	CHECK_EQ(nr_left, 2, "threads that have left the cgroup");
	FX_SOON(group_is_gone(), "threads are left in the cgroup");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(opener_pays),
	KTAP_TEST(close_needs_no_quota),
};

KTAP_MAIN(tests, fx_cleanup)
