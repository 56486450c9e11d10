// SPDX-License-Identifier: GPL-2.0
/* Tests of time limits: only the time of the engine that a job had itself counts. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"
#include "rv.h"

#define GR		0
#define SHARERS		6
#define LIMIT_MS	1500

/* Counts down from @turns * 4096. */
static int count_load(int fd, uint32_t vm, uint32_t turns)
{
	const uint32_t words[] = {
		RV_LUI(RV_T0, turns),
		RV_ADDI(RV_T0, RV_T0, -1),
		RV_BNE(RV_T0, RV_ZERO, -4),
		RV_RET,
	};
	struct buf text;
	int ret = program_load(fd, vm, words, 4, VA_MORE, &text);

	if (!ret)
		buf_end(fd, &text);
	return ret;
}

/**
 * struct sharer - a client with a job
 * @fd:    of the node
 * @vm:    id
 * @queue: id
 * @sync:  of the job
 */
struct sharer {
	int fd;
	uint32_t vm;
	uint32_t queue;
	uint32_t sync;
};

static void sharer_begin(struct sharer *s, uint32_t turns)
{
	s->fd = node_open();
	CHECK(s->fd >= 0);
	CHECK_RET(vm_make(s->fd, &s->vm), 0);
	CHECK_RET(count_load(s->fd, s->vm, turns), 0);
	CHECK_RET(queue_make(s->fd, s->vm, GR, 4, &s->queue), 0);
	CHECK_RET(sync_make(s->fd, &s->sync), 0);
}

/* Whether the job is done. One that is not has had more of the engine than a job may. */
static bool sharer_end(const struct sharer *s)
{
	uint64_t used;
	int ret;

	CHECK_RET(sync_wait(s->fd, s->sync, WAIT_MS), 0);
	ret = sync_error(s->fd, s->sync);
	CHECK(!ret || ret == -EIO);
	if (ret) {
		used = fdinfo_of(s->fd, "drm-engine-gr") / 1000000;
		say("time_is_shared: a job is given up after %llu ms", (unsigned long long)used);
		CHECK(used >= LIMIT_MS);
	}
	close(s->fd);
	return !ret;
}

/*
 * Several clients share an engine, with a job each. Returns how long all of them have taken, or 0:
 * the host has taken so much time from the engine that a job was given up for that.
 */
static uint64_t share_ms(uint32_t turns, unsigned int sharers)
{
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, VA_DATA, 1, 1);
	struct sharer sharer[SHARERS];
	bool done = true;
	unsigned int i;
	uint64_t start;

	for (i = 0; i < sharers; i++)
		sharer_begin(&sharer[i], turns);
	start = clk_ns();
	for (i = 0; i < sharers; i++)
		CHECK_RET(exec(sharer[i].fd, sharer[i].queue, &packet, 1, 0, sharer[i].sync), 0);
	for (i = 0; i < sharers; i++)
		done &= sharer_end(&sharer[i]);
	return done ? (clk_ns() - start) / 1000000 + 1 : 0;
}

/*
 * Jobs that take a third of the limit each of an engine that all of them want: together they take
 * longer than one may, and are done. How fast the host is may change at any time: they are made
 * longer, or shorter, until it is so.
 */
bool test_time_is_shared(void)
{
	uint64_t ms = 0, end;
	uint32_t turns = 64;

	CHECK(module_again("job_timeout_ms=1500"));
	end = clk_ms() + WAIT_MS;
	while (clk_ms() < end) {
		ms = share_ms(turns, SHARERS);
		say("time_is_shared: of %u turns: %llu ms", turns, (unsigned long long)ms);
		if (ms > LIMIT_MS)
			break;
		if (!ms)
			turns = turns / 2 + 1;
		else if (ms < LIMIT_MS / 4)
			turns *= 2;
		else
			turns = turns * (SHARERS * LIMIT_MS / 3) / ms;
	}
	CHECK(ms > LIMIT_MS);
	return module_again(NULL) && test_dispatch();
}
