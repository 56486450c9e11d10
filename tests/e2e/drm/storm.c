// SPDX-License-Identifier: GPL-2.0
/*
 * Random and nearly right calls from several threads, on two open files that guess each other's
 * ids. What is right afterwards: the kernel's log, a plain job, and the free framebuffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <linux/sync_file.h>

#include "clk.h"
#include "node.h"
#include "rng.h"

#define THREADS		6
#define FILES		2
#define FDS		16
#define TOP		(1ull << 38)
#define OPS_MAX		8

/**
 * struct fuzz - what all threads share
 * @file:   open files
 * @fd:     sync files and dma-bufs, or -1
 * @page:   of arguments, which comes and goes
 * @end_ns: when to stop
 * @calls:  made
 * @passed: of these, calls that were not refused
 */
struct fuzz {
	int file[FILES];
	int fd[FDS];
	uint8_t *page;
	uint64_t end_ns;
	uint64_t calls;
	uint64_t passed;
};

/**
 * struct fuzzer - a thread
 * @fuzz: what it shares with others
 * @rng:  its numbers
 * @own:  index of its open file
 */
struct fuzzer {
	struct fuzz *fuzz;
	struct rng rng;
	unsigned int own;
};

static bool one_in(struct fuzzer *f, unsigned int n)
{
	return !rng_below(&f->rng, n);
}

static int file_of(struct fuzzer *f)
{
	return f->fuzz->file[one_in(f, 4) ? rng_below(&f->rng, FILES) : f->own];
}

static int call(struct fuzzer *f, unsigned long request, void *arg)
{
	int ret = ioctl(file_of(f), request, arg);

	__atomic_add_fetch(&f->fuzz->calls, 1, __ATOMIC_RELAXED);
	if (!ret)
		__atomic_add_fetch(&f->fuzz->passed, 1, __ATOMIC_RELAXED);
	return ret ? -errno : 0;
}

/* Mostly small numbers: ids begin at 1. */
static uint32_t any_id(struct fuzzer *f)
{
	return one_in(f, 50) ? rng_next(&f->rng) : rng_below(&f->rng, 12);
}

static uint64_t any_u64(struct fuzzer *f)
{
	static const uint64_t odd[] = {
		0, 1, PAGE, TOP - PAGE, TOP, TOP + PAGE, 1ull << 63, ~0ull, ~0ull << 12,
		0xffffffc000000000ull, 0xffffffc000400000ull, 0x7fffffffffffull, 1ull << 32,
	};

	return one_in(f, 3) ? rng_next(&f->rng) : odd[rng_below(&f->rng, sizeof(odd) / 8)];
}

/* 0 in most cases, where it must be 0. */
static uint32_t pad(struct fuzzer *f)
{
	return one_in(f, 60) ? rng_next(&f->rng) : 0;
}

/* Three large pages of addresses, so that mappings meet. */
static uint64_t any_va(struct fuzzer *f)
{
	return one_in(f, 40) ? any_u64(f) : VA_DATA + PAGE * rng_below(&f->rng, 1536);
}

static uint64_t any_bytes(struct fuzzer *f)
{
	if (one_in(f, 60))
		return any_u64(f);
	return PAGE * (one_in(f, 3) ? rng_below(&f->rng, 1100) : rng_below(&f->rng, 8));
}

/* A pointer to that, or one that is bad, or to a page that another thread takes away. */
static uint64_t any_pointer(struct fuzzer *f, const void *good)
{
	if (one_in(f, 60))
		return any_u64(f);
	if (one_in(f, 30))
		return (uintptr_t)f->fuzz->page + rng_below(&f->rng, PAGE);
	return (uintptr_t)good;
}

static struct drm_vgpu_array any_array(struct fuzzer *f, const void *good, uint32_t stride,
				       uint32_t count)
{
	return (struct drm_vgpu_array){
		.stride = one_in(f, 40) ? any_u64(f) : stride,
		.count = one_in(f, 60) ? any_u64(f) : count,
		.pointer = any_pointer(f, good),
	};
}

static void any_syncs(struct fuzzer *f, struct drm_vgpu_sync *sync)
{
	unsigned int i;

	for (i = 0; i < OPS_MAX; i++) {
		sync[i] = (struct drm_vgpu_sync){ .handle = any_id(f), .flags = pad(f) };
		if (one_in(f, 2))
			sync[i].flags |= DRM_VGPU_SYNC_SIGNAL;
		if (one_in(f, 3)) {
			sync[i].flags |= DRM_VGPU_SYNC_TIMELINE;
			sync[i].point = one_in(f, 20) ? any_u64(f) : rng_below(&f->rng, 20);
		}
	}
}

static void fuzz_vm(struct fuzzer *f)
{
	struct drm_vgpu_vm_create create = { .flags = pad(f) };
	struct drm_vgpu_vm_destroy destroy = { .id = any_id(f), .pad = pad(f) };

	if (one_in(f, 2))
		call(f, DRM_IOCTL_VGPU_VM_CREATE, &create);
	else
		call(f, DRM_IOCTL_VGPU_VM_DESTROY, &destroy);
}

static void fuzz_bo(struct fuzzer *f)
{
	struct drm_vgpu_bo_create create = {
		.size = any_bytes(f),
		.placement = one_in(f, 20) ? any_u64(f) : rng_below(&f->rng, 2),
		.vm_id = one_in(f, 2) ? any_id(f) : 0,
		.pad = pad(f),
	};
	struct drm_gem_close end = { .handle = any_id(f), .pad = pad(f) };

	/* More system memory than the guest has is another test's. */
	if (create.placement && create.size > 16 * MIB && create.size < 1ull << 39)
		create.size = PAGE;
	if (one_in(f, 2))
		call(f, DRM_IOCTL_VGPU_BO_CREATE, &create);
	else
		call(f, DRM_IOCTL_GEM_CLOSE, &end);
}

static void fuzz_map(struct fuzzer *f)
{
	struct drm_vgpu_bo_mmap_offset args = { .handle = any_id(f), .pad = pad(f) };
	volatile uint32_t *ptr;
	uint64_t bytes = PAGE * (1 + rng_below(&f->rng, 4));
	int file = file_of(f);

	if (ioctl(file, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &args))
		return;
	ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, one_in(f, 20) ? MAP_PRIVATE : MAP_SHARED,
		   file, args.offset + (one_in(f, 20) ? any_bytes(f) : 0));
	if (ptr == MAP_FAILED)
		return;
	/* Only the first page is known to be there. */
	if (one_in(f, 2) && bytes == PAGE)
		ptr[rng_below(&f->rng, 1024)]++;
	if (one_in(f, 4))
		mprotect((void *)ptr, PAGE, PROT_READ);
	munmap((void *)ptr, bytes);
}

static void fuzz_bind(struct fuzzer *f)
{
	struct drm_vgpu_bind_op op[OPS_MAX];
	struct drm_vgpu_sync sync[OPS_MAX];
	struct drm_vgpu_vm_bind args = { .vm_id = any_id(f), .flags = pad(f) };
	unsigned int i;

	for (i = 0; i < OPS_MAX; i++) {
		op[i] = (struct drm_vgpu_bind_op){
			.type = one_in(f, 40) ? any_u64(f) : rng_below(&f->rng, 2),
			.pad = pad(f),
			.va = any_va(f),
			.size = any_bytes(f),
		};
		if (op[i].type == DRM_VGPU_BIND_MAP) {
			op[i].flags = one_in(f, 40) ? any_u64(f) : rng_below(&f->rng, 4);
			op[i].handle = any_id(f);
			op[i].offset = one_in(f, 3) ? any_bytes(f) : 0;
		}
	}
	any_syncs(f, sync);
	args.ops = any_array(f, op, sizeof(*op), rng_below(&f->rng, one_in(f, 4) ? OPS_MAX : 2));
	if (one_in(f, 2)) {
		args.flags |= DRM_VGPU_VM_BIND_ASYNC;
		args.syncs = any_array(f, sync, sizeof(*sync), rng_below(&f->rng, 3));
	}
	call(f, DRM_IOCTL_VGPU_VM_BIND, &args);
}

static void fuzz_queue(struct fuzzer *f)
{
	struct drm_vgpu_queue_create create = {
		.vm_id = any_id(f),
		.engine = one_in(f, 40) ? any_u64(f) : rng_below(&f->rng, 4),
		.ring_order = one_in(f, 40) ? any_u64(f) : 4 + rng_below(&f->rng, 4),
		.flags = pad(f),
		.pad = pad(f),
	};
	struct drm_vgpu_queue_destroy destroy = { .id = any_id(f), .pad = pad(f) };
	struct drm_vgpu_queue_query query = { .id = any_id(f) };

	switch (rng_below(&f->rng, 4)) {
	case 0:
		call(f, DRM_IOCTL_VGPU_QUEUE_DESTROY, &destroy);
		break;
	case 1:
		call(f, DRM_IOCTL_VGPU_QUEUE_QUERY, &query);
		break;
	default:
		call(f, DRM_IOCTL_VGPU_QUEUE_CREATE, &create);
	}
}

static struct vgpu_hw_packet any_packet(struct fuzzer *f)
{
	static const uint8_t type[] = {
		VGPU_HW_PKT_NOP, VGPU_HW_PKT_FENCE, VGPU_HW_PKT_FILL, VGPU_HW_PKT_COPY,
		VGPU_HW_PKT_DISPATCH, VGPU_HW_PKT_PRESENT,
	};
	struct vgpu_hw_packet packet = {};
	unsigned int i;

	switch (rng_below(&f->rng, 8)) {
	case 0:
		for (i = 0; i < sizeof(packet); i++)
			((uint8_t *)&packet)[i] = rng_next(&f->rng);
		if (one_in(f, 2))
			packet.type = type[rng_below(&f->rng, sizeof(type))];
		break;
	case 1:
		packet = packet_copy(any_va(f), any_va(f), any_bytes(f));
		break;
	case 2:
		packet = packet_dispatch(any_va(f), any_va(f), rng_below(&f->rng, 64), 8);
		break;
	case 3:
	case 4:
		packet = packet_fill(any_va(f), any_bytes(f), rng_next(&f->rng));
		break;
	default:
		packet.type = VGPU_HW_PKT_NOP;
	}
	return packet;
}

static void fuzz_exec(struct fuzzer *f)
{
	struct vgpu_hw_packet packet[OPS_MAX];
	struct drm_vgpu_sync sync[OPS_MAX];
	struct drm_vgpu_exec args = {
		.queue_id = any_id(f),
		.flags = pad(f),
		.count = one_in(f, 60) ? any_u64(f) : rng_below(&f->rng, OPS_MAX),
		.pad = pad(f),
		.packets = any_pointer(f, packet),
	};
	unsigned int i;

	for (i = 0; i < OPS_MAX; i++)
		packet[i] = any_packet(f);
	any_syncs(f, sync);
	args.syncs = any_array(f, sync, sizeof(*sync), rng_below(&f->rng, 3));
	call(f, DRM_IOCTL_VGPU_EXEC, &args);
}

/* Puts a file where other threads find it, in the place of another one. */
static void keep_fd(struct fuzzer *f, int fd)
{
	fd = __atomic_exchange_n(&f->fuzz->fd[rng_below(&f->rng, FDS)], fd, __ATOMIC_RELAXED);
	if (fd >= 0)
		close(fd);
}

static void fuzz_sync(struct fuzzer *f)
{
	struct drm_syncobj_create create = { .flags = pad(f) };
	struct drm_syncobj_destroy destroy = { .handle = any_id(f) };
	struct drm_syncobj_handle handle = { .handle = any_id(f), .flags = one_in(f, 2), .fd = -1 };
	struct drm_syncobj_transfer transfer = {
		.src_handle = any_id(f),
		.dst_handle = any_id(f),
		.src_point = rng_below(&f->rng, 20),
		.dst_point = rng_below(&f->rng, 20),
	};
	uint32_t id = any_id(f);
	uint64_t point;
	struct drm_syncobj_timeline_array array = {
		.handles = (uintptr_t)&id,
		.points = (uintptr_t)&point,
		.count_handles = 1,
	};

	switch (rng_below(&f->rng, 7)) {
	case 0:
		call(f, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
		break;
	case 1:
		if (!call(f, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle))
			keep_fd(f, handle.fd);
		break;
	case 2:
		handle.fd = f->fuzz->fd[rng_below(&f->rng, FDS)];
		call(f, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle);
		break;
	case 3:
		call(f, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer);
		break;
	case 4:
		call(f, DRM_IOCTL_SYNCOBJ_QUERY, &array);
		break;
	default:
		call(f, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	}
}

static void fuzz_fd(struct fuzzer *f)
{
	struct drm_prime_handle prime = { .handle = any_id(f), .flags = O_CLOEXEC };
	struct sync_fence_info fence[OPS_MAX] = {};
	struct sync_file_info info = { .num_fences = OPS_MAX,
				       .sync_fence_info = (uintptr_t)fence };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW, .fd = -1 };
	int fd = f->fuzz->fd[rng_below(&f->rng, FDS)];

	switch (rng_below(&f->rng, 5)) {
	case 0:
		if (!call(f, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
			keep_fd(f, prime.fd);
		break;
	case 1:
		prime.fd = fd;
		call(f, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
		break;
	case 2:
		if (!ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export))
			keep_fd(f, export.fd);
		break;
	case 3:
		keep_fd(f, dup(f->fuzz->file[f->own]));
		break;
	default:
		ioctl(fd, SYNC_IOC_FILE_INFO, &info);
	}
}

/* Any bytes for any call of the driver, of any size. */
static void fuzz_raw(struct fuzzer *f)
{
	uint8_t bytes[512];
	unsigned int i;
	uint32_t size = one_in(f, 2) ? rng_below(&f->rng, 128) : 8 * rng_below(&f->rng, 16);

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = one_in(f, 2) ? 0 : rng_next(&f->rng);
	call(f, _IOC(rng_below(&f->rng, 4), DRM_IOCTL_BASE,
		     DRM_COMMAND_BASE + rng_below(&f->rng, 12), size), bytes);
}

/* The arguments' page goes and comes; fdinfo is read; a child has the files, and ends. */
static void fuzz_around(struct fuzzer *f)
{
	char path[64], text[512];
	pid_t pid;
	int fd;

	switch (rng_below(&f->rng, 8)) {
	case 0:
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file_of(f));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, text, sizeof(text)) < 0)
			failed("%s: %s", path, strerror(errno));
		close(fd);
		break;
	case 1:
		if (!one_in(f, 10))
			break;
		pid = fork();
		if (!pid) {
			fuzz_exec(f);
			fuzz_bind(f);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		break;
	default:
		mmap(f->fuzz->page, PAGE, one_in(f, 2) ? PROT_NONE : PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

static void *fuzz_thread(void *arg)
{
	static void (* const what[])(struct fuzzer *) = {
		fuzz_vm, fuzz_bo, fuzz_bo, fuzz_map, fuzz_bind, fuzz_bind, fuzz_bind, fuzz_queue,
		fuzz_exec, fuzz_exec, fuzz_exec, fuzz_sync, fuzz_sync, fuzz_fd, fuzz_raw,
		fuzz_around,
	};
	struct fuzzer *f = arg;

	while (clk_ns() < f->fuzz->end_ns)
		what[rng_below(&f->rng, sizeof(what) / sizeof(what[0]))](f);
	return NULL;
}

static bool fuzz_run(struct fuzz *fuzz, uint64_t seed)
{
	struct fuzzer fuzzer[THREADS];
	pthread_t thread[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		fuzzer[i] = (struct fuzzer){ fuzz, rng_seed(seed + i), i % FILES };
		CHECK(!pthread_create(&thread[i], NULL, fuzz_thread, &fuzzer[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	return true;
}

bool test_storm(void)
{
	uint64_t seed = test_seed(), end = clk_ns() + test_amount(10) * 1000000000ull;
	uint64_t before;
	struct fuzz fuzz = {};
	unsigned int i, rounds;
	int fd = node_open();

	CHECK(fd >= 0);
	before = fb_free(fd);
	fuzz.page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(fuzz.page != MAP_FAILED);
	/* Files end with all that they have, from time to time. */
	for (rounds = 0; clk_ns() < end; rounds++) {
		fuzz.end_ns = clk_ns() + 2000000000ull;
		for (i = 0; i < FILES; i++)
			CHECK((fuzz.file[i] = node_open()) >= 0);
		for (i = 0; i < FDS; i++)
			fuzz.fd[i] = -1;
		say("storm: seed %llu", (unsigned long long)seed + rounds * THREADS);
		CHECK(fuzz_run(&fuzz, seed + rounds * THREADS));
		for (i = 0; i < FILES; i++)
			close(fuzz.file[i]);
		for (i = 0; i < FDS; i++)
			if (fuzz.fd[i] >= 0)
				close(fuzz.fd[i]);
	}
	munmap(fuzz.page, PAGE);
	say("storm: %llu calls, %llu not refused, in %u rounds", (unsigned long long)fuzz.calls,
	    (unsigned long long)fuzz.passed, rounds);
	CHECK(fuzz.passed > fuzz.calls / 50);
	CHECK(fb_free(fd) == before);
	close(fd);
	return test_dispatch();
}
