// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of each call fails once, of slabs and of pages: it is told, nothing has changed,
 * nothing is left, and the next call works.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <drm/drm.h>

#include "node.h"
#include "shown.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM

/* A call has fewer allocations than this, and the kernel repeats some that have failed. */
#define NTH_MAX		2000

/**
 * struct failing - what calls are made with
 * @fd:     file
 * @other:  another one
 * @dmabuf: of @handle
 * @vm:     VM
 * @queue:  queue in it
 * @gr:     one that can show
 * @handle: buffer
 * @sync:   syncobj, signalled
 * @made:   file that is made to be closed
 * @id:     of a VM or queue that is made to be destroyed
 */
struct failing {
	int fd;
	int other;
	int dmabuf;
	uint32_t vm;
	uint32_t queue;
	uint32_t gr;
	uint32_t handle;
	uint32_t sync;
	int made;
	uint32_t id;
};

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

int fail_nth(int nth)
{
	static int fd = -1;
	char text[16] = "";
	int left;

	if (fd < 0)
		fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) > 0);
	left = atoi(text);
	snprintf(text, sizeof(text), "%d", nth);
	CHECK(pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
	return left;
}

/*
 * Of memory that may be waited for as well, and without a line in the log for each. Not in the
 * kernel's buddy allocator: 6.12's breaks its trees when it cannot split a block.
 */
bool failures_on(void)
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

/* Of large pieces; and in one piece, which is more than the allocator has as a block. */
static int call_bo_large(struct failing *f)
{
	uint32_t handle;
	int ret = bo_make(f->fd, 6 * MIB + PAGE, FRAMEBUFFER, f->vm, &handle);

	return ret ? ret : bo_close(f->fd, handle);
}

static int call_bo_piece(struct failing *f)
{
	uint32_t handle;
	int ret = bo_make_piece(f->fd, 6 * MIB + PAGE, 0, &handle);

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

/* More than have room without an allocation. */
static int call_points(struct failing *f)
{
	struct drm_vgpu_sync sync[6];
	struct drm_vgpu_exec args = {
		.queue_id = f->queue,
		.syncs = { sizeof(sync[0]), 6, (uintptr_t)sync },
	};
	uint32_t i;

	for (i = 0; i < 6; i++)
		sync[i] = (struct drm_vgpu_sync){
			.handle = f->sync,
			.flags = DRM_VGPU_SYNC_SIGNAL | DRM_VGPU_SYNC_TIMELINE,
			.point = i + 1,
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

/* Maps and unmaps, both later, with syncobjs and points. */
static int call_bind_async(struct failing *f)
{
	struct drm_vgpu_bind_op op[2] = {
		{ .type = DRM_VGPU_BIND_MAP, .handle = f->handle, .va = VA_DATA, .size = PAGE },
		{ .type = DRM_VGPU_BIND_UNMAP, .va = VA_DATA, .size = PAGE },
	};
	struct drm_vgpu_sync sync[2] = {
		{ .handle = f->sync },
		{ .handle = f->sync, .flags = DRM_VGPU_SYNC_SIGNAL },
	};
	struct drm_vgpu_vm_bind args = {
		.vm_id = f->vm,
		.flags = DRM_VGPU_VM_BIND_ASYNC,
		.ops = { sizeof(op[0]), 2, (uintptr_t)op },
		.syncs = { sizeof(sync[0]), 2, (uintptr_t)sync },
	};
	int ret = node_ioctl(f->fd, DRM_IOCTL_VGPU_VM_BIND, &args);

	return ret ? ret : sync_wait(f->fd, f->sync, WAIT_MS);
}

static int call_exec_many(struct failing *f)
{
	struct vgpu_hw_packet packet[256];
	uint32_t i;

	for (i = 0; i < 256; i++)
		packet[i] = packet_fill(VA_MORE, 16, i);
	return exec(f->fd, f->queue, packet, 256, f->sync, 0);
}

static int call_present(struct failing *f)
{
	const struct vgpu_hw_packet packet = packet_present(VA_MORE, 1);

	return exec(f->fd, f->gr, &packet, 1, f->sync, f->sync);
}

static int call_mmap(struct failing *f)
{
	uint64_t page;
	void *ptr;
	int ret = bo_map(f->fd, f->handle, 4 * PAGE, &ptr);

	if (ret)
		return ret;
	for (page = 0; page < 4; page++)
		((volatile uint32_t *)ptr)[page * PAGE / 4]++;
	munmap(ptr, 4 * PAGE);
	return 0;
}

static int export_handle(int fd, uint32_t handle)
{
	struct drm_prime_handle args = { .handle = handle, .flags = O_CLOEXEC | O_RDWR };
	int ret = node_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);

	return ret ? ret : args.fd;
}

static int call_export(struct failing *f)
{
	uint32_t handle;
	int ret = bo_make(f->fd, PAGE, FRAMEBUFFER, 0, &handle), fd;

	if (ret)
		return ret;
	fd = export_handle(f->fd, handle);
	bo_close(f->fd, handle);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int call_import(struct failing *f)
{
	struct drm_prime_handle args = { .fd = f->dmabuf };
	int ret = node_ioctl(f->other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);

	return ret ? ret : bo_close(f->other, args.handle);
}

static int call_sync(struct failing *f)
{
	uint32_t handle;
	int ret = sync_make(f->fd, &handle);

	return ret ? ret : sync_end(f->fd, handle);
}

/* A syncobj goes to the other file; so does its fence. */
static int call_sync_fd(struct failing *f)
{
	struct drm_syncobj_handle args = { .handle = f->sync, .fd = -1 };
	int ret = node_ioctl(f->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);

	if (ret)
		return ret;
	ret = node_ioctl(f->other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);
	close(args.fd);
	return ret ? ret : sync_end(f->other, args.handle);
}

static int call_sync_file(struct failing *f)
{
	int ret = sync_wait(f->fd, f->sync, WAIT_MS);

	return ret ? ret : sync_error(f->fd, f->sync);
}

static int call_transfer(struct failing *f)
{
	struct drm_syncobj_transfer args = { .src_handle = f->sync, .dst_point = 1 };
	int ret = sync_make(f->fd, &args.dst_handle);

	if (ret)
		return ret;
	ret = node_ioctl(f->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &args);
	sync_end(f->fd, args.dst_handle);
	return ret;
}

static int call_eventfd(struct failing *f)
{
	struct drm_syncobj_eventfd args = { .handle = f->sync };
	int ret;

	args.fd = eventfd(0, EFD_CLOEXEC);
	if (args.fd < 0)
		return -errno;
	ret = node_ioctl(f->fd, DRM_IOCTL_SYNCOBJ_EVENTFD, &args);
	close(args.fd);
	return ret;
}

static bool make_fdinfo(struct failing *f)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", f->fd);
	f->made = open(path, O_RDONLY | O_CLOEXEC);
	return f->made >= 0 || failed("%s: %s", path, strerror(errno));
}

static int call_fdinfo(struct failing *f)
{
	char text[4096];
	int ret = read(f->made, text, sizeof(text)) < 0 ? -errno : 0;

	close(f->made);
	return ret;
}

/* A file that has one of each, and a job. */
static bool make_file(struct failing *f)
{
	struct failing made;

	made.fd = node_open();
	CHECK(made.fd >= 0);
	CHECK_RET(vm_make(made.fd, &made.vm), 0);
	CHECK_RET(queue_make(made.fd, made.vm, 1, 4, &made.queue), 0);
	CHECK_RET(bo_make(made.fd, PAGE, FRAMEBUFFER, made.vm, &made.handle), 0);
	CHECK_RET(bind_map(made.fd, made.vm, made.handle, 0, VA_MORE, PAGE, 0), 0);
	CHECK_RET(exec(made.fd, made.queue, NULL, 0, 0, 0), 0);
	f->made = made.fd;
	return true;
}

static int call_close(struct failing *f)
{
	return close(f->made) ? -errno : 0;
}

static bool make_vm(struct failing *f)
{
	CHECK_RET(vm_make(f->fd, &f->id), 0);
	return bind_map(f->fd, f->id, f->handle, 0, VA_DATA, 4 * PAGE, 0) == 0;
}

static int call_vm_end(struct failing *f)
{
	return vm_end(f->fd, f->id);
}

static bool make_queue(struct failing *f)
{
	CHECK_RET(queue_make(f->fd, f->vm, 1, 4, &f->id), 0);
	return exec(f->fd, f->id, NULL, 0, 0, 0) == 0;
}

static int call_queue_end(struct failing *f)
{
	return queue_end(f->fd, f->id);
}

static bool make_handle(struct failing *f)
{
	CHECK_RET(bo_make(f->fd, 2 * PAGE, FRAMEBUFFER, f->vm, &f->id), 0);
	return bind_map(f->fd, f->vm, f->id, 0, VA_DATA, 2 * PAGE, 0) == 0;
}

static int call_handle_end(struct failing *f)
{
	return bo_close(f->fd, f->id);
}

/**
 * struct fail_call - a call that is made with failures
 * @name: of it
 * @call: makes it: 0 or a negative errno
 * @make: before that, without failures, or NULL
 * @ends: it gives something back, which must not fail, and may need no memory
 * @also: an error of the kernel's own for a lack of memory, or 0
 */
struct fail_call {
	const char *name;
	int (*call)(struct failing *f);
	bool (*make)(struct failing *f);
	bool ends;
	int also;
};

/* The next ids and handles of the file, which calls that have failed must not have taken. */
static bool next_ids(const struct failing *f, uint32_t *id)
{
	CHECK_RET(vm_make(f->fd, &id[0]), 0);
	CHECK_RET(queue_make(f->fd, id[0], 0, 4, &id[1]), 0);
	CHECK_RET(bo_make(f->fd, PAGE, SYSTEM, 0, &id[2]), 0);
	CHECK_RET(sync_make(f->fd, &id[3]), 0);
	CHECK_RET(sync_end(f->fd, id[3]), 0);
	CHECK_RET(bo_close(f->fd, id[2]), 0);
	CHECK_RET(queue_end(f->fd, id[1]), 0);
	CHECK_RET(vm_end(f->fd, id[0]), 0);
	return true;
}

/* Returns how many allocations have failed, or -1. */
static int fail_each(struct failing *f, const struct fail_call *call)
{
	int ret = 0, i;
	bool told;

	for (i = 1; i < NTH_MAX; i++) {
		if (call->make && !call->make(f))
			return -1;
		fail_nth(i);
		ret = call->call(f);
		/* What has failed may have been tried again, in another way. */
		told = !call->ends && (ret == -ENOMEM || (ret && ret == -call->also));
		if (fail_nth(0) || (ret && !told))
			break;
	}
	if (i == NTH_MAX || ret)
		return failed("%s: failure %d: %s", call->name, i, strerror(-ret)) - 1;
	return i - 1;
}

#define FAIL_CALL(what)		{ .name = #what, .call = call_##what }
#define FAIL_END(what, from)	{ .name = #what, .call = call_##what, .make = from, .ends = true }

static const struct fail_call fail_calls[] = {
	FAIL_CALL(open), FAIL_CALL(vm), FAIL_CALL(bo), FAIL_CALL(bo_system),
	FAIL_CALL(bo_large), FAIL_CALL(bo_piece), FAIL_CALL(bind),
	FAIL_CALL(bind_later), FAIL_CALL(bind_async), FAIL_CALL(points), FAIL_CALL(queue),
	FAIL_CALL(exec), FAIL_CALL(exec_many), FAIL_CALL(present), FAIL_CALL(mmap),
	FAIL_CALL(export), FAIL_CALL(import), FAIL_CALL(sync), FAIL_CALL(sync_fd),
	{ .name = "sync_file", .call = call_sync_file, .also = EINVAL },
	FAIL_CALL(transfer), FAIL_CALL(eventfd),
	{ .name = "fdinfo", .call = call_fdinfo, .make = make_fdinfo },
	FAIL_END(close, make_file), FAIL_END(vm_end, make_vm), FAIL_END(queue_end, make_queue),
	FAIL_END(handle_end, make_handle),
};

static bool fail_begin(struct failing *f)
{
	f->fd = node_open();
	f->other = node_open();
	CHECK(f->fd >= 0 && f->other >= 0);
	CHECK_RET(vm_make(f->fd, &f->vm), 0);
	CHECK_RET(queue_make(f->fd, f->vm, 1, 8, &f->queue), 0);
	CHECK_RET(queue_make(f->fd, f->vm, 0, 4, &f->gr), 0);
	CHECK_RET(bo_make(f->fd, 4 * PAGE, FRAMEBUFFER, 0, &f->handle), 0);
	CHECK_RET(bind_map(f->fd, f->vm, f->handle, 0, VA_MORE, PAGE, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(sync_make(f->fd, &f->sync), 0);
	CHECK_RET(exec(f->fd, f->queue, NULL, 0, 0, f->sync), 0);
	CHECK_RET(sync_wait(f->fd, f->sync, WAIT_MS), 0);
	f->dmabuf = export_handle(f->fd, f->handle);
	CHECK(f->dmabuf >= 0);
	return true;
}

bool test_fail_nth(void)
{
	uint32_t before[4], after[4];
	const struct fail_call *call;
	int nr, fd = node_open();
	struct failing f;
	uint64_t room;
	unsigned int i;

	CHECK(fd >= 0 && failures_on());
	room = fb_free(fd);
	CHECK(fail_begin(&f));
	for (i = 0; i < sizeof(fail_calls) / sizeof(fail_calls[0]); i++) {
		call = &fail_calls[i];
		CHECK(next_ids(&f, before));
		nr = fail_each(&f, call);
		say("fail_nth: %s: %d failures", call->name, nr);
		CHECK(nr > 0 || (!nr && call->ends));
		CHECK(next_ids(&f, after) && !memcmp(before, after, sizeof(before)));
		CHECK(!call->make || call->make(&f));
		CHECK_RET(call->call(&f), 0);
	}
	CHECK_RET(exec_wait(f.fd, f.queue, NULL, 0), 0);
	CHECK_RET(exec_wait(f.fd, f.gr, NULL, 0), 0);
	close(f.dmabuf);
	close(f.other);
	close(f.fd);
	/* What is shown is held until then. */
	CHECK(function_reset());
	CHECK(fb_free_is(fd, room));
	close(fd);
	return test_dispatch();
}
