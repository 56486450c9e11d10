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
#define FULL		16
#define FULL_BYTES	MIB
#define FULL_BUFS	1024

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
static void gate_reach(struct gate *gate, uint32_t nr)
{
	char byte;

	close(gate->come[1]);
	while (nr--)
		CHECK(read(gate->come[0], &byte, 1) == 1);
}

static void gate_go(struct gate *gate)
{
	close(gate->go[1]);
	close(gate->go[0]);
	close(gate->come[0]);
}

static void gate_open(struct gate *gate, uint32_t nr)
{
	gate_reach(gate, nr);
	gate_go(gate);
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
	CHECK(fb_free_is(fd, before));
	close(fd);
	return true;
}

static uint32_t full_word(uint32_t process, uint32_t buf)
{
	return 0x5eed0000u + process * FULL_BUFS + buf;
}

/* All of what there is, with a word at either end of each buffer, which stay there. */
static bool fill_up(uint32_t process, struct gate gate[2], uint32_t *made)
{
	uint32_t handle[FULL_BUFS], nr, i, *ptr;
	int fd = node_open(), ret;

	CHECK(fd >= 0);
	gate_wait(&gate[0]);
	for (nr = 0;; nr++) {
		CHECK(nr < FULL_BUFS);
		ret = bo_make(fd, FULL_BYTES, FRAMEBUFFER, 0, &handle[nr]);
		if (ret)
			break;
		CHECK_RET(bo_map(fd, handle[nr], FULL_BYTES, (void **)&ptr), 0);
		CHECK(!ptr[0] && !ptr[FULL_BYTES / 4 - 1]);
		ptr[0] = full_word(process, nr);
		ptr[FULL_BYTES / 4 - 1] = ptr[0];
		CHECK(!munmap(ptr, FULL_BYTES));
	}
	CHECK_RET(ret, -ENOSPC);
	*made = nr;
	gate_wait(&gate[1]);
	for (i = 0; i < nr; i++) {
		CHECK_RET(bo_map(fd, handle[i], FULL_BYTES, (void **)&ptr), 0);
		CHECK(ptr[0] == full_word(process, i) && ptr[FULL_BYTES / 4 - 1] == ptr[0]);
		CHECK(!munmap(ptr, FULL_BYTES));
	}
	return true;
}

/*
 * Processes fill the framebuffer, and what the guest's memory takes of it, at the same time: each
 * keeps what it has got, and what they have is what is gone.
 */
static bool many_full(void)
{
	uint32_t *made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			      0);
	uint64_t fb, system, sum = 0, gone;
	struct gate gate[2];
	pid_t pid[FULL];
	unsigned int i;
	int fd = node_open();

	CHECK(fd >= 0 && made != MAP_FAILED);
	fb = fb_free(fd);
	system = system_free(fd);
	gate_make(&gate[0]);
	gate_make(&gate[1]);
	for (i = 0; i < FULL; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			_exit(!fill_up(i, gate, &made[i]));
	}
	gate_open(&gate[0], FULL);
	gate_reach(&gate[1], FULL);
	for (i = 0; i < FULL; i++)
		sum += made[i];
	gone = fb - fb_free(fd) + system - system_free(fd);
	say("full: %llu buffers, %llu bytes of %llu + %llu are gone", (unsigned long long)sum,
	    (unsigned long long)gone, (unsigned long long)fb, (unsigned long long)system);
	CHECK(sum * FULL_BYTES == gone && gone > fb && gone + FULL * FULL_BYTES > fb + system);
	gate_go(&gate[1]);
	CHECK(gather(pid, FULL) == FULL);
	CHECK(fb_free_is(fd, fb) && system_free_is(fd, system));
	close(fd);
	return true;
}

bool test_many_full(void)
{
	bool ok;

	CHECK(module_again("job_timeout_ms=20000 fb_limit_mb=64"));
	ok = many_full();
	return module_again(NULL) && ok;
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
