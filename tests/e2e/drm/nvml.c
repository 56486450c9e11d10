// SPDX-License-Identifier: GPL-2.0
/*
 * libnvidia-ml.so.1, the file that hosts have, too, for root and for an ordinary user, who has the
 * node and, at first, neither /proc nor sysfs.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node.h"
#include "process.h"
#include "user.h"

#define BYTES		(8 * MIB)
#define RIGHT		"all is right\n"

/* Keeps the gr engine at work until it is killed; says when it has done something. */
static void work_for_ever(uint32_t engine, int ready)
{
	const struct vgpu_hw_packet packet = packet_fill(VA_DATA, BYTES, 7);
	uint32_t vm, queue;
	struct buf buf;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(buf_make(fd, BYTES, DRM_VGPU_PLACEMENT_FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, BYTES, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(queue_make(fd, vm, engine, VGPU_HW_RING_ORDER_MIN, &queue), 0);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	CHECK(write(ready, "", 1) == 1);
	for (;;)
		CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
}

static pid_t start_work(uint32_t engine, void (*before)(void))
{
	int ready[2];
	pid_t pid;
	char byte;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		if (before)
			before();
		/* Who has been root hides from /proc. */
		CHECK(!prctl(PR_SET_DUMPABLE, 1));
		work_for_ever(engine, ready[1]);
		_exit(1);
	}
	/* It has memory that can be told then. */
	close(ready[1]);
	CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return pid;
}

static void uuid_text(const uint8_t *uuid, char *text)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				uuid[i]);
}

static bool asks(const struct drm_vgpu_dev_info *info, void (*before)(void), pid_t worker,
		 bool no_proc)
{
	char type[sizeof(info->type) + 1] = "", uuid[64], pid[16];
	char version[16];
	char *argv[] = { "/nvml", type, uuid, version, pid, no_proc ? "none" : NULL, NULL };

	CHECK(module_version(version, sizeof(version)));
	memcpy(type, info->type, sizeof(info->type));
	uuid_text(info->uuid, uuid);
	snprintf(pid, sizeof(pid), "%d", worker);
	return process_runs(argv, before, 0, RIGHT);
}

static void end_work(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

bool test_user_nvml(void)
{
	struct drm_vgpu_dev_info info;
	uint32_t gr = 0;
	pid_t worker;
	bool ok;
	int fd;

	if (!user_box())
		return false;
	fd = node_open();
	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	while (gr < info.nr_engines && info.engine[gr] >> 8 != VGPU_HW_ENGINE_GR)
		gr++;
	CHECK(gr < info.nr_engines);
	/* Root sees a process of its own, and this one, which only looks, not at all. */
	worker = start_work(gr, NULL);
	CHECK(worker > 0);
	ok = asks(&info, NULL, worker, false) && asks(&info, user_become, 0, true);
	/* A user sees no process of root's. */
	mkdir(USER_BOX "/proc", 0755);
	CHECK(!mount("proc", USER_BOX "/proc", "proc", 0, NULL));
	ok = ok && asks(&info, user_become, 0, false);
	end_work(worker);
	worker = start_work(gr, user_become);
	CHECK(worker > 0);
	ok = ok && asks(&info, user_become, worker, false);
	end_work(worker);
	CHECK(!umount(USER_BOX "/proc"));
	CHECK(!rmdir(USER_BOX "/proc"));
	close(fd);
	return ok;
}
