// SPDX-License-Identifier: GPL-2.0
/* The threads of an open vGPU are charged to who opened it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
	ret = fx_write_file(path, "0");
	CHECK(!ret, "%s: %s", path, strerror(-ret));
}

static void make_group(void)
{
	struct statfs fs;

	if (statfs(ROOT, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
		ktap_skip("no cgroup2 at " ROOT);
	CHECK(!mkdir(ROOT "/" GROUP, 0755) || errno == EEXIST, "%s",
	      strerror(errno));
}

/* PID of a vGPU's thread of a kind, 0 if there is none. */
static int find_thread(const char *kind)
{
	char wanted[32], path[300], comm[64];
	struct dirent *entry;
	int pid = 0;
	DIR *dir;

	snprintf(wanted, sizeof(wanted), "%s/%.6s\n", kind, v.uuid);
	dir = opendir("/proc");
	CHECK(dir, "%s", strerror(errno));
	while (!pid && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (fx_read_file(path, comm, sizeof(comm)) > 0 &&
		    !strcmp(comm, wanted))
			pid = atoi(entry->d_name);
	}
	closedir(dir);
	return pid;
}

static void check_group(int pid, const char *group)
{
	char path[64], text[4096], wanted[64];

	CHECK(pid, "no such thread");
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	CHECK(fx_read_file(path, text, sizeof(text)) > 0, "%s", path);
	snprintf(wanted, sizeof(wanted), "0::/%s\n", group);
	CHECK(strstr(text, wanted), "is in %s", text);
}

static bool is_rt(void)
{
	char text[8];

	return fx_read_file("/sys/kernel/realtime", text, sizeof(text)) > 0 &&
	       text[0] == '1';
}

static uint64_t used_us(void)
{
	char text[4096];

	CHECK(fx_read_file(ROOT "/" GROUP "/cpu.stat", text, sizeof(text)) > 0,
	      "no cpu.stat");
	CHECK(!strncmp(text, "usage_usec ", 11), "%s", text);
	return strtoull(text + 11, NULL, 10);
}

static bool group_is_gone(void)
{
	return !rmdir(ROOT "/" GROUP) || errno == ENOENT;
}

/*
 * The opener goes back to where it came from, so that what its cgroup uses
 * after is used by the threads that it has left there.
 */
static void opener_pays(void)
{
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint64_t before_us, start;
	unsigned int i;

	if (is_rt())
		ktap_skip("PREEMPT_RT: threads are not attached");
	make_group();
	fx_create(&v, fx_default_type());
	enter(ROOT "/" GROUP);
	start = fx_now_ms();
	fx_open(&v);
	ktap_note("opened in %llu ms",
		  (unsigned long long)(fx_now_ms() - start));
	enter(ROOT);
	check_group(find_thread("vgpu-dma"), GROUP);
	check_group(find_thread("vgpu-irq"), GROUP);

	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 8);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, FX_MIB, &buf));
	before_us = used_us();
	for (i = 0; i < 64; i++)
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_SYS(&buf, 0), i, FX_MIB));
	fx_finish(chan);
	ktap_note("64 MiB cost the opener %llu us",
		  (unsigned long long)(used_us() - before_us));
	CHECK(used_us() > before_us, "nothing was charged");
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
	start = fx_now_ms();
	fx_close(&v);
	ktap_note("closed in %llu ms",
		  (unsigned long long)(fx_now_ms() - start));
	FX_SOON(group_is_gone(), "threads are left in the cgroup");
}

static unsigned int nr_left;

/* "... dst_path=/ pid=PID comm=COMM" */
static void check_left(char *line)
{
	if (strstr(line, " dst_path=/ ") &&
	    (strstr(line, "comm=vgpu-dma/") || strstr(line, "comm=vgpu-irq/")))
		nr_left++;
}

/*
 * Others wait for the threads when the device is closed, perhaps a thread of the
 * kernel: so they leave the user's cgroup, which may get no processor.
 */
static void close_needs_no_quota(void)
{
	static const struct tracing attach = { "cgroup/cgroup_attach_task" };

	if (is_rt())
		ktap_skip("PREEMPT_RT: threads are not attached");
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
