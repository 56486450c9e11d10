// SPDX-License-Identifier: GPL-2.0
/*
 * The rows guest_exec, an empty job by the node against an empty packet by a program, where both
 * sleep until the interrupt; and guest_exec_look, where both look again and again.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "node.h"
#include "rows.h"

#define JOBS		25u
#define ENGINE_CE	1

/**
 * struct execs - both sides
 * @fd:     of the node
 * @queue:  id
 * @sync:   handle of the syncobj that each job signals
 * @direct: the other vGPU
 */
struct execs {
	int fd;
	uint32_t queue;
	uint32_t sync;
	struct direct direct;
};

static void exec_one(const struct execs *execs)
{
	CHECK_RET(exec(execs->fd, execs->queue, NULL, 0, 0, execs->sync), 0);
	CHECK_RET(sync_wait(execs->fd, execs->sync, WAIT_MS), 0);
}

/* The first job of a block may find the engine asleep: it does not count. */
static double block_node(void *arg)
{
	struct execs *execs = arg;
	unsigned int i;
	double start;

	exec_one(execs);
	start = bench_now_ns();
	for (i = 0; i < JOBS; i++)
		exec_one(execs);
	return (bench_now_ns() - start) / JOBS;
}

static double block_direct(void *arg)
{
	const struct vgpu_hw_packet packet = { .type = VGPU_HW_PKT_NOP };
	struct execs *execs = arg;
	struct direct *direct = &execs->direct;
	uint64_t rings = direct->rings, total = direct->total;
	unsigned int i;
	double start;

	direct_run(direct, packet);
	direct->rings = rings;
	direct->total = total;
	start = bench_now_ns();
	for (i = 0; i < JOBS; i++)
		direct_run(direct, packet);
	return (bench_now_ns() - start) / JOBS;
}

static double block_node_look(void *arg)
{
	struct execs *execs = arg;
	double start = bench_now_ns();
	unsigned int i;
	int ret;

	for (i = 0; i < JOBS; i++) {
		CHECK_RET(exec(execs->fd, execs->queue, NULL, 0, 0, execs->sync), 0);
		while ((ret = sync_wait(execs->fd, execs->sync, 0)) == -ETIME)
			sched_yield();
		CHECK_RET(ret, 0);
	}
	return (bench_now_ns() - start) / JOBS;
}

/* libvgpu's own wait, which looks for 50 us, and then between naps. */
static double block_direct_look(void *arg)
{
	struct execs *execs = arg;
	struct vgpu_chan *chan = execs->direct.chan;
	double start = bench_now_ns();
	unsigned int i;
	uint64_t fence;

	for (i = 0; i < JOBS; i++)
		if (vgpu_chan_fence(chan, &fence) || vgpu_chan_wait(chan, fence, WAIT_MS))
			bench_die("%s", vgpu_dev_error(chan->dev));
	return (bench_now_ns() - start) / JOBS;
}

static void tell(void *arg, char *text, size_t bytes)
{
	struct execs *execs = arg;

	snprintf(text, bytes, "; of %llu direct packets %llu found the engine asleep",
		 (unsigned long long)execs->direct.total,
		 (unsigned long long)execs->direct.rings);
}

void row_exec(void)
{
	struct execs execs;
	struct bench_row row = {
		.name = "guest_exec", .unit = "ns", .reach = 3,
		.ours = { block_node, &execs }, .peer = { block_direct, &execs },
		.detail = "in a VM, EXEC of an empty job to return of SYNCOBJ_WAIT, against store of put to return of read() of the interrupt, with a NOP on a vGPU of the same VM that a program drives itself; 25 per block",
		.tell = tell,
	};
	struct bench_row look = {
		.name = "guest_exec_look", .unit = "ns",
		.ours = { block_node_look, &execs }, .peer = { block_direct_look, &execs },
		.detail = "the same, where nobody sleeps: EXEC and SYNCOBJ_WAIT without a time until the job is done, against libvgpu's own fence and wait, which has no interrupts in a VM; 25 per block",
	};
	uint32_t vm;

	memset(&execs, 0, sizeof(execs));
	execs.fd = node_open();
	CHECK(execs.fd >= 0);
	CHECK_RET(vm_make(execs.fd, &vm), 0);
	CHECK_RET(queue_make(execs.fd, vm, ENGINE_CE, 8, &execs.queue), 0);
	CHECK_RET(sync_make(execs.fd, &execs.sync), 0);
	direct_open(&execs.direct);
	bench_compare(&row);
	bench_compare(&look);
	direct_close(&execs.direct);
}
