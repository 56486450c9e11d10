// SPDX-License-Identifier: GPL-2.0
/* Tests of priorities: which queue is next when there are more than channels. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define CE		1
#define CHANNELS_MAX	64

/* Queues of high priority that always have work, more than there are channels. */
#define RIVALS(channels)	(2 * (channels))

static const int priorities[] = {
	DRM_VGPU_PRIORITY_LOW, DRM_VGPU_PRIORITY_NORMAL, DRM_VGPU_PRIORITY_HIGH,
};

/* Words of the buffer: one for each priority, then what each has found there. */
#define DONE(i)		(VA_DATA + 4 * (i))
#define FOUND(i)	(VA_DATA + 64 + 16 * (i))

/* Waits until so many of this process's queues wait for a channel. */
static void come(unsigned int nr)
{
	unsigned int waiting;
	char *line, own[32];

	snprintf(own, sizeof(own), " %d: client ", getpid());
	do {
		waiting = 0;
		line = strtok(debugfs_text("queues"), "\n");
		for (; line; line = strtok(NULL, "\n"))
			waiting += strstr(line, own) && strstr(line, ", waits for a channel, ");
		if (waiting < nr)
			usleep(1000);
	} while (waiting < nr);
}

/*
 * Three that wait for a channel, in the wrong order. Returns whether they came within 150 ms: on a
 * busy machine the one that came first may have waited for so long that it is next.
 */
static bool order_once(const struct drm_vgpu_dev_info *info)
{
	uint32_t vm, queue[3], sync[3], held, held_sync, i;
	int hold[CHANNELS_MAX], fd = node_open();
	struct vgpu_hw_packet packet[2];
	const uint32_t *found;
	struct buf buf;
	uint64_t start;
	bool in_time;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	for (i = 0; i < 3; i++) {
		CHECK_RET(queue_make_as(fd, vm, CE, 4, priorities[i], &queue[i]), 0);
		CHECK_RET(sync_make(fd, &sync[i]), 0);
	}
	for (i = 0; i < info->channels; i++) {
		hold[i] = begin_for_ever(&held, &held_sync);
		CHECK(hold[i] >= 0);
	}
	start = clk_ns();
	for (i = 0; i < 3; i++) {
		packet[0] = packet_copy(FOUND(i), DONE(0), 12);
		packet[1] = packet_fill(DONE(i), 4, 1);
		CHECK_RET(exec(fd, queue[i], packet, 2, 0, sync[i]), 0);
	}
	come(3);
	in_time = clk_ns() - start < 150000000;
	CHECK_RET(sync_wait(fd, sync[2], 50), -ETIME);
	close(hold[0]);
	for (i = 0; i < 3; i++)
		CHECK_RET(sync_wait(fd, sync[i], WAIT_MS), 0);
	found = (const uint32_t *)buf.ptr + (FOUND(0) - VA_DATA) / 4;
	for (i = 0; in_time && i < 3; i++) {
		say("priority %d has found low %u, normal %u, high %u", priorities[i],
		    found[4 * i], found[4 * i + 1], found[4 * i + 2]);
		CHECK(!found[4 * i] && found[4 * i + 1] == (i < 1) && found[4 * i + 2] == (i < 2));
	}
	for (i = 1; i < info->channels; i++)
		close(hold[i]);
	close(fd);
	return in_time;
}

bool test_priority_order(void)
{
	uint64_t end = clk_ms() + WAIT_MS;
	struct drm_vgpu_dev_info info;
	bool in_time;
	int fd;

	CHECK(module_again(PATIENT));
	fd = node_open();
	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	CHECK(info.channels <= CHANNELS_MAX);
	close(fd);
	do {
		in_time = order_once(&info);
	} while (!in_time && clk_ms() < end);
	CHECK(others_work() && module_again(NULL));
	return in_time || failed("the guest is too slow for this test");
}

/* Jobs of high priority never end, and one of low priority is done nevertheless. */
bool test_priority_starves_none(void)
{
	uint32_t vm, rival[2 * CHANNELS_MAX], low, rival_sync, sync, i, jobs = 0;
	struct vgpu_hw_packet packet = packet_fill(VA_DATA, 256 * MIB, 1);
	uint64_t end = clk_ms() + WAIT_MS;
	struct drm_vgpu_queue_query query;
	struct drm_vgpu_dev_info info;
	int fd = node_open(), ret;
	uint32_t handle;

	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	CHECK(info.channels <= CHANNELS_MAX);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(bo_make(fd, 256 * MIB, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, 256 * MIB, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(sync_make(fd, &rival_sync), 0);
	CHECK_RET(sync_make(fd, &sync), 0);
	CHECK_RET(queue_make_as(fd, vm, CE, 4, DRM_VGPU_PRIORITY_LOW, &low), 0);
	for (i = 0; i < RIVALS(info.channels); i++)
		CHECK_RET(queue_make_as(fd, vm, CE, 4, DRM_VGPU_PRIORITY_HIGH, &rival[i]), 0);
	for (; jobs < 20; jobs++)
		for (i = 0; i < RIVALS(info.channels); i++)
			CHECK_RET(exec(fd, rival[i], &packet, 1, 0, rival_sync), 0);
	packet = packet_fill(VA_DATA, 4, 2);
	CHECK_RET(exec(fd, low, &packet, 1, 0, sync), 0);
	packet = packet_fill(VA_DATA, 256 * MIB, 1);
	do {
		ret = sync_wait(fd, sync, 100);
		for (i = 0; ret && i < RIVALS(info.channels); i++)
			CHECK_RET(exec(fd, rival[i], &packet, 1, 0, rival_sync), 0);
		jobs += !!ret;
	} while (ret == -ETIME && clk_ms() < end);
	CHECK_RET(ret, 0);
	CHECK_RET(sync_error(fd, sync), 0);
	/* That they had work all the time is what this is about. */
	for (i = 0; i < RIVALS(info.channels); i++) {
		CHECK_RET(queue_ask(fd, rival[i], &query), 0);
		CHECK(!query.state && query.completed < jobs);
	}
	close(fd);
	return others_work();
}

bool test_priority_allowed(void)
{
	uint32_t vm, queue;
	int status;
	pid_t pid;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make_as(fd, vm, CE, 4, DRM_VGPU_PRIORITY_HIGH, &queue), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!setuid(1000));
		CHECK_RET(queue_make_as(fd, vm, CE, 4, DRM_VGPU_PRIORITY_HIGH, &queue), -EPERM);
		CHECK_RET(queue_make_as(fd, vm, CE, 4, DRM_VGPU_PRIORITY_LOW, &queue), 0);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	close(fd);
	return true;
}
