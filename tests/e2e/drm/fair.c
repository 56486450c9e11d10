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

/* Several queues share an engine, with a job each. Returns how long all of them have taken. */
static uint64_t share_ms(uint32_t turns, unsigned int sharers)
{
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, VA_DATA, 1, 1);
	uint32_t vm, queue[SHARERS], sync[SHARERS];
	uint64_t start = clk_ns();
	int fd = node_open();
	unsigned int i;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(count_load(fd, vm, turns), 0);
	for (i = 0; i < sharers; i++) {
		CHECK_RET(queue_make(fd, vm, GR, 4, &queue[i]), 0);
		CHECK_RET(sync_make(fd, &sync[i]), 0);
		CHECK_RET(exec(fd, queue[i], &packet, 1, 0, sync[i]), 0);
	}
	for (i = 0; i < sharers; i++) {
		CHECK_RET(sync_wait(fd, sync[i], WAIT_MS), 0);
		CHECK_RET(sync_error(fd, sync[i]), 0);
	}
	close(fd);
	return (clk_ns() - start) / 1000000;
}

/*
 * Jobs that take a third of the limit each of an engine that all of them want: together they take
 * longer than one may, and are done.
 */
bool test_time_is_shared(void)
{
	uint32_t turns = 64;
	uint64_t ms;

	CHECK(module_again("job_timeout_ms=1500"));
	do {
		turns *= 2;
		ms = share_ms(turns, 1);
	} while (ms < LIMIT_MS / 6);
	turns = turns * (LIMIT_MS / 3) / ms;
	ms = share_ms(turns, SHARERS);
	say("time_is_shared: %u jobs have taken %llu ms", SHARERS, (unsigned long long)ms);
	/* The host was busier as one job was measured than it is now: the jobs become longer. */
	while (ms <= LIMIT_MS) {
		turns = turns * (SHARERS * LIMIT_MS / 3) / (ms + 1);
		ms = share_ms(turns, SHARERS);
		say("time_is_shared: of %u turns: %llu ms", turns, (unsigned long long)ms);
	}
	return module_again(NULL) && test_dispatch();
}
