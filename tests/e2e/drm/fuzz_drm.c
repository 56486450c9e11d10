// SPDX-License-Identifier: GPL-2.0
/* The calls that all drivers have: memory, syncobjs, and the files that stand for these. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/drm.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>

#include "clk.h"
#include "fuzz.h"

/* Maps @bytes of a file, and touches the first page: of no more is known that it is there. */
static void fuzz_map(struct fuzzer *f, enum fuzz_what what, int fd, uint64_t offset)
{
	uint64_t bytes = PAGE * (1 + rng_below(&f->rng, 4));
	volatile uint32_t *ptr;

	if (fuzz_one_in(f, 20))
		offset += fuzz_bytes(f);
	ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   fuzz_one_in(f, 20) ? MAP_PRIVATE : MAP_SHARED, fd, (off_t)offset);
	fuzz_note(f, what, ptr == MAP_FAILED ? -errno : 0);
	if (ptr == MAP_FAILED)
		return;
	if (fuzz_one_in(f, 2) && bytes == PAGE)
		ptr[rng_below(&f->rng, 1024)]++;
	if (fuzz_one_in(f, 4))
		mprotect((void *)ptr, PAGE, PROT_READ);
	munmap((void *)ptr, bytes);
}

static void fuzz_gem(struct fuzzer *f)
{
	struct drm_vgpu_bo_mmap_offset offset = { .handle = fuzz_id(f), .pad = fuzz_pad(f) };
	int file = fuzz_file(f);

	if (!fuzz_call(f, FUZZ_BO_MMAP_OFFSET, file, &offset) || fuzz_one_in(f, 8))
		fuzz_map(f, FUZZ_MMAP, file, offset.offset);
}

/* Memory of no driver. */
static int make_udmabuf(void)
{
	struct udmabuf_create args = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = 2 * PAGE };
	int fd = -1, node = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);

	args.memfd = memfd_create("fuzz", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (!ftruncate(args.memfd, 2 * PAGE) && !fcntl(args.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(node, UDMABUF_CREATE, &args);
	close(args.memfd);
	close(node);
	return fd;
}

static void fuzz_prime(struct fuzzer *f)
{
	struct drm_prime_handle prime = {
		.handle = fuzz_id(f),
		.flags = O_CLOEXEC | (fuzz_one_in(f, 4) ? 0 : O_RDWR) | fuzz_pad(f),
		.fd = fuzz_fd(f, FUZZ_DMABUF),
	};
	/*
	 * In one direction, or wrong: udmabuf (6.12) maps its pages for that of the first call, and
	 * the kernel's checks of DMA report calls of others, whoever makes them.
	 */
	struct dma_buf_sync access = {
		.flags = fuzz_one_in(f, 9) ? fuzz_u64(f) | 1ull << 63 :
			 DMA_BUF_SYNC_RW | (fuzz_one_in(f, 2) ? DMA_BUF_SYNC_END : 0),
	};
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW, .fd = -1 };
	struct dma_buf_import_sync_file import = {
		.flags = DMA_BUF_SYNC_RW,
		.fd = fuzz_fd(f, FUZZ_FENCE),
	};
	int fd = fuzz_fd(f, FUZZ_DMABUF);

	switch (rng_below(&f->rng, 9)) {
	case 0 ... 2:
		if (!fuzz_call(f, FUZZ_EXPORT, fuzz_file(f), &prime))
			fuzz_keep_fd(f, FUZZ_DMABUF, prime.fd);
		break;
	case 3:
		fuzz_call(f, FUZZ_IMPORT, fuzz_file(f), &prime);
		break;
	case 4:
		fuzz_call(f, FUZZ_DMABUF_SYNC, fd, &access);
		break;
	case 5:
		if (!fuzz_call(f, FUZZ_DMABUF_EXPORT, fd, &export))
			fuzz_keep_fd(f, FUZZ_FENCE, export.fd);
		break;
	case 6:
		fuzz_call(f, FUZZ_DMABUF_IMPORT, fd, &import);
		break;
	case 7:
		fuzz_map(f, FUZZ_DMABUF_MMAP, fd, 0);
		break;
	default:
		if (fuzz_one_in(f, 2))
			fuzz_keep_fd(f, FUZZ_OTHER, dup(f->fuzz->file[f->own]));
		else
			fuzz_keep_fd(f, FUZZ_DMABUF, make_udmabuf());
	}
}

static void fuzz_fence(struct fuzzer *f)
{
	struct sync_fence_info fence[FUZZ_ITEMS] = {};
	struct sync_file_info info = {
		.flags = fuzz_pad(f),
		.num_fences = FUZZ_ITEMS,
		.sync_fence_info = fuzz_pointer(f, fence),
	};
	struct sync_merge_data merge = { .name = "fuzz", .flags = fuzz_pad(f) };
	int fd = fuzz_fd(f, FUZZ_FENCE);

	merge.fd2 = fuzz_one_in(f, 2) ? fd : fuzz_fd(f, FUZZ_FENCE);
	if (fuzz_one_in(f, 2))
		fuzz_call(f, FUZZ_FENCE_INFO, fd, &info);
	else if (!fuzz_call(f, FUZZ_FENCE_MERGE, fd, &merge))
		fuzz_keep_fd(f, FUZZ_FENCE, merge.fence);
}

/* Syncobjs as files, and their fences. */
static void fuzz_sync_file(struct fuzzer *f)
{
	bool fence = fuzz_one_in(f, 2);
	struct drm_syncobj_handle args = {
		.handle = fuzz_id(f),
		.flags = fence | fuzz_pad(f),
		.fd = fuzz_fd(f, fence ? FUZZ_FENCE : FUZZ_SYNC),
		.pad = fuzz_pad(f),
	};
	struct drm_syncobj_eventfd event = {
		.handle = fuzz_id(f),
		.flags = fence | fuzz_pad(f),
		.point = rng_below(&f->rng, 20),
		.pad = fuzz_pad(f),
	};

	switch (rng_below(&f->rng, 5)) {
	case 0 ... 1:
		if (!fuzz_call(f, FUZZ_SYNC_TO_FD, fuzz_file(f), &args))
			fuzz_keep_fd(f, fence ? FUZZ_FENCE : FUZZ_SYNC, args.fd);
		break;
	case 2 ... 3:
		fuzz_call(f, FUZZ_FD_TO_SYNC, fuzz_file(f), &args);
		break;
	default:
		event.fd = fuzz_one_in(f, 8) ? dup(fuzz_fd(f, FUZZ_OTHER)) :
			   eventfd(0, EFD_CLOEXEC);
		fuzz_call(f, FUZZ_SYNC_EVENTFD, fuzz_file(f), &event);
		/* What it waits for may come when nobody has it any more. */
		fuzz_keep_fd(f, FUZZ_OTHER, event.fd);
	}
}

/* DRM allocates whatever it is told, and the kernel warns of what nobody can have. */
static uint32_t fuzz_count(struct fuzzer *f)
{
	return fuzz_one_in(f, 30) ? rng_below(&f->rng, 1 << 16) : rng_below(&f->rng, 3);
}

static void fuzz_sync_wait(struct fuzzer *f)
{
	uint32_t id[FUZZ_ITEMS];
	uint64_t point[FUZZ_ITEMS];
	/* Long before any job is given up. */
	int64_t timeout = fuzz_one_in(f, 2) ? 0 : (int64_t)clk_ns() + 1000000;
	struct drm_syncobj_wait wait = {
		.handles = fuzz_pointer(f, id),
		.timeout_nsec = timeout,
		.count_handles = fuzz_count(f),
		.flags = rng_below(&f->rng, 4) | fuzz_pad(f),
		.pad = fuzz_pad(f),
	};
	struct drm_syncobj_timeline_wait wait_point = {
		.handles = fuzz_pointer(f, id),
		.points = fuzz_pointer(f, point),
		.timeout_nsec = timeout,
		.count_handles = rng_below(&f->rng, 4),
		.flags = rng_below(&f->rng, 8) | fuzz_pad(f),
	};
	unsigned int i;

	for (i = 0; i < FUZZ_ITEMS; i++) {
		id[i] = fuzz_id(f);
		point[i] = rng_below(&f->rng, 20);
	}
	if (fuzz_one_in(f, 2))
		fuzz_call(f, FUZZ_SYNC_WAIT, fuzz_file(f), &wait);
	else
		fuzz_call(f, FUZZ_SYNC_WAIT_POINT, fuzz_file(f), &wait_point);
}

static void fuzz_sync(struct fuzzer *f)
{
	struct drm_syncobj_create create = {
		.flags = fuzz_one_in(f, 8) ? fuzz_u64(f) : rng_below(&f->rng, 2),
	};
	struct drm_syncobj_destroy destroy = { .handle = fuzz_id(f), .pad = fuzz_pad(f) };
	struct drm_syncobj_transfer transfer = {
		.src_handle = fuzz_id(f),
		.dst_handle = fuzz_id(f),
		.src_point = rng_below(&f->rng, 20),
		.dst_point = rng_below(&f->rng, 20),
		.flags = fuzz_pad(f),
		.pad = fuzz_pad(f),
	};
	uint32_t id[2] = { fuzz_id(f), fuzz_id(f) };
	uint64_t point[2] = { rng_below(&f->rng, 20), rng_below(&f->rng, 20) };
	struct drm_syncobj_array array = {
		.handles = fuzz_pointer(f, id),
		.count_handles = fuzz_count(f),
		.pad = fuzz_pad(f),
	};
	struct drm_syncobj_timeline_array points = {
		.handles = fuzz_pointer(f, id),
		.points = fuzz_pointer(f, point),
		.count_handles = rng_below(&f->rng, 3),
		.flags = fuzz_pad(f),
	};

	switch (rng_below(&f->rng, 10)) {
	case 0:
		fuzz_call(f, FUZZ_SYNC_DESTROY, fuzz_file(f), &destroy);
		break;
	case 1:
		fuzz_call(f, FUZZ_SYNC_TRANSFER, fuzz_file(f), &transfer);
		break;
	case 2:
		fuzz_call(f, FUZZ_SYNC_QUERY, fuzz_file(f), &points);
		break;
	case 3:
		fuzz_call(f, FUZZ_SYNC_SIGNAL_POINT, fuzz_file(f), &points);
		break;
	case 4:
		fuzz_call(f, FUZZ_SYNC_RESET, fuzz_file(f), &array);
		break;
	case 5:
		fuzz_call(f, FUZZ_SYNC_SIGNAL, fuzz_file(f), &array);
		break;
	case 6:
	case 7:
		fuzz_sync_wait(f);
		break;
	default:
		fuzz_call(f, FUZZ_SYNC_CREATE, fuzz_file(f), &create);
	}
}

/* What a render node refuses: who draws has no say in what the monitor shows, and no names. */
static void fuzz_primary(struct fuzzer *f)
{
	static const unsigned long request[] = {
		DRM_IOCTL_GET_UNIQUE, DRM_IOCTL_GET_MAGIC, DRM_IOCTL_AUTH_MAGIC,
		DRM_IOCTL_GEM_FLINK, DRM_IOCTL_GEM_OPEN, DRM_IOCTL_SET_CLIENT_CAP,
		DRM_IOCTL_SET_MASTER, DRM_IOCTL_DROP_MASTER, DRM_IOCTL_MODE_GETRESOURCES,
		DRM_IOCTL_MODE_CREATE_DUMB, DRM_IOCTL_MODE_GETPLANERESOURCES,
	};
	uint64_t args[32] = { rng_below(&f->rng, 12), rng_below(&f->rng, 12) };

	fuzz_note(f, FUZZ_PRIMARY, node_ioctl(fuzz_file(f), request[rng_below(&f->rng, 11)], args));
}

static void fuzz_version(struct fuzzer *f)
{
	char name[64];
	struct drm_version version = {
		.name_len = fuzz_one_in(f, 4) ? 0 : sizeof(name),
		.name = (char *)(uintptr_t)fuzz_pointer(f, name),
	};

	fuzz_call(f, FUZZ_VERSION, fuzz_file(f), &version);
}

void fuzz_drm(struct fuzzer *f)
{
	static void (* const what[])(struct fuzzer *f) = {
		fuzz_gem, fuzz_prime, fuzz_prime, fuzz_fence, fuzz_sync_file, fuzz_sync_file,
		fuzz_sync, fuzz_sync, fuzz_sync, fuzz_version, fuzz_primary,
	};

	what[rng_below(&f->rng, sizeof(what) / sizeof(what[0]))](f);
}
