/* SPDX-License-Identifier: GPL-2.0 */
/* The fuzzer: arguments of all sorts, and what became of each call. */
#ifndef E2E_DRM_FUZZ_H
#define E2E_DRM_FUZZ_H

#include "node.h"
#include "rng.h"

#define FUZZ_FILES	2
#define FUZZ_ITEMS	8

/* What a file stands for, as far as that is known, and how many of each kind are kept. */
enum fuzz_kind { FUZZ_FENCE, FUZZ_DMABUF, FUZZ_SYNC, FUZZ_OTHER, FUZZ_KINDS };
#define FUZZ_FDS	2

/* What is called. Those behind FUZZ_DRM are not the driver's own. */
enum fuzz_what {
	FUZZ_DEV_QUERY, FUZZ_USAGE_QUERY, FUZZ_VM_CREATE, FUZZ_VM_DESTROY, FUZZ_VM_BIND,
	FUZZ_VM_BIND_ASYNC, FUZZ_BO_CREATE, FUZZ_BO_MMAP_OFFSET, FUZZ_QUEUE_CREATE,
	FUZZ_QUEUE_DESTROY, FUZZ_QUEUE_QUERY, FUZZ_EXEC, FUZZ_DRM, FUZZ_GEM_CLOSE = FUZZ_DRM,
	FUZZ_MMAP, FUZZ_EXPORT, FUZZ_IMPORT, FUZZ_SYNC_CREATE, FUZZ_SYNC_DESTROY, FUZZ_SYNC_TO_FD,
	FUZZ_FD_TO_SYNC, FUZZ_SYNC_WAIT, FUZZ_SYNC_WAIT_POINT, FUZZ_SYNC_RESET, FUZZ_SYNC_SIGNAL,
	FUZZ_SYNC_SIGNAL_POINT, FUZZ_SYNC_QUERY, FUZZ_SYNC_TRANSFER, FUZZ_SYNC_EVENTFD,
	FUZZ_DMABUF_MMAP, FUZZ_DMABUF_SYNC, FUZZ_DMABUF_EXPORT, FUZZ_DMABUF_IMPORT,
	FUZZ_FENCE_INFO, FUZZ_FENCE_MERGE, FUZZ_VERSION, FUZZ_PRIMARY, FUZZ_RAW, FUZZ_END,
};

/**
 * struct fuzz_count - of one call
 * @passed: how often it has succeeded
 * @failed: how often it has not
 * @wrong:  an error that it has returned, and that is not one of its own; else 0
 */
struct fuzz_count {
	uint64_t passed;
	uint64_t failed;
	int wrong;
};

/**
 * struct fuzz - what the threads of a process share
 * @file:   open files, which are those of all processes
 * @fd:     files that are kept, or -1
 * @page:   of arguments, which comes and goes
 * @end_ns: when to stop
 * @count:  of each call of all processes
 */
struct fuzz {
	int file[FUZZ_FILES];
	int fd[FUZZ_KINDS * FUZZ_FDS];
	uint8_t *page;
	uint64_t end_ns;
	struct fuzz_count *count;
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

bool fuzz_one_in(struct fuzzer *f, unsigned int n);
int fuzz_file(struct fuzzer *f);		/* its own, or another */
uint32_t fuzz_id(struct fuzzer *f);		/* mostly small: ids begin at 1 */
uint32_t fuzz_pad(struct fuzzer *f);		/* mostly 0, as it must be */
uint64_t fuzz_u64(struct fuzzer *f);
uint64_t fuzz_va(struct fuzzer *f);		/* mostly in few large pages, so that ranges meet */
uint64_t fuzz_bytes(struct fuzzer *f);

/* A pointer to that, or one that is bad, or to a page that another thread takes away. */
uint64_t fuzz_pointer(struct fuzzer *f, const void *good);
struct drm_vgpu_array fuzz_array(struct fuzzer *f, const void *good, uint32_t stride,
				 uint32_t count);

/* One that was kept, mostly of that kind; and keeps one, in the place of another one. */
int fuzz_fd(struct fuzzer *f, enum fuzz_kind kind);
void fuzz_keep_fd(struct fuzzer *f, enum fuzz_kind kind, int fd);

/* Counts what the call has returned, 0 or a negative errno; fuzz_call() does it first. */
int fuzz_note(struct fuzzer *f, enum fuzz_what what, int ret);
int fuzz_call(struct fuzzer *f, enum fuzz_what what, int fd, void *arg);

/* One call each, of the driver and of what it shares with others. */
void fuzz_driver(struct fuzzer *f);
void fuzz_drm(struct fuzzer *f);

#endif /* E2E_DRM_FUZZ_H */
