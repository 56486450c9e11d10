// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject.h"

#define DEBUGFS		"/sys/kernel/debug"

static unsigned int at_first;	/* 1Q available before the first vGPU was created */

/*
 * VFIO's vfio_create_group() warns in its own error path, about a group that it drops with an
 * IOMMU group in it (seen in 6.12). It calls none of this driver, so no faults are injected
 * there. Finds the addresses of that function, or of the function that it is inlined into.
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

void inject_need(void)
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
		/* Not each kind has each of these files. */
		snprintf(path, sizeof(path), DEBUGFS "/%s/verbose", kinds[i]);
		CHECK(!file_write(path, "0"), "%s", path);
		snprintf(path, sizeof(path), DEBUGFS "/%s/ignore-gfp-wait", kinds[i]);
		file_write(path, "N");
		snprintf(path, sizeof(path), DEBUGFS "/%s/ignore-gfp-highmem", kinds[i]);
		file_write(path, "N");
		snprintf(path, sizeof(path), DEBUGFS "/%s/min-order", kinds[i]);
		file_write(path, "0");
		if (!find_vfio_group(&start, &end))
			continue;
		snprintf(path, sizeof(path), DEBUGFS "/%s/reject-start", kinds[i]);
		snprintf(text, sizeof(text), "%#llx", start);
		file_write(path, text);
		snprintf(path, sizeof(path), DEBUGFS "/%s/reject-end", kinds[i]);
		snprintf(text, sizeof(text), "%#llx", end);
		file_write(path, text);
	}
	at_first = fx_available("1Q");
}

/* The file of a thread to which N is written, so that its Nth allocation from then on fails. */
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

/* Whether an allocation was made to fail. */
static bool disarm(int fd)
{
	char text[16] = "";

	while (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		;
	while (pwrite(fd, "0", 1, 0) != 1)
		;
	return text[0] == '0';
}

void inject_task(const struct inject_op *op, pid_t pid)
{
	uint64_t end = clk_ms() + fx_env("VGPU_TEST_INJECT_MS", 3000);
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
		if (clk_ms() > end)
			step += step / 4 + 1;
		/* Where not each N can be tried, each run tries others. */
		nth += step == 1 ? 1 : 1 + fx_random_below(2 * step);
		CHECK(nth < 1000000, "%s does not end", op->name);
	} while (hit);
	ktap_note("%s: %u points below %u, %u made it fail", op->name, points, nth, failures);
	CHECK(points, "%s: nothing was injected", op->name);
	close(fd);
}

void inject(const struct inject_op *op)
{
	inject_task(op, 0);
}

static void set_kind(const char *kind, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUGFS "/%s/%s", kind, file);
	CHECK(!file_write(path, text), "%s", path);
}

static void set_threads(const pid_t *threads, unsigned int nr, const char *text)
{
	char path[64];

	while (nr--) {
		snprintf(path, sizeof(path), "/proc/%d/make-it-fail", threads[nr]);
		CHECK(!file_write(path, text), "%s", path);
	}
}

void inject_shortage(const char *kind, const pid_t *threads, unsigned int nr)
{
	set_threads(threads, nr, "1");
	set_kind(kind, "task-filter", "Y");
	set_kind(kind, "times", "-1");
	set_kind(kind, "probability", "100");
}

void inject_plenty(const char *kind, const pid_t *threads, unsigned int nr)
{
	set_kind(kind, "probability", "0");
	set_kind(kind, "times", "1");
	set_kind(kind, "task-filter", "N");
	set_threads(threads, nr, "0");
}

/* A test that has failed may have left a shortage. */
static void inject_cleanup(void)
{
	inject_plenty("failslab", NULL, 0);
	inject_plenty("fail_page_alloc", NULL, 0);
	fx_cleanup();
}

void inject_check_counts(unsigned int instances)
{
	struct vgpu_ctl_gpu gpu;

	CHECK_EQ(fx_available("1Q"), at_first - instances);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.instances, instances);
}

void inject_full_run(struct fx_vgpu *v)
{
	uint64_t from = v->dev->fb_next;
	struct vgpu_chan *c;

	c = fx_chan(v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v->dev, vgpu_chan_fill(c, VGPU_FB(INJECT_AT), 0x12345678, 65536));
	FX_OK(v->dev, vgpu_chan_copy(c, VGPU_FB(2 * INJECT_AT), VGPU_FB(INJECT_AT), 65536));
	fx_finish(c);
	fx_check_words(v->dev->fb + 2 * INJECT_AT, 65536, 0x12345678);
	vgpu_chan_destroy(c);
	vgpu_fb_release(v->dev, from);
}

int inject_main(const struct ktap_test *tests, size_t count)
{
	if (access("/proc/self/fail-nth", W_OK))
		ktap_skip_all("no fault injection in this kernel");
	return ktap_run(tests, count, inject_cleanup);
}
