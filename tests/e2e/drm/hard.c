// SPDX-License-Identifier: GPL-2.0
/* Tests of what a hostile user does on purpose: with fences and threads. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <drm/drm.h>
#include <linux/sync_file.h>

#include "clk.h"
#include "node.h"
#include "rv.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define CE		1

int sync_file(int fd, uint32_t sync)
{
	struct drm_syncobj_handle args = {
		.handle = sync,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	int ret = node_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);

	return ret ? ret : args.fd;
}

/* Whether the file's fence has a name, and ends with that status, or by its queue or VM. */
static bool fence_is(int file, int status)
{
	struct sync_fence_info fence = {};
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&fence };
	struct pollfd end = { .fd = file, .events = POLLIN };

	CHECK(poll(&end, 1, WAIT_MS) == 1);
	CHECK_RET(node_ioctl(file, SYNC_IOC_FILE_INFO, &info), 0);
	CHECK(info.num_fences == 1 && fence.obj_name[0] && fence.driver_name[0]);
	if (fence.status != -ECANCELED && fence.status != -ESRCH)
		CHECK_RET(fence.status, status);
	return true;
}

/*
 * Fences that outlive their queue, their VM and their file: of a job that is done, of one that was
 * ended in the ring, of one behind it, of a bind that is done, of one that never was.
 */
static bool outlive(int *file)
{
	static const uint32_t for_ever[] = { RV_J(0) };
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, 0, 1, 1);
	uint32_t vm, queue, sync[5];
	int fd = node_open(), i;
	struct buf text;

	CHECK(fd >= 0);
	for (i = 0; i < 5; i++)
		CHECK_RET(sync_make(fd, &sync[i]), 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(program_load(fd, vm, for_ever, 1, VA_MORE, &text), 0);
	CHECK_RET(exec(fd, queue, NULL, 0, 0, sync[0]), 0);
	CHECK_RET(sync_wait(fd, sync[0], WAIT_MS), 0);
	CHECK_RET(bind_later(fd, vm, 0, sync[3]), 0);
	CHECK_RET(sync_wait(fd, sync[3], WAIT_MS), 0);
	CHECK_RET(exec(fd, queue, &packet, 1, 0, sync[1]), 0);
	CHECK_RET(bind_later(fd, vm, sync[1], sync[4]), 0);
	for (i = 0; i < 20; i++)
		CHECK_RET(exec(fd, queue, &packet, 1, 0, sync[2]), 0);
	for (i = 0; i < 5; i++) {
		file[i] = sync_file(fd, sync[i]);
		CHECK(file[i] >= 0);
	}
	buf_end(fd, &text);
	close(fd);
	return true;
}

bool test_fence_outlives(void)
{
	/* The last bind may be done when the job that it waits for has ended. */
	static const int status[] = { 1, -ECANCELED, -ECANCELED, 1, 1 };
	int file[5], i;

	CHECK(outlive(file));
	/* All that they came from is freed in that time. */
	usleep(500000);
	for (i = 0; i < 5; i++)
		CHECK(fence_is(file[i], status[i]));
	/* They keep the module, not the device. */
	CHECK_RET(module_unload(), -EAGAIN);
	for (i = 0; i < 5; i++)
		close(file[i]);
	return module_again(NULL);
}

/**
 * struct crossing - two threads that map, and work, in one VM
 * @fd:     the file
 * @vm:     the VM
 * @queue:  in which jobs are pushed
 * @handle: of the buffer
 * @end_ns: when to stop
 * @wrong:  what a call has returned that it must not
 */
struct crossing {
	int fd;
	uint32_t vm;
	uint32_t queue;
	uint32_t handle;
	uint64_t end_ns;
	int wrong;
};

static void *push_jobs(void *arg)
{
	struct crossing *c = arg;
	int ret = 0;

	while (!ret && clk_ns() < c->end_ns)
		ret = exec(c->fd, c->queue, NULL, 0, 0, 0);
	if (ret)
		c->wrong = ret;
	return NULL;
}

static void *map_and_unmap(void *arg)
{
	struct crossing *c = arg;
	int ret = 0;

	while (!ret && clk_ns() < c->end_ns) {
		ret = bind_map(c->fd, c->vm, c->handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE);
		if (!ret)
			ret = bind_unmap(c->fd, c->vm, VA_DATA, PAGE);
	}
	if (ret)
		c->wrong = ret;
	return NULL;
}

/* Each buffer of a VM comes and goes while jobs lock all of them. */
bool test_exec_unmap(void)
{
	struct crossing c[2] = {};
	pthread_t thread[4];
	uint32_t handle;
	int fd = node_open(), i;

	CHECK(fd >= 0);
	CHECK_RET(bo_make(fd, PAGE, FRAMEBUFFER, 0, &handle), 0);
	for (i = 0; i < 2; i++) {
		c[i] = (struct crossing){
			.fd = fd,
			.handle = handle,
			.end_ns = clk_ns() + test_amount(3) * 1000000000ull,
		};
		CHECK_RET(vm_make(fd, &c[i].vm), 0);
		CHECK_RET(queue_make(fd, c[i].vm, CE, 8, &c[i].queue), 0);
		CHECK(!pthread_create(&thread[2 * i], NULL, push_jobs, &c[i]));
		CHECK(!pthread_create(&thread[2 * i + 1], NULL, map_and_unmap, &c[i]));
	}
	for (i = 0; i < 4; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK_RET(c[0].wrong, 0);
	CHECK_RET(c[1].wrong, 0);
	close(fd);
	return true;
}
