// SPDX-License-Identifier: GPL-2.0
/* Each allocation of each call fails once: it is told, nothing is left, and the next call works. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM

/* A call has fewer allocations than this, and the kernel repeats some that have failed. */
#define NTH_MAX		2000

/**
 * struct failing - what calls are made with
 * @fd:     file
 * @vm:     VM
 * @queue:  queue in it
 * @handle: buffer
 * @sync:   syncobj
 */
struct failing {
	int fd;
	uint32_t vm;
	uint32_t queue;
	uint32_t handle;
	uint32_t sync;
};

static bool text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok || failed("%s: %s", path, strerror(errno));
}

/* Where the function of that name begins and ends, in the kernel. */
static bool find_function(const char *name, char *begin, char *end, size_t room)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long from = 0, to = ~0ul, address;
	char line[512], symbol[256];

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %255s", &address, symbol) == 2 && !strcmp(symbol, name))
			from = address;
	rewind(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx", &address) == 1 && address > from && address < to)
			to = address;
	fclose(file);
	snprintf(begin, room, "%lu", from);
	snprintf(end, room, "%lu", to);
	return from || failed("no %s", name);
}

/*
 * Of memory that may be waited for as well, and without a line in the log for each. Not in the
 * kernel's buddy allocator: 6.12's breaks its trees when it cannot split a block.
 */
static bool failures_on(void)
{
	static const char * const dir[] = { "failslab", "fail_page_alloc" };
	char path[128], begin[32], end[32];
	unsigned int i;

	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) && errno != EBUSY)
		return failed("debugfs: %s", strerror(errno));
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/ignore-gfp-wait", dir[i]);
		CHECK(text_write(path, "N"));
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose", dir[i]);
		CHECK(text_write(path, "0"));
		CHECK(find_function("gpu_buddy_alloc_blocks", begin, end, sizeof(begin)));
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/reject-start", dir[i]);
		CHECK(text_write(path, begin));
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/reject-end", dir[i]);
		CHECK(text_write(path, end));
	}
	return text_write("/sys/kernel/debug/fail_page_alloc/min-order", "0");
}

static int call_vm(struct failing *f)
{
	uint32_t id;
	int ret = vm_make(f->fd, &id);

	return ret ? ret : vm_end(f->fd, id);
}

static int call_bo(struct failing *f)
{
	uint32_t handle;
	int ret = bo_make(f->fd, 3 * PAGE, FRAMEBUFFER, f->vm, &handle);

	return ret ? ret : bo_close(f->fd, handle);
}

static int call_bo_system(struct failing *f)
{
	uint32_t handle;
	int ret = bo_make(f->fd, 3 * PAGE, SYSTEM, 0, &handle);

	return ret ? ret : bo_close(f->fd, handle);
}

static int call_bind(struct failing *f)
{
	int ret = bind_map(f->fd, f->vm, f->handle, PAGE, VA_DATA + PAGE, PAGE, 0);

	return ret ? ret : bind_unmap(f->fd, f->vm, VA_DATA, 4 * PAGE);
}

static int call_bind_later(struct failing *f)
{
	int ret = bind_later(f->fd, f->vm, f->sync, f->sync);

	return ret ? ret : sync_wait(f->fd, f->sync, WAIT_MS);
}

static int call_point(struct failing *f)
{
	struct drm_vgpu_sync sync = {
		.handle = f->sync,
		.flags = DRM_VGPU_SYNC_SIGNAL | DRM_VGPU_SYNC_TIMELINE,
		.point = 1,
	};
	struct drm_vgpu_exec args = {
		.queue_id = f->queue,
		.syncs = { sizeof(sync), 1, (uintptr_t)&sync },
	};

	return node_ioctl(f->fd, DRM_IOCTL_VGPU_EXEC, &args);
}

static int call_queue(struct failing *f)
{
	uint32_t id;
	int ret = queue_make(f->fd, f->vm, 0, 4, &id);

	return ret ? ret : queue_end(f->fd, id);
}

static int call_exec(struct failing *f)
{
	struct vgpu_hw_packet packet[2] = {
		packet_fill(VA_MORE, PAGE, 1), packet_fill(VA_MORE, PAGE, 2),
	};

	return exec(f->fd, f->queue, packet, 2, f->sync, f->sync);
}

static int call_open(struct failing *f)
{
	int fd = node_open();

	(void)f;
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Returns how many allocations have failed, or -1. */
static int fail_each(struct failing *f, const char *name, int (*call)(struct failing *f))
{
	int nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), left, ret = 0, i;
	char text[16];
	ssize_t n;

	if (nth < 0)
		return failed("fail-nth: %s", strerror(errno)) - 1;
	for (i = 1; i < NTH_MAX; i++) {
		n = snprintf(text, sizeof(text), "%d", i);
		if (pwrite(nth, text, n, 0) != n)
			return failed("fail-nth: %s", strerror(errno)) - 1;
		ret = call(f);
		n = pread(nth, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = 0;
		left = atoi(text);
		/* What has failed may have been tried again, in another way. */
		if (pwrite(nth, "0", 1, 0) != 1 || left || (ret && ret != -ENOMEM))
			break;
	}
	close(nth);
	if (i == NTH_MAX || ret)
		return failed("%s: failure %d: %s", name, i, strerror(-ret)) - 1;
	return i - 1;
}

bool test_fail_nth(void)
{
	static const struct {
		const char *name;
		int (*call)(struct failing *f);
	} call[] = {
		{ "open", call_open }, { "vm", call_vm }, { "bo", call_bo },
		{ "bo_system", call_bo_system }, { "bind", call_bind },
		{ "bind_later", call_bind_later }, { "point", call_point },
		{ "queue", call_queue }, { "exec", call_exec },
	};
	uint64_t before;
	struct failing f;
	unsigned int i;
	int nr, fd = node_open();

	CHECK(fd >= 0 && failures_on());
	before = fb_free(fd);
	f.fd = node_open();
	CHECK(f.fd >= 0);
	CHECK_RET(vm_make(f.fd, &f.vm), 0);
	CHECK_RET(queue_make(f.fd, f.vm, 1, 8, &f.queue), 0);
	CHECK_RET(bo_make(f.fd, 4 * PAGE, FRAMEBUFFER, 0, &f.handle), 0);
	CHECK_RET(bind_map(f.fd, f.vm, f.handle, 0, VA_MORE, PAGE, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(sync_make(f.fd, &f.sync), 0);
	CHECK_RET(exec(f.fd, f.queue, NULL, 0, 0, f.sync), 0);
	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
		nr = fail_each(&f, call[i].name, call[i].call);
		CHECK(nr > 0);
		say("fail_nth: %s: %d failures", call[i].name, nr);
	}
	CHECK_RET(exec_wait(f.fd, f.queue, NULL, 0), 0);
	close(f.fd);
	CHECK(fb_free(fd) == before);
	close(fd);
	return test_dispatch();
}
