// SPDX-License-Identifier: GPL-2.0
/*
 * Random and nearly right calls from several processes and threads, on open files that they share,
 * and whose ids they guess. What is right afterwards: each call has succeeded, has failed, and has
 * failed only with errors that are its own; the kernel's log; a plain job; the free framebuffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/drm.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>

#include "clk.h"
#include "fuzz.h"
#include "rv.h"

#define PROCESSES	2
#define THREADS		3
#define SECONDS		60
#define ROUND_NS	3000000000ull
#define TOP		(1ull << 38)

/*
 * Errors that a call may return, as vgpu_drm.h has them, beside those that it names for all:
 * EFAULT, EINVAL and ENOMEM. Those of other calls are not the driver's to say, nor what raw bytes
 * mean.
 */
static const struct {
	const char *name;
	unsigned long request;
	int error[5];
	bool refused;	/* it never succeeds */
	int minor;	/* the driver's first version that has it */
} call[FUZZ_END] = {
	[FUZZ_DEV_QUERY] = { "DEV_QUERY", DRM_IOCTL_VGPU_DEV_QUERY, {} },
	[FUZZ_USAGE_QUERY] = { "USAGE_QUERY", DRM_IOCTL_VGPU_USAGE_QUERY, { EOPNOTSUPP },
		.minor = 1 },
	[FUZZ_VM_CREATE] = { "VM_CREATE", DRM_IOCTL_VGPU_VM_CREATE, { ENOSPC } },
	[FUZZ_VM_DESTROY] = { "VM_DESTROY", DRM_IOCTL_VGPU_VM_DESTROY, { ENOENT } },
	[FUZZ_VM_BIND] = { "VM_BIND", DRM_IOCTL_VGPU_VM_BIND, { ENOENT, E2BIG, ENOSPC } },
	[FUZZ_VM_BIND_ASYNC] = { "VM_BIND, asynchronous", DRM_IOCTL_VGPU_VM_BIND,
		{ ENOENT, E2BIG, ENOSPC } },
	[FUZZ_BO_CREATE] = { "BO_CREATE", DRM_IOCTL_VGPU_BO_CREATE, { ENOENT, ENOSPC } },
	[FUZZ_BO_MMAP_OFFSET] = { "BO_MMAP_OFFSET", DRM_IOCTL_VGPU_BO_MMAP_OFFSET, { ENOENT } },
	[FUZZ_QUEUE_CREATE] = { "QUEUE_CREATE", DRM_IOCTL_VGPU_QUEUE_CREATE,
		{ ENOENT, EPERM, ENOSPC } },
	[FUZZ_QUEUE_DESTROY] = { "QUEUE_DESTROY", DRM_IOCTL_VGPU_QUEUE_DESTROY, { ENOENT } },
	[FUZZ_QUEUE_QUERY] = { "QUEUE_QUERY", DRM_IOCTL_VGPU_QUEUE_QUERY, { ENOENT } },
	[FUZZ_EXEC] = { "EXEC", DRM_IOCTL_VGPU_EXEC, { ENOENT, EPERM, E2BIG, EIO, ENOSPC } },
	[FUZZ_GEM_CLOSE] = { "GEM_CLOSE", DRM_IOCTL_GEM_CLOSE },
	[FUZZ_MMAP] = { "mmap" },
	[FUZZ_EXPORT] = { "PRIME_HANDLE_TO_FD", DRM_IOCTL_PRIME_HANDLE_TO_FD },
	[FUZZ_IMPORT] = { "PRIME_FD_TO_HANDLE", DRM_IOCTL_PRIME_FD_TO_HANDLE },
	[FUZZ_SYNC_CREATE] = { "SYNCOBJ_CREATE", DRM_IOCTL_SYNCOBJ_CREATE },
	[FUZZ_SYNC_DESTROY] = { "SYNCOBJ_DESTROY", DRM_IOCTL_SYNCOBJ_DESTROY },
	[FUZZ_SYNC_TO_FD] = { "SYNCOBJ_HANDLE_TO_FD", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD },
	[FUZZ_FD_TO_SYNC] = { "SYNCOBJ_FD_TO_HANDLE", DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE },
	[FUZZ_SYNC_WAIT] = { "SYNCOBJ_WAIT", DRM_IOCTL_SYNCOBJ_WAIT },
	[FUZZ_SYNC_WAIT_POINT] = { "SYNCOBJ_TIMELINE_WAIT", DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT },
	[FUZZ_SYNC_RESET] = { "SYNCOBJ_RESET", DRM_IOCTL_SYNCOBJ_RESET },
	[FUZZ_SYNC_SIGNAL] = { "SYNCOBJ_SIGNAL", DRM_IOCTL_SYNCOBJ_SIGNAL },
	[FUZZ_SYNC_SIGNAL_POINT] = { "SYNCOBJ_TIMELINE_SIGNAL", DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL },
	[FUZZ_SYNC_QUERY] = { "SYNCOBJ_QUERY", DRM_IOCTL_SYNCOBJ_QUERY },
	[FUZZ_SYNC_TRANSFER] = { "SYNCOBJ_TRANSFER", DRM_IOCTL_SYNCOBJ_TRANSFER },
	[FUZZ_SYNC_EVENTFD] = { "SYNCOBJ_EVENTFD", DRM_IOCTL_SYNCOBJ_EVENTFD },
	[FUZZ_DMABUF_MMAP] = { "mmap of a dma-buf" },
	[FUZZ_DMABUF_SYNC] = { "DMA_BUF_SYNC", DMA_BUF_IOCTL_SYNC },
	[FUZZ_DMABUF_EXPORT] = { "DMA_BUF_EXPORT_SYNC_FILE", DMA_BUF_IOCTL_EXPORT_SYNC_FILE },
	[FUZZ_DMABUF_IMPORT] = { "DMA_BUF_IMPORT_SYNC_FILE", DMA_BUF_IOCTL_IMPORT_SYNC_FILE },
	[FUZZ_FENCE_INFO] = { "SYNC_FILE_INFO", SYNC_IOC_FILE_INFO },
	[FUZZ_FENCE_MERGE] = { "SYNC_MERGE", SYNC_IOC_MERGE },
	[FUZZ_VERSION] = { "VERSION", DRM_IOCTL_VERSION },
	[FUZZ_PRIMARY] = { .name = "calls of a primary node", .refused = true },
	[FUZZ_RAW] = { "any bytes" },
};

bool fuzz_one_in(struct fuzzer *f, unsigned int n)
{
	return !rng_below(&f->rng, n);
}

int fuzz_file(struct fuzzer *f)
{
	return f->fuzz->file[fuzz_one_in(f, 4) ? rng_below(&f->rng, FUZZ_FILES) : f->own];
}

uint32_t fuzz_id(struct fuzzer *f)
{
	if (fuzz_one_in(f, 2))
		return 1 + rng_below(&f->rng, 3);
	return fuzz_one_in(f, 25) ? rng_next(&f->rng) : rng_below(&f->rng, 12);
}

uint32_t fuzz_pad(struct fuzzer *f)
{
	return fuzz_one_in(f, 60) ? rng_next(&f->rng) : 0;
}

uint64_t fuzz_u64(struct fuzzer *f)
{
	static const uint64_t odd[] = {
		0, 1, PAGE, TOP - PAGE, TOP, TOP + PAGE, 1ull << 63, ~0ull, ~0ull << 12,
		0xffffffc000000000ull, 0xffffffc000400000ull, 0x7fffffffffffull, 1ull << 32,
	};

	return fuzz_one_in(f, 3) ? rng_next(&f->rng) : odd[rng_below(&f->rng, sizeof(odd) / 8)];
}

uint64_t fuzz_va(struct fuzzer *f)
{
	return fuzz_one_in(f, 40) ? fuzz_u64(f) : VA_DATA + PAGE * rng_below(&f->rng, 1536);
}

uint64_t fuzz_bytes(struct fuzzer *f)
{
	if (fuzz_one_in(f, 60))
		return fuzz_u64(f);
	return PAGE * (fuzz_one_in(f, 3) ? rng_below(&f->rng, 1100) : rng_below(&f->rng, 8));
}

uint64_t fuzz_pointer(struct fuzzer *f, const void *good)
{
	if (fuzz_one_in(f, 60))
		return fuzz_u64(f);
	if (fuzz_one_in(f, 30))
		return (uintptr_t)f->fuzz->page + rng_below(&f->rng, PAGE);
	return (uintptr_t)good;
}

struct drm_vgpu_array fuzz_array(struct fuzzer *f, const void *good, uint32_t stride,
				 uint32_t count)
{
	return (struct drm_vgpu_array){
		.stride = fuzz_one_in(f, 40) ? fuzz_u64(f) : stride,
		.count = fuzz_one_in(f, 60) ? fuzz_u64(f) : count,
		.pointer = fuzz_pointer(f, good),
	};
}

int fuzz_fd(struct fuzzer *f, enum fuzz_kind kind)
{
	if (fuzz_one_in(f, 4))
		kind = rng_below(&f->rng, FUZZ_KINDS);
	return __atomic_load_n(&f->fuzz->fd[kind * FUZZ_FDS + rng_below(&f->rng, FUZZ_FDS)],
			       __ATOMIC_RELAXED);
}

void fuzz_keep_fd(struct fuzzer *f, enum fuzz_kind kind, int fd)
{
	int *place = &f->fuzz->fd[kind * FUZZ_FDS + rng_below(&f->rng, FUZZ_FDS)];

	fd = __atomic_exchange_n(place, fd, __ATOMIC_RELAXED);
	CHECK(fd < 0 || !close(fd));
}

/* Of the driver's calls; of others it cannot be known. */
static bool is_own_error(enum fuzz_what what, int error)
{
	unsigned int i;

	if (what >= FUZZ_DRM || error == EFAULT || error == EINVAL || error == ENOMEM)
		return true;
	for (i = 0; i < sizeof(call[what].error) / sizeof(int); i++)
		if (call[what].error[i] == error)
			return true;
	return false;
}

int fuzz_note(struct fuzzer *f, enum fuzz_what what, int ret)
{
	struct fuzz_count *count = &f->fuzz->count[what];

	__atomic_add_fetch(ret < 0 ? &count->failed : &count->passed, 1, __ATOMIC_RELAXED);
	if (ret < 0 && !is_own_error(what, -ret))
		__atomic_store_n(&count->wrong, -ret, __ATOMIC_RELAXED);
	return ret;
}

int fuzz_call(struct fuzzer *f, enum fuzz_what what, int fd, void *arg)
{
	return fuzz_note(f, what, node_ioctl(fd, call[what].request, arg));
}

/* Any bytes for any call of the driver, of any size. */
static void fuzz_raw(struct fuzzer *f)
{
	uint32_t size = fuzz_one_in(f, 2) ? rng_below(&f->rng, 128) : 8 * rng_below(&f->rng, 16);
	uint8_t bytes[512];
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = fuzz_one_in(f, 2) ? 0 : rng_next(&f->rng);
	fuzz_note(f, FUZZ_RAW, node_ioctl(fuzz_file(f), _IOC(rng_below(&f->rng, 4), DRM_IOCTL_BASE,
							     DRM_COMMAND_BASE +
							     rng_below(&f->rng, 13), size), bytes));
}

/* The arguments' page goes and comes; fdinfo is read; a child has the files, and ends. */
static void fuzz_around(struct fuzzer *f)
{
	char path[64], text[512];
	pid_t pid;
	int fd;

	switch (rng_below(&f->rng, 8)) {
	case 0:
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fuzz_file(f));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		/* It may not be opened once the process is another user's. */
		CHECK(fd < 0 || (read(fd, text, sizeof(text)) >= 0 && !close(fd)));
		break;
	case 1:
		if (!fuzz_one_in(f, 10))
			break;
		pid = fork();
		if (!pid) {
			fuzz_driver(f);
			fuzz_driver(f);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		break;
	default:
		mmap(f->fuzz->page, PAGE, fuzz_one_in(f, 2) ? PROT_NONE : PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}

static void *fuzz_thread(void *arg)
{
	struct fuzzer *f = arg;

	while (clk_ns() < f->fuzz->end_ns) {
		switch (rng_below(&f->rng, 16)) {
		case 0:
			fuzz_raw(f);
			break;
		case 1:
			fuzz_around(f);
			break;
		case 2 ... 6:
			fuzz_drm(f);
			break;
		default:
			fuzz_driver(f);
		}
	}
	return NULL;
}

/* What is there when a round begins, so that the first guesses hit something. */
static bool fuzz_begin(int fd)
{
	static const uint32_t for_ever[] = { RV_J(0) };
	uint32_t vm, id, i;
	struct buf text;

	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(program_load(fd, vm, for_ever, 1, VA_MORE, &text), 0);
	munmap(text.ptr, text.bytes);
	for (i = 0; i < 3; i++) {
		CHECK_RET(queue_make(fd, vm, i, 4 + i, &id), 0);
		CHECK_RET(bo_make(fd, 2 * MIB, i % 2, 0, &id), 0);
		CHECK_RET(bind_map(fd, vm, id, 0, VA_DATA + i * 2 * MIB, 2 * MIB,
				   DRM_VGPU_BIND_WRITE), 0);
		CHECK_RET(sync_make(fd, &id), 0);
	}
	return true;
}

/* A process: the first one may do what a user may not. */
static int fuzz_process(struct fuzz *fuzz, unsigned int index, uint64_t seed)
{
	struct fuzzer fuzzer[THREADS];
	pthread_t thread[THREADS];
	unsigned int i;

	CHECK(!index || !setuid(1000));
	for (i = 0; i < FUZZ_KINDS * FUZZ_FDS; i++)
		fuzz->fd[i] = -1;
	for (i = 0; i < THREADS; i++) {
		fuzzer[i] = (struct fuzzer){
			.fuzz = fuzz,
			.rng = rng_seed(seed + i),
			.own = i % FUZZ_FILES,
		};
		CHECK(!pthread_create(&thread[i], NULL, fuzz_thread, &fuzzer[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	return 0;
}

/* Files end with all that they have. */
static bool fuzz_round(struct fuzz *fuzz, uint64_t seed)
{
	pid_t pid[PROCESSES];
	unsigned int i;
	int status;

	say("fuzz: seed:%llu", (unsigned long long)seed);
	fuzz->end_ns = clk_ns() + ROUND_NS;
	for (i = 0; i < FUZZ_FILES; i++) {
		fuzz->file[i] = node_open();
		CHECK(fuzz->file[i] >= 0 && fuzz_begin(fuzz->file[i]));
	}
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			_exit(fuzz_process(fuzz, i, seed + i * THREADS));
	}
	for (i = 0; i < FUZZ_FILES; i++)
		close(fuzz->file[i]);
	for (i = 0; i < PROCESSES; i++)
		CHECK(waitpid(pid[i], &status, 0) == pid[i] && !status);
	return true;
}

static bool may_pass(unsigned int i, const struct drm_version *version)
{
	return !call[i].refused && call[i].minor <= version->version_minor;
}

/* Whether each call has passed and failed, as it may: on a slow host that takes longer. */
static bool fuzz_is_enough(int fd, const struct fuzz_count *count)
{
	struct drm_version version = {};
	unsigned int i;

	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VERSION, &version), 0);
	for (i = 0; i < FUZZ_END; i++)
		if (!count[i].failed || (!count[i].passed && may_pass(i, &version)))
			return false;
	return true;
}

static bool fuzz_judge(int fd, const struct fuzz_count *count)
{
	struct drm_version version = {};
	uint64_t passed = 0, refused = 0;
	bool ok = true;
	unsigned int i;

	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VERSION, &version), 0);
	for (i = 0; i < FUZZ_END; i++) {
		passed += count[i].passed;
		refused += count[i].failed;
		say("fuzz: %s: %llu passed, %llu failed", call[i].name,
		    (unsigned long long)count[i].passed, (unsigned long long)count[i].failed);
		if (count[i].wrong)
			ok = failed("%s: %s is none of its errors", call[i].name,
				    strerror(count[i].wrong));
		if (!count[i].failed)
			ok = failed("%s has never failed", call[i].name);
		if (!count[i].passed == may_pass(i, &version))
			ok = failed("%s has %s succeeded", call[i].name,
				    call[i].refused ? "once" : "never");
	}
	say("fuzz: %llu calls passed, %llu failed", (unsigned long long)passed,
	    (unsigned long long)refused);
	return ok;
}

bool test_fuzz(void)
{
	uint64_t end = clk_ns() + test_amount(SECONDS) * 1000000000ull, before, seed;
	const uint64_t limit = end + WAIT_MS * 1000000ull;
	struct fuzz fuzz = {};
	unsigned int rounds;
	int fd = node_open();

	CHECK(fd >= 0);
	before = fb_free(fd);
	fuzz.page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fuzz.count = mmap(NULL, FUZZ_END * sizeof(*fuzz.count), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(fuzz.page != MAP_FAILED && fuzz.count != MAP_FAILED);
	for (rounds = 0; clk_ns() < end || (!fuzz_is_enough(fd, fuzz.count) && clk_ns() < limit);
	     rounds++) {
		seed = test_seed() + (uint64_t)rounds * PROCESSES * THREADS;
		CHECK(fuzz_round(&fuzz, seed));
	}
	CHECK(fuzz_judge(fd, fuzz.count));
	CHECK(fb_free_is(fd, before));
	close(fd);
	/* Nobody who has done nothing wrong is worse off. */
	return test_dispatch();
}
