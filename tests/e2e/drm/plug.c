// SPDX-License-Identifier: GPL-2.0
/* Tests of what ends in the middle: the function, time limits, memory. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"
#include "rng.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define CE		1
#define WORKERS		4

void *work_on(void *arg)
{
	struct vgpu_hw_packet packet = packet_fill(VA_DATA, PAGE, 1);
	const bool *stop = arg;
	uint32_t vm, queue, handle, sync, i;
	int fd;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		fd = node_open();
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		vm_make(fd, &vm);
		sync_make(fd, &sync);
		queue_make(fd, vm, CE, 4, &queue);
		bo_make(fd, PAGE, FRAMEBUFFER, 0, &handle);
		bind_map(fd, vm, handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE);
		for (i = 0; i < 20; i++) {
			exec(fd, queue, &packet, 1, i ? sync : 0, sync);
			bind_later(fd, vm, sync, sync);
		}
		/* Half of them leave at once, with all that under way. */
		if (vm % 2)
			sync_wait(fd, sync, WAIT_MS);
		close(fd);
	}
	return NULL;
}

/* The function goes and comes. */
static bool plug_again(const char *remove)
{
	int fd = -1, i;

	CHECK(text_write(remove, "1"));
	CHECK(text_write("/sys/bus/pci/rescan", "1"));
	for (i = 0; i < NODE_TRIES && fd < 0; i++) {
		fd = node_open();
		if (fd < 0)
			usleep(20000);
	}
	CHECK(fd >= 0);
	close(fd);
	return true;
}

/* The function is unplugged while all work, and comes back. */
bool test_remove(void)
{
	char path[4096], link[4096];
	pthread_t thread[WORKERS];
	struct rng rng = rng_seed(test_seed());
	bool stop = false;
	unsigned int i;
	ssize_t n;

	n = readlink("/sys/class/drm/renderD128/device", link, sizeof(link) - 1);
	CHECK(n > 0);
	link[n] = 0;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", strrchr(link, '/') + 1);
	for (i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, work_on, &stop));
	for (i = 0; i < test_amount(2); i++) {
		usleep(1000 * rng_below(&rng, 500));
		plug_again(path);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < WORKERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	return module_again(NULL) && test_dispatch();
}

/* The host takes the vGPU away while programs work: a program is told so, and can only end. */
bool test_taken_away(void)
{
	struct vgpu_hw_packet packet;
	uint32_t vm, queue, jobs = 0, i;
	pthread_t thread[WORKERS];
	int fd = node_open(), tell = tell_open(), ret = 0;
	bool stop = false;
	struct buf buf;

	CHECK(fd >= 0 && tell >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	for (i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, work_on, &stop));
	say("working");
	while (!ret) {
		packet = packet_fill(VA_DATA, PAGE, ++jobs);
		ret = exec_wait(fd, queue, &packet, 1);
	}
	CHECK_RET(ret, -ENODEV);
	CHECK_RET(exec(fd, queue, &packet, 1, 0, 0), -ENODEV);
	CHECK_RET(vm_make(fd, &vm), -ENODEV);
	CHECK(raises_sigbus(buf.ptr));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < WORKERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK(node_is(false));
	CHECK(!munmap(buf.ptr, PAGE) && !close(fd));
	/* What the file has had is freed soon. */
	for (i = 0, ret = -EAGAIN; i < NODE_TRIES && ret == -EAGAIN; i++) {
		usleep(20000);
		ret = module_unload();
	}
	CHECK_RET(ret, 0);
	say("taken away after %u jobs", jobs);
	return tell_wait(tell, 2 * WAIT_MS / 1000);
}

/* Jobs that end about when their time is over are done, or lost; those behind them likewise. */
bool test_time_is_over(void)
{
	uint32_t vm, queue, handle, sync[4], done = 0, lost = 0, i, j;
	struct rng rng = rng_seed(test_seed());
	struct vgpu_hw_packet packet;
	int fd, ret = 0;

	CHECK(module_again("job_timeout_ms=20"));
	fd = node_open();
	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(bo_make(fd, 256 * MIB, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, 256 * MIB, DRM_VGPU_BIND_WRITE), 0);
	for (j = 0; j < 4; j++)
		CHECK_RET(sync_make(fd, &sync[j]), 0);
	for (i = 0; i < test_amount(15); i++) {
		CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
		for (j = 0; j < 4; j++) {
			packet = packet_fill(VA_DATA, PAGE * (1 + rng_below(&rng, 65536)), i);
			ret = exec(fd, queue, &packet, 1, 0, sync[j]);
			CHECK(!ret || ret == -EIO);
			if (ret)
				break;
		}
		while (j--) {
			CHECK_RET(sync_wait(fd, sync[j], WAIT_MS), 0);
			ret = sync_error(fd, sync[j]);
			CHECK(!ret || ret == -EIO);
			if (ret)
				lost++;
			else
				done++;
		}
		CHECK_RET(queue_end(fd, queue), 0);
	}
	close(fd);
	say("time_is_over: %u done, %u lost", done, lost);
	return module_again(NULL) && test_dispatch();
}
