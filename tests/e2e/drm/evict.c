// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of buffers that do not fit into the framebuffer together. The driver is told to use a small
 * part of it, as a guest has less memory than that.
 */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"
#include "rng.h"
#include "rv.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define GR		0
#define CE		1

#define SMALL		"job_timeout_ms=20000 fb_limit_mb=32"
#define FB_BYTES	(32 * MIB)

#define BUFS		4
#define BUF_BYTES	(4 * MIB)	/* two of the largest pages */
#define EIGHTH		(BUF_BYTES / 8)
#define CPU_BYTES	(128 * 1024ull)	/* of each buffer, what the CPU writes */
#define ITEMS		64

/* Where the buffers of a worker are; behind them its program, arguments and results. */
#define VA_BUF(i)	(VA_DATA + (uint64_t)(i) * 16 * MIB)
#define VA_TEXT		(VA_MORE)
#define VA_ARGS		(VA_MORE + MIB)
#define VA_OUT		(VA_MORE + 2 * MIB)

/* Each work-item sums up its part of a buffer: { address, words of a part, results } at a0. */
static const uint32_t sum_up[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
	RV_LD(RV_A1, 0, RV_A0),
	RV_LD(RV_A2, 8, RV_A0),
	RV_LD(RV_A3, 16, RV_A0),
	RV_MUL(RV_T1, RV_T0, RV_A2),
	RV_SLLI(RV_T1, RV_T1, 2),
	RV_ADD(RV_A1, RV_A1, RV_T1),
	RV_LI(RV_T2, 0),
	RV_LW(RV_T1, 0, RV_A1),
	RV_ADD(RV_T2, RV_T2, RV_T1),
	RV_ADDI(RV_A1, RV_A1, 4),
	RV_ADDI(RV_A2, RV_A2, -1),
	RV_BNE(RV_A2, RV_ZERO, -16),
	RV_SLLI(RV_T0, RV_T0, 2),
	RV_ADD(RV_A3, RV_A3, RV_T0),
	RV_SW(RV_T2, 0, RV_A3),
	RV_RET,
};

/**
 * struct worker - a client with buffers of which it knows what is in them
 * @fd:   of the node
 * @vm:   id
 * @gr:   queue
 * @ce:   queue
 * @made: syncobj, of what the copy engine does
 * @read: syncobj, of the program
 * @nr:   buffers that count
 * @buf:  buffers
 * @text: program
 * @args: its arguments
 * @out:  its results
 */
struct worker {
	int fd;
	uint32_t vm;
	uint32_t gr;
	uint32_t ce;
	uint32_t made;
	uint32_t read;
	uint32_t nr;
	struct buf buf[2 * BUFS];
	struct buf text;
	struct buf args;
	struct buf out;
};

uint64_t system_free(int fd)
{
	struct drm_vgpu_dev_info info;

	CHECK_RET(node_info(fd, &info), 0);
	return info.system_free;
}

static uint32_t word_of(uint32_t seed, uint32_t buf, uint64_t i)
{
	return (seed + buf * 977) * 2654435761u + (i < CPU_BYTES / 4 ? (uint32_t)i * 40503u : 0);
}

/* Half of the buffers are those of the VM alone. */
static bool worker_begin(struct worker *w, uint32_t nr)
{
	uint64_t *args;
	uint32_t i;

	*w = (struct worker){ .fd = node_open(), .nr = nr };
	CHECK(w->fd >= 0);
	CHECK_RET(vm_make(w->fd, &w->vm), 0);
	CHECK_RET(queue_make(w->fd, w->vm, GR, 4, &w->gr), 0);
	CHECK_RET(queue_make(w->fd, w->vm, CE, 4, &w->ce), 0);
	CHECK_RET(sync_make(w->fd, &w->made), 0);
	CHECK_RET(sync_make(w->fd, &w->read), 0);
	CHECK_RET(program_load(w->fd, w->vm, sum_up, sizeof(sum_up) / 4, VA_TEXT, &w->text), 0);
	CHECK_RET(buf_make(w->fd, PAGE, FRAMEBUFFER, &w->args), 0);
	CHECK_RET(buf_make(w->fd, PAGE, FRAMEBUFFER, &w->out), 0);
	CHECK_RET(bind_map(w->fd, w->vm, w->args.handle, 0, VA_ARGS, PAGE, 0), 0);
	CHECK_RET(bind_map(w->fd, w->vm, w->out.handle, 0, VA_OUT, PAGE, DRM_VGPU_BIND_WRITE), 0);
	args = w->args.ptr;
	for (i = 0; i < nr; i++) {
		struct buf *buf = &w->buf[i];

		buf->bytes = BUF_BYTES;
		CHECK_RET(bo_make(w->fd, BUF_BYTES, FRAMEBUFFER, i % 2 ? w->vm : 0, &buf->handle),
			  0);
		CHECK_RET(bo_map(w->fd, buf->handle, BUF_BYTES, &buf->ptr), 0);
		CHECK_RET(bind_map(w->fd, w->vm, buf->handle, 0, VA_BUF(i), BUF_BYTES,
				   DRM_VGPU_BIND_WRITE), 0);
		args[4 * i] = VA_BUF(i);
		args[4 * i + 1] = BUF_BYTES / 4 / ITEMS;
		args[4 * i + 2] = VA_OUT + i * ITEMS * 4;
	}
	return true;
}

/* A mapping keeps its buffer. */
static void worker_end(struct worker *w)
{
	uint32_t i;

	for (i = 0; i < w->nr; i++)
		munmap(w->buf[i].ptr, BUF_BYTES);
	buf_end(w->fd, &w->text);
	buf_end(w->fd, &w->args);
	buf_end(w->fd, &w->out);
	close(w->fd);
}

/* The CPU writes the beginning of each buffer; two engines do the rest, and sum it up. */
static int worker_push(struct worker *w, uint32_t seed)
{
	struct vgpu_hw_packet packet[2 * BUFS];
	uint32_t *word, i;
	uint64_t j;
	int ret;

	for (i = 0; i < w->nr; i++) {
		word = w->buf[i].ptr;
		for (j = 0; j < CPU_BYTES / 4; j++)
			word[j] = word_of(seed, i, j);
		packet[i] = packet_fill(VA_BUF(i) + CPU_BYTES, BUF_BYTES - CPU_BYTES,
					word_of(seed, i, BUF_BYTES / 4));
	}
	ret = exec(w->fd, w->ce, packet, w->nr, 0, w->made);
	if (ret)
		return ret;
	for (i = 0; i < w->nr; i++)
		packet[i] = packet_dispatch(VA_TEXT, VA_ARGS + 32 * i, ITEMS, ITEMS);
	return exec(w->fd, w->gr, packet, w->nr, w->made, w->read);
}

static bool worker_check(struct worker *w, uint32_t seed)
{
	const uint64_t part = BUF_BYTES / 4 / ITEMS;
	const uint32_t *out = w->out.ptr, *word;
	uint32_t i, item, sum;
	uint64_t j;

	CHECK_RET(sync_wait(w->fd, w->read, WAIT_MS), 0);
	CHECK_RET(sync_error(w->fd, w->read), 0);
	for (i = 0; i < w->nr; i++) {
		for (item = 0; item < ITEMS; item++) {
			for (j = sum = 0; j < part; j++)
				sum += word_of(seed, i, item * part + j);
			if (out[i * ITEMS + item] != sum)
				return failed("buffer %u, part %u: the program finds another sum",
					      i, item);
		}
		word = w->buf[i].ptr;
		for (j = 0; j < BUF_BYTES / 4; j += j < CPU_BYTES / 4 ? 1 : 61)
			if (word[j] != word_of(seed, i, j))
				return failed("buffer %u, word %#llx: %#x", i,
					      (unsigned long long)j, word[j]);
	}
	return true;
}

static bool worker_turn(struct worker *w, uint32_t seed)
{
	CHECK_RET(worker_push(w, seed), 0);
	return worker_check(w, seed);
}

/* Ends when it is told to, by SIGKILL, or after so many turns. */
static void worker_main(uint32_t id, uint32_t turns)
{
	struct worker w;
	uint32_t turn;
	bool ok;

	ok = worker_begin(&w, BUFS);
	for (turn = 0; ok && turn < turns; turn++)
		ok = worker_turn(&w, id * 1000 + turn);
	_exit(!ok);
}

static bool small(void)
{
	return module_again(SMALL);
}

/* All that was had is given back, and the driver uses all of the framebuffer again. */
static bool usual(int fd, uint64_t fb_before, uint64_t system_before)
{
	CHECK(fb_free_is(fd, fb_before));
	CHECK(system_free_is(fd, system_before));
	close(fd);
	return module_again(NULL);
}

/* Four clients with twice as much as there is: each finds in its buffers what it has put there. */
bool test_evict(void)
{
	uint32_t turns = test_amount(2), i, left = 4;
	uint64_t fb, system, least;
	pid_t pid[4], ended;
	int fd, status;

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	least = system;
	CHECK(fb <= FB_BYTES && 4 * BUFS * BUF_BYTES > fb + fb / 2);
	for (i = 0; i < 4; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			worker_main(i, turns);
	}
	while (left) {
		if (system_free(fd) < least)
			least = system_free(fd);
		ended = waitpid(-1, &status, WNOHANG);
		if (!ended) {
			usleep(20000);
			continue;
		}
		CHECK(ended > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
		left--;
	}
	say("evict: up to %llu MiB in the guest's memory",
	    (unsigned long long)((system - least) / MIB));
	CHECK(system - least >= BUF_BYTES);
	return usual(fd, fb, system);
}

/* What a VM maps must fit into the framebuffer together; what it does not map need not. */
bool test_evict_too_much(void)
{
	uint64_t fb, system;
	struct worker w;
	int fd;

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	CHECK(worker_begin(&w, 2 * BUFS));
	CHECK_RET(worker_push(&w, 1), -ENOSPC);
	CHECK_RET(exec_wait(w.fd, w.ce, NULL, 0), -ENOSPC);
	CHECK_RET(bind_unmap(w.fd, w.vm, VA_BUF(2 * BUFS - 1), BUF_BYTES), 0);
	w.nr--;
	CHECK(worker_turn(&w, 2));
	/* The other one has what the CPU has put there, and is next. */
	CHECK(((uint32_t *)w.buf[2 * BUFS - 1].ptr)[9] == word_of(1, 2 * BUFS - 1, 9));
	CHECK_RET(bind_unmap(w.fd, w.vm, VA_BUF(0), BUF_BYTES), 0);
	CHECK_RET(bind_map(w.fd, w.vm, w.buf[2 * BUFS - 1].handle, 0, VA_BUF(0), BUF_BYTES,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(exec_wait(w.fd, w.ce, NULL, 0), 0);
	w.nr++;
	worker_end(&w);
	return usual(fd, fb, system);
}

const uint32_t until_flag[UNTIL_FLAG_WORDS] = {
	RV_LI(RV_T0, 1),
	RV_AMOADD_W(RV_ZERO, RV_T0, RV_A0),
	RV_ADDI(RV_A1, RV_A0, 4),
	RV_LW(RV_T1, 0, RV_A1),
	RV_BEQ(RV_T1, RV_ZERO, -12),
	RV_RET,
};

/* A job keeps its buffers in the framebuffer; who wants it waits until the job is done. */
bool test_evict_at_work(void)
{
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE + 8 * MIB, VA_BUF(0), 1, 1);
	volatile uint32_t *word;
	uint64_t fb, system;
	struct worker w;
	struct buf text;
	int fd, status;
	pid_t pid;

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	CHECK(worker_begin(&w, BUFS + 2));
	CHECK(worker_turn(&w, 5));
	word = w.buf[0].ptr;
	word[0] = 0;
	word[1] = 0;
	CHECK_RET(program_load(w.fd, w.vm, until_flag, UNTIL_FLAG_WORDS, VA_MORE + 8 * MIB, &text),
		  0);
	CHECK_RET(exec(w.fd, w.gr, &packet, 1, 0, w.read), 0);
	while (!word[0])
		usleep(1000);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		worker_main(6, 1);
	usleep(3000000);
	CHECK(!waitpid(pid, &status, WNOHANG));
	/* It works on, and where the CPU sees it. */
	CHECK(word[0] > 1 && sync_wait(w.fd, w.read, 0) == -ETIME);
	word[1] = 1;
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK_RET(sync_wait(w.fd, w.read, WAIT_MS), 0);
	CHECK_RET(sync_error(w.fd, w.read), 0);
	word[0] = word_of(5, 0, 0);
	word[1] = word_of(5, 0, 1);
	CHECK(worker_check(&w, 5));
	buf_end(w.fd, &text);
	worker_end(&w);
	return usual(fd, fb, system);
}

/* Mappings of a buffer that is evicted are cut, moved and added; it comes back by all of them. */
bool test_evict_bind(void)
{
	struct vgpu_hw_packet packet[2];
	struct worker w, other;
	uint64_t fb, system, i;
	uint32_t *word;
	int fd;

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	CHECK(worker_begin(&w, 2));
	CHECK(worker_turn(&w, 7));
	CHECK(worker_begin(&other, BUFS + 3));
	CHECK(worker_turn(&other, 8));
	CHECK(system_free(fd) < system);
	CHECK_RET(bind_unmap(w.fd, w.vm, VA_BUF(0) + 3 * EIGHTH + PAGE, 3 * PAGE), 0);
	CHECK_RET(bind_map(w.fd, w.vm, w.buf[0].handle, PAGE, VA_BUF(3) + 5 * PAGE, 4 * EIGHTH,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(bind_map(w.fd, w.vm, w.buf[1].handle, 2 * EIGHTH, VA_BUF(1) + 4 * EIGHTH,
			   2 * EIGHTH, 0), 0);
	packet[0] = packet_fill(VA_BUF(3) + 5 * PAGE, 4 * EIGHTH, 0xabcd);
	packet[1] = packet_copy(VA_BUF(0) + 6 * EIGHTH, VA_BUF(1) + 4 * EIGHTH, 2 * EIGHTH);
	CHECK_RET(exec_wait(w.fd, w.ce, packet, 2), 0);
	word = w.buf[0].ptr;
	for (i = 0; i < 6 * EIGHTH / 4; i++)
		CHECK(word[i] == (i < PAGE / 4 || i >= (4 * EIGHTH + PAGE) / 4 ?
				  word_of(7, 0, i) : 0xabcd));
	for (; i < BUF_BYTES / 4; i++)
		CHECK(word[i] == word_of(7, 1, BUF_BYTES / 4));
	CHECK(worker_check(&other, 8));
	/* What is not mapped there any more is not found there. */
	packet[0] = packet_fill(VA_BUF(0) + 3 * EIGHTH + PAGE, PAGE, 1);
	CHECK_RET(exec_wait(w.fd, w.ce, packet, 1), -EIO);
	worker_end(&w);
	worker_end(&other);
	return usual(fd, fb, system);
}

/* All memory is had. Those that have it work on, as buffers can still change places. */
bool test_evict_full(void)
{
	uint64_t fb, system, bytes = BUF_BYTES;
	uint32_t handle, nr = 0;
	struct worker a, b;
	int fd, full, ret;

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	CHECK(worker_begin(&a, BUFS));
	CHECK(worker_begin(&b, BUFS));
	full = node_open();
	while (bytes >= PAGE) {
		ret = bo_make(full, bytes, FRAMEBUFFER, 0, &handle);
		CHECK(!ret || ret == -ENOSPC);
		if (ret)
			bytes /= 2;
		else
			nr++;
	}
	say("evict_full: %u more buffers", nr);
	CHECK_RET(bo_make(full, PAGE, SYSTEM, 0, &handle), -ENOMEM);
	CHECK(worker_turn(&a, 10) && worker_turn(&b, 11) && worker_turn(&a, 12));
	CHECK(worker_check(&b, 11));
	close(full);
	worker_end(&a);
	worker_end(&b);
	return usual(fd, fb, system);
}

/* Clients end at any time, while buffers of theirs and of others come and go. */
bool test_evict_exit(void)
{
	struct rng rng = rng_seed(test_seed());
	uint32_t nr = test_amount(12), i;
	uint64_t fb, system;
	int fd, status;
	pid_t pid[4];

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	for (i = 0; i < nr + 4; i++) {
		if (i >= 4) {
			usleep(1000 * rng_below(&rng, 700));
			kill(pid[i % 4], SIGKILL);
			CHECK(waitpid(pid[i % 4], &status, 0) == pid[i % 4]);
			CHECK(WIFSIGNALED(status) || !WEXITSTATUS(status));
		}
		if (i < nr) {
			pid[i % 4] = fork();
			CHECK(pid[i % 4] >= 0);
			if (!pid[i % 4])
				worker_main(i, 100);
		}
	}
	return usual(fd, fb, system);
}

/*
 * A small buffer of a job that never ends, which was used before all others, holds up nobody: there
 * are buffers that no job uses. The job would be given up after some of the times, of 15 s each,
 * that TTM waits for it, and there are twice as many.
 */
bool test_evict_idle_first(void)
{
	uint32_t queue, sync, turn;
	struct worker w, other;
	uint64_t fb, system;
	int fd, at_work;

	CHECK(module_again("job_timeout_ms=60000 fb_limit_mb=32"));
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	at_work = begin_for_ever(&queue, &sync);
	CHECK(at_work >= 0);
	CHECK(worker_begin(&w, BUFS + 2));
	CHECK(worker_begin(&other, BUFS));
	for (turn = 0; turn < 4; turn++)
		CHECK(worker_turn(turn % 2 ? &other : &w, 20 + turn));
	CHECK_RET(sync_wait(at_work, sync, 0), -ETIME);
	close(at_work);
	CHECK(worker_check(&w, 22) && worker_check(&other, 23));
	worker_end(&w);
	worker_end(&other);
	return usual(fd, fb, system);
}

/* What cannot be evicted is at most half of the framebuffer, so others work on. */
bool test_evict_own(void)
{
	uint32_t vm, id, nr = 0;
	uint64_t fb, system;
	struct worker w;
	int fd, own, ret;

	CHECK(small());
	fd = node_open();
	fb = fb_free(fd);
	system = system_free(fd);
	CHECK(worker_begin(&w, 3));
	CHECK(worker_turn(&w, 30));
	own = node_open();
	CHECK_RET(vm_make(own, &vm), 0);
	while (!(ret = queue_make(own, vm, CE, VGPU_HW_RING_ORDER_MAX, &id)))
		nr++;
	CHECK_RET(ret, -ENOSPC);
	say("evict_own: %u queues", nr);
	CHECK(nr && (nr << VGPU_HW_RING_ORDER_MAX) * sizeof(struct vgpu_hw_packet) <= FB_BYTES / 2);
	CHECK(worker_turn(&w, 31));
	close(own);
	worker_end(&w);
	return usual(fd, fb, system);
}
