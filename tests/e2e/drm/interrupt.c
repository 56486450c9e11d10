// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs and moves end by interrupts: each wait has one, and what the driver looks at from time to
 * time has found nothing done of which none has told.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define CE		1
#define JOBS		300u
#define PACKETS		3u
#define MOVES		4u

/* Interrupts of all vectors of the driver, on all processors. */
static uint64_t interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[1024], *at, *end;
	uint64_t sum = 0, nr;

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		at = strchr(line, ':');
		if (!at || !strstr(line, "vgpu_guest"))
			continue;
		for (at++;; at = end) {
			nr = strtoull(at, &end, 10);
			if (end == at || *end != ' ')
				break;
			sum += nr;
		}
	}
	fclose(file);
	return sum;
}

/* What was done that no interrupt has told of in time. */
static bool late(unsigned long long *jobs, unsigned long long *moves)
{
	glob_t found;
	FILE *file;
	int n;

	CHECK_RET(glob("/sys/kernel/debug/dri/*/late", 0, NULL, &found), 0);
	file = fopen(found.gl_pathv[0], "r");
	globfree(&found);
	CHECK(file);
	n = fscanf(file, "jobs %llu moves %llu", jobs, moves);
	fclose(file);
	return n == 2;
}

/* One after the other, so that no interrupt tells of two. */
static void work(int fd, uint32_t vm, uint32_t engine)
{
	struct vgpu_hw_packet packet[PACKETS];
	uint64_t before, start;
	uint32_t queue, i;

	for (i = 0; i < PACKETS; i++)
		packet[i] = packet_fill(VA_DATA + 64 * i, 64, i);
	CHECK_RET(queue_make(fd, vm, engine, 4, &queue), 0);
	/* Whatever had to be moved for it. */
	CHECK_RET(exec_wait(fd, queue, packet, PACKETS), 0);
	before = interrupts();
	start = clk_ns();
	for (i = 0; i < JOBS; i++)
		CHECK_RET(exec_wait(fd, queue, packet, PACKETS), 0);
	say("engine %u: %u jobs, %llu interrupts, %llu ms", engine, JOBS,
	    (unsigned long long)(interrupts() - before),
	    (unsigned long long)((clk_ns() - start) / 1000000));
	CHECK(interrupts() - before == JOBS);
	CHECK_RET(queue_end(fd, queue), 0);
}

/* All of the framebuffer: what others have had is cleared by the engine. */
static void move(int fd)
{
	const uint64_t bytes = fb_free(fd) / 2 / (2 * MIB) * (2 * MIB);
	uint64_t before = interrupts();
	uint32_t handle[2], i;

	for (i = 0; i < MOVES; i++) {
		CHECK_RET(bo_make(fd, bytes, FRAMEBUFFER, 0, &handle[0]), 0);
		CHECK_RET(bo_make(fd, bytes, FRAMEBUFFER, 0, &handle[1]), 0);
		CHECK_RET(bo_close(fd, handle[0]), 0);
		CHECK_RET(bo_close(fd, handle[1]), 0);
		fb_free(fd);
	}
	say("moves: %llu interrupts", (unsigned long long)(interrupts() - before));
	CHECK(interrupts() - before >= MOVES - 1);
}

/* Whether no interrupt came late. */
static bool in_time(int fd, uint32_t vm)
{
	unsigned long long jobs[2], moves[2];

	CHECK(late(&jobs[0], &moves[0]));
	work(fd, vm, GR);
	work(fd, vm, CE);
	move(fd);
	CHECK(late(&jobs[1], &moves[1]));
	say("late: %llu jobs, %llu moves", jobs[1] - jobs[0], moves[1] - moves[0]);
	return jobs[1] == jobs[0] && moves[1] == moves[0];
}

/*
 * A host that stands still just when a job is done may have the interrupt come later than the
 * driver looks. It comes all the same, which is what work() counts; and the next time it is prompt.
 */
bool test_interrupts(void)
{
	int fd = node_open(), tries = 0;
	struct buf buf;
	uint32_t vm;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	while (!in_time(fd, vm))
		CHECK(++tries < 5);
	close(fd);
	return true;
}
