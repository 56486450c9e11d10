// SPDX-License-Identifier: GPL-2.0
/* Tests of many processes at once, that want more than there is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define PROCESSES	64
#define JOBS		12
#define WORDS		1024u
#define CE		1

/* A word of a process: no two are the same. */
static uint32_t word_of(uint32_t process, uint32_t job)
{
	return 0x5eed0000u ^ process << 8 ^ job;
}

/**
 * struct gate - where processes wait for each other, without a look at the clock
 * @come: who is there writes a byte
 * @go:   nobody writes; its end says that all are there
 */
struct gate {
	int come[2];
	int go[2];
};

static void gate_make(struct gate *gate)
{
	CHECK(!pipe(gate->come) && !pipe(gate->go));
}

static void gate_wait(struct gate *gate)
{
	char byte = 0;

	close(gate->go[1]);
	CHECK(write(gate->come[1], &byte, 1) == 1);
	CHECK(!read(gate->go[0], &byte, 1));
}

/* A process that ends before it is there ends the test: all have the pipe, so nobody else does. */
static void gate_open(struct gate *gate, uint32_t nr)
{
	char byte;

	close(gate->come[1]);
	while (nr--)
		CHECK(read(gate->come[0], &byte, 1) == 1);
	close(gate->go[1]);
	close(gate->go[0]);
	close(gate->come[0]);
}

/* How many of these processes end well. */
static unsigned int gather(const pid_t *pid, unsigned int nr)
{
	unsigned int well = 0, i;
	int status;

	for (i = 0; i < nr; i++) {
		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			well++;
	}
	return well;
}

/* All of its jobs are in the queue before it looks at the first one. */
static bool work(uint32_t process, struct gate *gate)
{
	const uint64_t bytes = WORDS * 4;
	uint32_t vm, queue, sync, i, j;
	struct vgpu_hw_packet packet[2];
	int fd = node_open();
	struct buf buf;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, process % 3, 4, &queue), 0);
	CHECK_RET(buf_make(fd, 2 * JOBS * bytes, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, buf.bytes, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(sync_make(fd, &sync), 0);
	gate_wait(gate);
	for (i = 0; i < JOBS; i++) {
		packet[0] = packet_fill(VA_DATA + i * bytes, bytes, word_of(process, i));
		packet[1] = packet_copy(VA_DATA + (JOBS + i) * bytes, VA_DATA + i * bytes, bytes);
		packet[1].flags = VGPU_HW_PKT_BARRIER;
		CHECK_RET(exec(fd, queue, packet, 2, 0, sync), 0);
	}
	CHECK_RET(sync_wait(fd, sync, WAIT_MS), 0);
	CHECK_RET(sync_error(fd, sync), 0);
	for (i = 0; i < 2 * JOBS; i++)
		for (j = 0; j < WORDS; j++)
			CHECK(((volatile uint32_t *)buf.ptr)[i * WORDS + j] ==
			      word_of(process, i % JOBS));
	return true;
}

/* Many more processes than channels, all with work at the same time: each has all of it done. */
bool test_many(void)
{
	struct drm_vgpu_dev_info info;
	struct gate gate;
	pid_t pid[PROCESSES];
	int fd = node_open();
	uint64_t before;
	uint32_t i;

	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	CHECK(info.channels <= PROCESSES / 4);
	before = fb_free(fd);
	gate_make(&gate);
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			_exit(!work(i, &gate));
	}
	gate_open(&gate, PROCESSES);
	CHECK(gather(pid, PROCESSES) == PROCESSES);
	CHECK(fb_free(fd) == before);
	close(fd);
	return true;
}

/**
 * struct faults - of a process that faults on purpose
 * @nr:  so far
 * @end: it is to stop
 */
struct faults {
	uint32_t nr;
	uint32_t end;
};

static bool fault_on(struct faults *faults)
{
	struct vgpu_hw_packet packet = packet_fill(VA_MORE, PAGE, 1);
	uint32_t vm, queue;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	while (!__atomic_load_n(&faults->end, __ATOMIC_RELAXED)) {
		CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
		CHECK_RET(exec_wait(fd, queue, &packet, 1), -EIO);
		CHECK_RET(queue_end(fd, queue), 0);
		__atomic_add_fetch(&faults->nr, 1, __ATOMIC_RELAXED);
	}
	return true;
}

/*
 * A process that faults again and again costs itself its queues, and nobody else: the queue that
 * another one has had all the time works on. A host may be told to stop a vGPU after 16 strikes.
 */
bool test_faults_apart(void)
{
	struct faults *faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct vgpu_hw_packet packet;
	uint32_t vm, queue, jobs = 0;
	int fd = node_open();
	struct buf buf;
	pid_t pid;

	CHECK(fd >= 0 && faults != MAP_FAILED);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		_exit(!fault_on(faults));
	while (__atomic_load_n(&faults->nr, __ATOMIC_RELAXED) < 40 || jobs < 40) {
		packet = packet_fill(VA_DATA, PAGE, ++jobs);
		CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
		CHECK(*(volatile uint32_t *)buf.ptr == jobs);
	}
	say("faults_apart: %u jobs beside %u faults", jobs, faults->nr);
	__atomic_store_n(&faults->end, 1, __ATOMIC_RELAXED);
	CHECK(gather(&pid, 1) == 1);
	close(fd);
	return true;
}
