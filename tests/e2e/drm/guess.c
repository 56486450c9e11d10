// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes that do the same at the same addresses, and guess what the other one has: handles,
 * ids, addresses, offsets to map, syncobjs and files. What each writes has its own mark in each
 * word, so a word of the other one is seen wherever it turns up: in buffers, in framebuffer and
 * page tables that were freed and are used again, and after unmapping behind the back of jobs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/drm.h>

#include "clk.h"
#include "node.h"
#include "rng.h"

#define PROCESSES	2
#define SECONDS		15
#define CE		1
#define KEPT_BYTES	(32 * PAGE)
#define SPAN		(8 * MIB)	/* of addresses that are tried */
#define MARK		0xa5000000u	/* and the process's number below that */
#define TRIES		12		/* between two looks at what is kept */

/**
 * struct told - what a process tells the other one, to make guessing easy
 * @handle: of a buffer
 * @sync:   of a syncobj
 * @vm:     of its VM
 * @queue:  in that VM
 * @offset: to map the buffer
 */
struct told {
	uint32_t handle;
	uint32_t sync;
	uint32_t vm;
	uint32_t queue;
	uint64_t offset;
};

/* How often something was tried, and how often it was refused. */
enum guess {
	GUESS_MAP, GUESS_BIND, GUESS_EXEC, GUESS_SYNC, GUESS_IMPORT, GUESS_COPY, GUESS_REUSE,
	GUESS_RACE, GUESS_FORK, GUESS_END
};

/**
 * struct guesser - a process
 * @own:     its number
 * @fd:      file
 * @told:    of all processes
 * @rng:     numbers
 * @kept:    a buffer whose words nobody else may read, or change
 * @seen:    a buffer for what jobs have read
 * @tried:   how often
 * @refused: of these, how often there was an error
 */
struct guesser {
	uint32_t own;
	int fd;
	struct told *told;
	struct rng rng;
	struct buf kept;
	struct buf seen;
	uint32_t tried[GUESS_END];
	uint32_t refused[GUESS_END];
};

static const char * const guess_name[GUESS_END] = {
	"mmap", "VM_BIND", "EXEC", "syncobj", "import", "copy", "reuse", "race", "fork",
};

static uint32_t mark(const struct guesser *g, uint64_t index)
{
	return (MARK | g->own << 20) ^ (uint32_t)(index & 0xffff);
}

/* Where a process has mapped what it keeps. */
static uint64_t kept_va(uint32_t process)
{
	return VA_DATA + process * SPAN / PROCESSES;
}

static const struct told *other(const struct guesser *g)
{
	return &g->told[g->own ^ 1];
}

/* Whether no word is one of another process. */
static bool nothing_of_others(const struct guesser *g, const void *from, uint64_t bytes)
{
	const volatile uint32_t *word = from;
	uint64_t i;

	for (i = 0; i < bytes / 4; i++)
		if ((word[i] & 0xff000000u) == MARK && (word[i] >> 20 & 0xf) != g->own)
			return failed("guess: process %u has word %#x of the other one", g->own,
				      word[i]);
	return true;
}

static void write_marks(const struct guesser *g, void *to, uint64_t bytes)
{
	volatile uint32_t *word = to;
	uint64_t i;

	for (i = 0; i < bytes / 4; i++)
		word[i] = mark(g, i);
}

static bool kept_is_whole(const struct guesser *g)
{
	const volatile uint32_t *word = g->kept.ptr;
	uint64_t i;

	for (i = 0; i < KEPT_BYTES / 4; i++)
		if (word[i] != mark(g, i))
			return failed("guess: word %llu of process %u has become %#x",
				      (unsigned long long)i, g->own, word[i]);
	return true;
}

static void note(struct guesser *g, enum guess what, int ret)
{
	g->tried[what]++;
	if (ret)
		g->refused[what]++;
}

/* A VM and a queue at the usual addresses; those of before end, with all that was mapped. */
static bool guess_anew(struct guesser *g)
{
	struct told *told = &g->told[g->own];

	if (told->vm) {
		CHECK_RET(queue_end(g->fd, told->queue), 0);
		CHECK_RET(vm_end(g->fd, told->vm), 0);
	}
	CHECK_RET(vm_make(g->fd, &told->vm), 0);
	CHECK_RET(queue_make(g->fd, told->vm, CE, 4, &told->queue), 0);
	CHECK_RET(bind_map(g->fd, told->vm, g->kept.handle, 0,
			   kept_va(g->own), KEPT_BYTES, DRM_VGPU_BIND_WRITE), 0);
	return bind_map(g->fd, told->vm, g->seen.handle, 0, VA_MORE, g->seen.bytes,
			DRM_VGPU_BIND_WRITE) == 0;
}

/* A job that may fault; then the queue is a new one. */
static bool try_job(struct guesser *g, enum guess what, struct vgpu_hw_packet packet)
{
	struct told *told = &g->told[g->own];
	int ret = exec_wait(g->fd, told->queue, &packet, 1);

	note(g, what, ret);
	CHECK(!ret || ret == -EIO);
	if (ret) {
		CHECK_RET(queue_end(g->fd, told->queue), 0);
		CHECK_RET(queue_make(g->fd, told->vm, CE, 4, &told->queue), 0);
	}
	return true;
}

/* The other one's buffer, by its offset. */
static bool guess_mmap(struct guesser *g)
{
	uint64_t offset = other(g)->offset + PAGE * rng_below(&g->rng, KEPT_BYTES / PAGE);
	void *ptr = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, (off_t)offset);

	note(g, GUESS_MAP, ptr == MAP_FAILED ? -errno : 0);
	if (ptr == MAP_FAILED)
		return true;
	CHECK(nothing_of_others(g, ptr, PAGE));
	munmap(ptr, PAGE);
	return true;
}

/* The other one's numbers, and those next to them: its own, if they are any. */
static bool guess_ids(struct guesser *g)
{
	struct vgpu_hw_packet packet = packet_fill(kept_va(g->own ^ 1), KEPT_BYTES, 0xbadbad);
	const struct told *own = &g->told[g->own];
	struct told id = *other(g);

	id.handle += rng_below(&g->rng, 3);
	id.sync += rng_below(&g->rng, 3);
	id.vm += rng_below(&g->rng, 3);
	id.queue += rng_below(&g->rng, 3);
	note(g, GUESS_BIND, bind_map(g->fd, rng_below(&g->rng, 2) ? own->vm : id.vm, id.handle, 0,
				     VA_DATA + SPAN + PAGE * rng_below(&g->rng, 64), PAGE, 0));
	if (id.queue != own->queue)
		note(g, GUESS_EXEC, exec(g->fd, id.queue, &packet, 1, 0, 0));
	note(g, GUESS_SYNC, sync_wait(g->fd, id.sync, 0));
	return true;
}

/* Any open file as a buffer. */
static bool guess_import(struct guesser *g)
{
	struct drm_prime_handle args = { .fd = (int)rng_below(&g->rng, 32) };
	int ret = node_ioctl(g->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);

	note(g, GUESS_IMPORT, ret);
	return ret || !bo_close(g->fd, args.handle);
}

/* Reads, or writes, by a job, where the other one has something, or reads what is its own. */
static bool guess_copy(struct guesser *g)
{
	uint64_t va = VA_DATA + PAGE * rng_below(&g->rng, SPAN / PAGE);
	uint64_t bytes = PAGE * (1 + rng_below(&g->rng, 3));

	if (rng_below(&g->rng, 8))
		va = kept_va(g->own ^ (rng_below(&g->rng, 4) > 0));
	if (rng_below(&g->rng, 2))
		CHECK(try_job(g, GUESS_COPY, packet_copy(VA_MORE, va, bytes)));
	else if (va >= kept_va(g->own) + KEPT_BYTES || va + bytes <= kept_va(g->own))
		CHECK(try_job(g, GUESS_COPY, packet_fill(va, bytes, 0xbadbad)));
	return nothing_of_others(g, g->seen.ptr, g->seen.bytes);
}

/* Framebuffer that the other one has just freed, as memory or for its tables, reads 0. */
static bool guess_reuse(struct guesser *g)
{
	uint64_t bytes = PAGE << rng_below(&g->rng, 9), va = VA_MORE + MIB * 64;
	const struct told *told = &g->told[g->own];
	struct buf buf;

	CHECK_RET(buf_make(g->fd, bytes, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &buf), 0);
	CHECK(nothing_of_others(g, buf.ptr, bytes));
	CHECK_RET(bind_map(g->fd, told->vm, buf.handle, 0, va, bytes, DRM_VGPU_BIND_WRITE), 0);
	CHECK(try_job(g, GUESS_REUSE, packet_copy(VA_MORE, va, bytes < g->seen.bytes ? bytes :
						  g->seen.bytes)));
	CHECK(nothing_of_others(g, g->seen.ptr, g->seen.bytes));
	write_marks(g, buf.ptr, bytes);
	if (rng_below(&g->rng, 2))
		CHECK_RET(bind_unmap(g->fd, told->vm, va, bytes), 0);
	buf_end(g->fd, &buf);
	return rng_below(&g->rng, 3) || guess_anew(g);
}

/*
 * What jobs read is unmapped, later and behind their backs, and given back: the memory may be the
 * other one's while they read on. They fault, or have read what was there.
 */
static bool guess_race(struct guesser *g)
{
	uint64_t bytes = 64 * PAGE, va = VA_MORE + MIB * 32;
	struct told *told = &g->told[g->own];
	struct vgpu_hw_packet packet[8];
	struct drm_vgpu_bind_op op = { .type = DRM_VGPU_BIND_UNMAP, .va = va, .size = bytes };
	struct drm_vgpu_vm_bind unmap = {
		.vm_id = told->vm,
		.flags = rng_below(&g->rng, 2) ? DRM_VGPU_VM_BIND_ASYNC : 0,
		.ops = { sizeof(op), 1, (uintptr_t)&op },
	};
	uint32_t handle, i;

	CHECK_RET(bo_make(g->fd, bytes, DRM_VGPU_PLACEMENT_FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bind_map(g->fd, told->vm, handle, 0, va, bytes, DRM_VGPU_BIND_WRITE), 0);
	for (i = 0; i < 8; i++)
		packet[i] = i % 2 ? packet_copy(VA_MORE, va, bytes) :
			    packet_fill(va, bytes, mark(g, i));
	CHECK_RET(exec(g->fd, told->queue, packet, 8, 0, 0), 0);
	CHECK_RET(node_ioctl(g->fd, DRM_IOCTL_VGPU_VM_BIND, &unmap), 0);
	CHECK_RET(bo_close(g->fd, handle), 0);
	CHECK(try_job(g, GUESS_RACE, packet_copy(VA_MORE, va, bytes)));
	return nothing_of_others(g, g->seen.ptr, g->seen.bytes);
}

/* A child has the file and the mappings, and goes on when its parent has given them up. */
static bool guess_fork(struct guesser *g)
{
	struct told *told = &g->told[g->own];
	struct vgpu_hw_packet packet;
	struct buf buf;
	int status;
	pid_t pid;

	CHECK_RET(buf_make(g->fd, 4 * PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &buf), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		usleep(1000 * rng_below(&g->rng, 10));
		write_marks(g, buf.ptr, buf.bytes);
		packet = packet_copy(VA_MORE, kept_va(g->own), PAGE);
		exec(g->fd, told->queue, &packet, 1, 0, 0);
		_exit(!nothing_of_others(g, buf.ptr, buf.bytes) || !kept_is_whole(g));
	}
	buf_end(g->fd, &buf);
	if (!rng_below(&g->rng, 3))
		kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	note(g, GUESS_FORK, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !WEXITSTATUS(status);
}

static bool guess_begin(struct guesser *g)
{
	struct drm_vgpu_bo_mmap_offset offset = {};
	struct told *told = &g->told[g->own];

	g->fd = node_open();
	CHECK(g->fd >= 0);
	/* Numbers differ, so that most of those of one mean nothing to the other. */
	for (uint32_t i = 0; i < 4 * g->own; i++) {
		CHECK_RET(bo_make(g->fd, PAGE, DRM_VGPU_PLACEMENT_SYSTEM, 0, &told->handle), 0);
		CHECK_RET(sync_make(g->fd, &told->sync), 0);
		CHECK_RET(vm_make(g->fd, &told->vm), 0);
		CHECK_RET(queue_make(g->fd, told->vm, CE, 4, &told->queue), 0);
	}
	told->vm = 0;
	CHECK_RET(buf_make(g->fd, KEPT_BYTES, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &g->kept), 0);
	CHECK_RET(buf_make(g->fd, 64 * PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &g->seen), 0);
	write_marks(g, g->kept.ptr, KEPT_BYTES);
	CHECK_RET(sync_make(g->fd, &told->sync), 0);
	offset.handle = g->kept.handle;
	CHECK_RET(node_ioctl(g->fd, DRM_IOCTL_VGPU_BO_MMAP_OFFSET, &offset), 0);
	told->handle = g->kept.handle;
	told->offset = offset.offset;
	return guess_anew(g);
}

/* On a slow host it takes longer than the time that was given until all has been tried. */
static bool all_tried(const struct guesser *g)
{
	unsigned int i;

	for (i = 0; i < GUESS_END; i++)
		if (!g->tried[i])
			return false;
	return g->refused[GUESS_COPY] && g->refused[GUESS_COPY] < g->tried[GUESS_COPY];
}

static bool guess_all(struct guesser *g, uint64_t end)
{
	const uint64_t limit = end + WAIT_MS * 1000000ull;
	static bool (* const guess[])(struct guesser *g) = {
		guess_mmap, guess_ids, guess_import, guess_copy, guess_copy, guess_reuse,
		guess_reuse, guess_race, guess_race, guess_fork,
	};
	unsigned int i;

	CHECK(guess_begin(g));
	while (clk_ns() < end || (!all_tried(g) && clk_ns() < limit)) {
		for (i = 0; i < TRIES; i++)
			CHECK(guess[rng_below(&g->rng, sizeof(guess) / sizeof(guess[0]))](g));
		CHECK(kept_is_whole(g));
	}
	for (i = 0; i < GUESS_END; i++) {
		say("guess: process %u: %s: %u tried, %u refused", g->own, guess_name[i],
		    g->tried[i], g->refused[i]);
		CHECK(g->tried[i]);
	}
	/* The other one's memory is out of reach, and what is at hand is not. */
	CHECK(g->refused[GUESS_MAP] == g->tried[GUESS_MAP]);
	CHECK(g->refused[GUESS_SYNC] == g->tried[GUESS_SYNC]);
	CHECK(g->refused[GUESS_COPY] && g->refused[GUESS_COPY] < g->tried[GUESS_COPY]);
	CHECK(!g->refused[GUESS_REUSE]);
	return true;
}

bool test_guess(void)
{
	uint64_t end = clk_ns() + test_amount(SECONDS) * 1000000000ull, before;
	struct told *told = mmap(NULL, PROCESSES * sizeof(*told), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct guesser g = { .told = told };
	int fd = node_open(), status;
	pid_t pid[PROCESSES];
	uint32_t i, word;

	CHECK(fd >= 0 && told != MAP_FAILED);
	CHECK(!chmod("/", 0755) && !chmod("/dev/dri/renderD128", 0666));
	before = fb_free(fd);
	/* What is looked for can be found. */
	g.own = 1;
	word = mark(&g, 7);
	CHECK(nothing_of_others(&g, &word, sizeof(word)));
	g.own = 0;
	CHECK((word & 0xff000000u) == MARK && (word >> 20 & 0xf) != g.own);
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i]) {
			g.own = i;
			g.rng = rng_seed(test_seed() + i);
			CHECK(!setuid(1000 + i));
			_exit(!guess_all(&g, end));
		}
	}
	for (i = 0; i < PROCESSES; i++)
		CHECK(waitpid(pid[i], &status, 0) == pid[i] && !status);
	CHECK(fb_free_is(fd, before));
	close(fd);
	return test_dispatch();
}
