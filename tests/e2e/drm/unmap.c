// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers are mapped and unmapped while a program runs in the same address space. The host counts
 * the programs that it decodes: while data comes and goes, and (so that its count is known to
 * count) while a program does.
 */
#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node.h"
#include "rv.h"

#define GR		0
#define UNMAPS		200u
#define RUNS		20u	/* at least, meanwhile */
#define AGAIN		10u
#define ROUNDS		20000u
#define BYTES		(16 * PAGE)
#define HOST_S		600

/* Counts in the second word behind a0 to what the first one says. */
static const uint32_t count[] = {
	RV_LW(RV_T0, 0, RV_A0),
	RV_LI(RV_T1, 0),
	RV_ADDI(RV_T1, RV_T1, 1),
	RV_BNE(RV_T0, RV_T1, -4),
	RV_SW(RV_T1, 4, RV_A0),
	RV_RET,
};

/**
 * struct counter - a client whose program runs
 * @fd:    of the node
 * @vm:    id
 * @queue: id
 * @words: the two words
 * @text:  the program
 * @runs:  how often it has come to its end
 * @stop:  whoever runs it stops
 */
struct counter {
	int fd;
	uint32_t vm;
	uint32_t queue;
	struct buf words;
	struct buf text;
	uint32_t runs;
	bool stop;
};

static void run_once(struct counter *c)
{
	const struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, VA_DATA, 1, 1);
	volatile uint32_t *word = c->words.ptr;

	word[0] = htole32(ROUNDS);
	word[1] = 0;
	CHECK_RET(exec_wait(c->fd, c->queue, &packet, 1), 0);
	CHECK(le32toh(word[1]) == ROUNDS);
	__atomic_add_fetch(&c->runs, 1, __ATOMIC_RELEASE);
}

static void *run_thread(void *arg)
{
	struct counter *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE))
		run_once(c);
	return NULL;
}

static void begin(struct counter *c)
{
	memset(c, 0, sizeof(*c));
	c->fd = node_open();
	CHECK(c->fd >= 0);
	CHECK_RET(vm_make(c->fd, &c->vm), 0);
	CHECK_RET(queue_make(c->fd, c->vm, GR, 4, &c->queue), 0);
	CHECK_RET(buf_make(c->fd, PAGE, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &c->words), 0);
	CHECK_RET(bind_map(c->fd, c->vm, c->words.handle, 0, VA_DATA, PAGE,
			   DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(program_load(c->fd, c->vm, count, sizeof(count) / 4, VA_MORE, &c->text), 0);
	run_once(c);
}

/* The device uses the buffer, so that it has translations to drop. */
static void map_and_unmap(struct counter *c, uint32_t queue)
{
	const uint64_t va = VA_MORE + MIB;
	const struct vgpu_hw_packet packet = packet_fill(va, BYTES, 7);
	uint32_t handle;

	CHECK_RET(bo_make(c->fd, BYTES, DRM_VGPU_PLACEMENT_FRAMEBUFFER, c->vm, &handle), 0);
	CHECK_RET(bind_map(c->fd, c->vm, handle, 0, va, BYTES, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(exec_wait(c->fd, queue, &packet, 1), 0);
	CHECK_RET(bind_unmap(c->fd, c->vm, va, BYTES), 0);
	CHECK_RET(bo_close(c->fd, handle), 0);
}

/* The host may see the beginning of a line before its end. */
bool test_unmap(void)
{
	int host = tell_open();
	uint32_t queue, i;
	struct counter c;
	pthread_t thread;

	CHECK(host >= 0);
	begin(&c);
	CHECK_RET(queue_make(c.fd, c.vm, GR, 4, &queue), 0);
	say("unmap begin end");
	CHECK(tell_wait(host, HOST_S));
	CHECK(!pthread_create(&thread, NULL, run_thread, &c));
	for (i = 0; i < UNMAPS || __atomic_load_n(&c.runs, __ATOMIC_ACQUIRE) < RUNS; i++)
		map_and_unmap(&c, queue);
	__atomic_store_n(&c.stop, true, __ATOMIC_RELEASE);
	CHECK(!pthread_join(thread, NULL));
	say("unmap data %u %u end", i, c.runs);
	CHECK(tell_wait(host, HOST_S));
	for (i = 0; i < AGAIN; i++) {
		CHECK_RET(bind_map(c.fd, c.vm, c.text.handle, 0, VA_MORE, c.text.bytes,
				   DRM_VGPU_BIND_EXEC), 0);
		run_once(&c);
	}
	say("unmap text %u end", AGAIN);
	CHECK(tell_wait(host, HOST_S));
	close(c.fd);
	return true;
}
