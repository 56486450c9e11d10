// SPDX-License-Identifier: GPL-2.0
/* Tests of jobs that fail, never end, or lose their process: nobody else is hurt. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"
#include "rv.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define CE		1

static const uint32_t for_ever[] = { RV_J(0) };

bool others_work(void)
{
	struct vgpu_hw_packet packet;
	int fd = node_open();
	uint32_t vm, queue;
	struct buf buf;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	packet = packet_fill(VA_DATA, PAGE, 42);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	CHECK(*(volatile uint32_t *)buf.ptr == 42);
	buf_end(fd, &buf);
	close(fd);
	return true;
}

bool test_fault(void)
{
	struct vgpu_hw_packet packet[4];
	struct drm_vgpu_queue_query query;
	uint32_t vm, queue, beside, sync;
	int fd = node_open();
	struct buf buf;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &beside), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(sync_make(fd, &sync), 0);
	packet[0] = packet_fill(VA_DATA, 8, 1);
	packet[1] = packet_fill(VA_DATA + PAGE - 8, 16, 2);
	packet[2] = packet_fill(VA_DATA, 8, 3);
	CHECK_RET(exec(fd, queue, packet, 3, 0, sync), 0);
	CHECK_RET(sync_wait(fd, sync, WAIT_MS), 0);
	CHECK_RET(sync_error(fd, sync), -EIO);
	CHECK(*(volatile uint32_t *)buf.ptr == 1);
	CHECK_RET(queue_ask(fd, queue, &query), 0);
	say("fault: state %u, code %u, packet %llu, address %#llx", query.state, query.fault_code,
	    (unsigned long long)query.fault_packet, (unsigned long long)query.fault_addr);
	CHECK(query.state == DRM_VGPU_QUEUE_FAULT && query.fault_code == VGPU_HW_FAULT_PAGE);
	CHECK(query.fault_packet == 1 && query.completed == 1 && query.submitted >= 3);
	CHECK(query.fault_addr == VA_DATA + PAGE && !query.fault_pc);
	CHECK_RET(exec(fd, queue, packet, 1, 0, 0), -EIO);
	CHECK_RET(exec_wait(fd, beside, packet, 1), 0);
	CHECK_RET(queue_end(fd, queue), 0);
	CHECK(others_work());
	close(fd);
	return true;
}

bool test_program_fault(void)
{
	/* Work-item 5 stores at 0x2000, where nothing is. */
	static const uint32_t store_far[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
		RV_LI(RV_T1, 5),
		RV_BNE(RV_T0, RV_T1, 12),
		RV_LUI(RV_T2, 2),
		RV_SW(RV_T0, 0, RV_T2),
		RV_RET,
	};
	struct drm_vgpu_queue_query query;
	struct vgpu_hw_packet packet;
	int fd = node_open();
	uint32_t vm, queue;
	struct buf text;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(program_load(fd, vm, store_far, 6, VA_MORE, &text), 0);
	packet = packet_dispatch(VA_MORE, VA_DATA, 64, 64);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), -EIO);
	CHECK_RET(queue_ask(fd, queue, &query), 0);
	say("fault of a program: code %u, pc %#llx, address %#llx, work-item %u", query.fault_code,
	    (unsigned long long)query.fault_pc, (unsigned long long)query.fault_addr,
	    query.fault_id[0]);
	CHECK(query.state == DRM_VGPU_QUEUE_FAULT && query.fault_code == VGPU_HW_FAULT_PAGE);
	CHECK(query.fault_pc == VGPU_HW_VA_IMAGE + 16 && query.fault_addr == 0x2000);
	CHECK(query.fault_id[0] == 5 && !query.fault_id[1] && !query.fault_id[2]);
	CHECK(others_work());
	close(fd);
	return true;
}

int begin_for_ever(uint32_t *queue, uint32_t *sync)
{
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, 0, 1, 1);
	int fd = node_open();
	struct buf text;
	uint32_t vm, i;

	if (fd < 0 || vm_make(fd, &vm) || queue_make(fd, vm, GR, 4, queue) ||
	    program_load(fd, vm, for_ever, 1, VA_MORE, &text) || sync_make(fd, sync))
		return -1;
	buf_end(fd, &text);
	/* Some in the ring, others where they wait for room. */
	for (i = 0; i < 40; i++)
		if (exec(fd, *queue, &packet, 1, 0, *sync))
			return -1;
	return fd;
}

/* The driver's usual time limit in these tests. */
#define LIMIT_NS	3000000000ull

bool test_timeout(void)
{
	struct drm_vgpu_queue_query query;
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, 0, 1, 1);
	uint32_t queue, sync;
	int fd = begin_for_ever(&queue, &sync);
	uint64_t used;

	CHECK(fd >= 0);
	CHECK(others_work());
	CHECK_RET(sync_wait(fd, sync, WAIT_MS), 0);
	CHECK_RET(sync_error(fd, sync), -EIO);
	/* Not before, by the engine's time: a host that stands still takes its time from it. */
	used = fdinfo_of(fd, "drm-engine-gr");
	say("timeout: after %llu ms", (unsigned long long)used / 1000000);
	CHECK(used >= LIMIT_NS);
	CHECK_RET(queue_ask(fd, queue, &query), 0);
	CHECK(query.state == DRM_VGPU_QUEUE_TIMEOUT && !query.fault_code && !query.completed);
	CHECK_RET(exec(fd, queue, &packet, 1, 0, 0), -EIO);
	close(fd);
	CHECK(others_work());
	return true;
}

bool test_destroy_at_work(void)
{
	uint32_t queue, sync, i;
	int fd;

	CHECK(module_again(PATIENT));
	for (i = 0; i < 3; i++) {
		fd = begin_for_ever(&queue, &sync);
		CHECK(fd >= 0);
		CHECK_RET(queue_end(fd, queue), 0);
		CHECK_RET(sync_wait(fd, sync, WAIT_MS), 0);
		CHECK(sync_error(fd, sync) == -ESRCH || sync_error(fd, sync) == -ECANCELED);
		close(fd);
	}
	return others_work() && module_again(NULL);
}

/* Processes end, by themselves and killed, while their jobs work: more than there are channels. */
bool test_exit_at_work(void)
{
	uint32_t queue, sync, i;
	int fd, status;
	pid_t pid;

	for (i = 0; i < 40; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			fd = begin_for_ever(&queue, &sync);
			if (fd < 0)
				_exit(1);
			if (i % 2)
				raise(SIGKILL);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(i % 2 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL :
		      WIFEXITED(status) && !WEXITSTATUS(status));
	}
	return others_work();
}

/* An ordinary user's process works, and waits until the host has seen whose the channel is. */
bool test_label(void)
{
	struct vgpu_hw_packet packet = packet_fill(VA_DATA, MIB, 1);
	int fd, tell = tell_open();
	char version[16];
	struct utsname uts;
	uint32_t vm, queue;
	struct buf buf;

	CHECK(!uname(&uts) && module_version(version, sizeof(version)));
	CHECK(tell >= 0 && !chmod("/", 0755) && !chmod("/dev/dri/renderD128", 0666));
	CHECK(!prctl(PR_SET_NAME, "drawer") && !setuid(1000));
	fd = node_open();
	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(buf_make(fd, MIB, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, MIB, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	say("module %s", version);
	say("kernel %s %s", uts.sysname, uts.release);
	say("working as process %d", getpid());
	return tell_wait(tell, 2 * WAIT_MS / 1000);
}

/* More queues than channels, of several files, all of which want to work: they take turns. */
bool test_channels(void)
{
	enum { FILES = 3, QUEUES = 20, JOBS = 12 };
	uint32_t vm, queue[FILES][QUEUES], sync[FILES][QUEUES], i, j, k;
	struct drm_vgpu_dev_info info;
	struct vgpu_hw_packet packet;
	struct buf buf[FILES];
	int fd[FILES];

	for (i = 0; i < FILES; i++) {
		fd[i] = node_open();
		CHECK(fd[i] >= 0);
		CHECK_RET(node_info(fd[i], &info), 0);
		CHECK(info.channels < FILES * QUEUES);
		CHECK_RET(vm_make(fd[i], &vm), 0);
		CHECK_RET(buf_make(fd[i], MIB, FRAMEBUFFER, &buf[i]), 0);
		CHECK_RET(bind_map(fd[i], vm, buf[i].handle, 0, VA_DATA, MIB,
				   DRM_VGPU_BIND_WRITE), 0);
		for (j = 0; j < QUEUES; j++) {
			CHECK_RET(queue_make(fd[i], vm, (i + j) % 3, 4 + j % 4, &queue[i][j]), 0);
			CHECK_RET(sync_make(fd[i], &sync[i][j]), 0);
		}
	}
	for (k = 0; k < JOBS; k++)
		for (i = 0; i < FILES; i++)
			for (j = 0; j < QUEUES; j++) {
				packet = packet_fill(VA_DATA + (j * JOBS + k) * 4, 4,
						     1 + i + j + k);
				CHECK_RET(exec(fd[i], queue[i][j], &packet, 1, 0, sync[i][j]), 0);
			}
	for (i = 0; i < FILES; i++) {
		for (j = 0; j < QUEUES; j++) {
			CHECK_RET(sync_wait(fd[i], sync[i][j], WAIT_MS), 0);
			CHECK_RET(sync_error(fd[i], sync[i][j]), 0);
			for (k = 0; k < JOBS; k++)
				CHECK(((uint32_t *)buf[i].ptr)[j * JOBS + k] == 1 + i + j + k);
		}
		close(fd[i]);
	}
	return others_work();
}

/* All channels work for ever, and others wait: until the time limit, no longer. */
bool test_channels_held(void)
{
	struct drm_vgpu_queue_query query;
	uint32_t queue[64], sync[64], i;
	struct drm_vgpu_dev_info info;
	int fd[64];

	fd[0] = begin_for_ever(&queue[0], &sync[0]);
	CHECK(fd[0] >= 0);
	CHECK_RET(node_info(fd[0], &info), 0);
	CHECK(info.channels <= 64);
	for (i = 1; i < info.channels; i++) {
		fd[i] = begin_for_ever(&queue[i], &sync[i]);
		CHECK(fd[i] >= 0);
	}
	CHECK(others_work());
	/* The limit is one of each queue's own time, so it comes in any order. */
	for (i = 0; i < info.channels; i++) {
		CHECK_RET(sync_wait(fd[i], sync[i], WAIT_MS), 0);
		CHECK_RET(queue_ask(fd[i], queue[i], &query), 0);
		CHECK(query.state == DRM_VGPU_QUEUE_TIMEOUT);
		close(fd[i]);
	}
	return others_work();
}

/* Which of this process's queues have a channel, in the order in which they were made. */
static uint32_t queues_with_channel(bool *has, uint32_t room)
{
	char *line = strtok(debugfs_text("queues"), "\n"), own[32];
	uint32_t nr = 0;

	snprintf(own, sizeof(own), " %d: client ", getpid());
	for (; line; line = strtok(NULL, "\n")) {
		if (!strstr(line, own))
			continue;
		CHECK(nr < room);
		has[nr++] = !strstr(line, ", no channel, ");
	}
	return nr;
}

/* Who has not used its channel for the longest time loses it, not who has had it longest. */
bool test_channels_oldest(void)
{
	const struct vgpu_hw_packet packet = packet_fill(VA_DATA, PAGE, 1);
	enum { LOSE = 3, ROOM = 64 + LOSE };
	uint32_t vm, queue[ROOM], i, j;
	struct drm_vgpu_dev_info info;
	int fd = node_open();
	struct buf buf;
	bool has[ROOM];

	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	CHECK(info.channels > 2 * LOSE && info.channels + LOSE <= ROOM);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	for (i = 0; i < info.channels + LOSE; i++)
		CHECK_RET(queue_make(fd, vm, CE, 4, &queue[i]), 0);
	for (i = 0; i < info.channels; i++)
		CHECK_RET(exec_wait(fd, queue[i], &packet, 1), 0);
	/* The first one comes last: those behind it lose theirs, one with each queue that comes. */
	CHECK_RET(exec_wait(fd, queue[0], &packet, 1), 0);
	for (i = 0; i < LOSE; i++) {
		CHECK_RET(exec_wait(fd, queue[info.channels + i], &packet, 1), 0);
		CHECK(queues_with_channel(has, ROOM) == info.channels + LOSE);
		for (j = 0; j < info.channels + LOSE; j++)
			if (has[j] != (j <= info.channels + i && (!j || j > i + 1)))
				return failed("with %u queues more, queue %u has %s channel", i + 1,
					      j, has[j] ? "a" : "no");
	}
	close(fd);
	return true;
}
