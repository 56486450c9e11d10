// SPDX-License-Identifier: GPL-2.0
/* The row guest_exec: an empty job by the node, against an empty packet by a program. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "node.h"
#include "rows.h"
#include "stats.h"

#define JOBS		25u
#define POLLED		50u
#define ENGINE_CE	1

/**
 * struct execs - both sides
 * @fd:     of the node
 * @queue:  id
 * @sync:   handle of the syncobj that each job signals
 * @direct: the other vGPU
 * @polled: what libvgpu's own way to wait takes there, which looks and naps, in ns
 */
struct execs {
	int fd;
	uint32_t queue;
	uint32_t sync;
	struct direct direct;
	double polled;
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

static void measure_polled(struct execs *execs)
{
	struct vgpu_chan *chan = execs->direct.chan;
	double ns[POLLED];
	uint64_t fence;
	unsigned int i;

	for (i = 0; i < POLLED; i++) {
		ns[i] = bench_now_ns();
		if (vgpu_chan_fence(chan, &fence) || vgpu_chan_wait(chan, fence, WAIT_MS))
			bench_die("%s", vgpu_dev_error(chan->dev));
		ns[i] = bench_now_ns() - ns[i];
	}
	execs->polled = stats_quantile(ns, POLLED, 0.5);
}

static void tell(void *arg, char *text, size_t bytes)
{
	struct execs *execs = arg;

	measure_polled(execs);
	snprintf(text, bytes,
		 "; of %llu direct packets %llu found the engine asleep; libvgpu's own wait, which looks and naps, takes %.0f ns",
		 (unsigned long long)execs->direct.total,
		 (unsigned long long)execs->direct.rings, execs->polled);
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
	uint32_t vm;

	memset(&execs, 0, sizeof(execs));
	execs.fd = node_open();
	CHECK(execs.fd >= 0);
	CHECK_RET(vm_make(execs.fd, &vm), 0);
	CHECK_RET(queue_make(execs.fd, vm, ENGINE_CE, 8, &execs.queue), 0);
	CHECK_RET(sync_make(execs.fd, &execs.sync), 0);
	direct_open(&execs.direct);
	bench_compare(&row);
	direct_close(&execs.direct);
}
