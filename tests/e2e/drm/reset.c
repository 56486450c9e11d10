// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a device that was reset behind the driver's back, that is in quarantine, and whose words
 * are lies. Root's mappings of its BARs do what the host could.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"
#include "rng.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define CE		1
#define WORKERS		3

/* What is lost is said to be lost within that time: less than the time limit of a job (PATIENT). */
#define PROMPT_MS	30000

volatile uint32_t *bar_map(int bar, size_t bytes)
{
	char path[64];
	void *ptr;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/drm/renderD128/device/resource%d", bar);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ptr != MAP_FAILED);
	close(fd);
	return ptr;
}

volatile uint32_t *regs_map(void)
{
	return bar_map(VGPU_HW_BAR_REGS, VGPU_HW_REGS_SIZE);
}

static void reset_write(volatile uint32_t *regs)
{
	regs[(VGPU_HW_DEV_BASE + VGPU_HW_RESET) / 4] = VGPU_HW_RESET_MAGIC;
}

bool function_reset(void)
{
	int fd = open("/sys/class/drm/renderD128/device/reset", O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, "1", 1) == 1;

	if (!ok)
		failed("reset of the function: %s", strerror(errno));
	close(fd);
	return ok;
}

static void is_lost(int fd, uint32_t queue, uint32_t state)
{
	struct vgpu_hw_packet packet = { .type = VGPU_HW_PKT_NOP };
	struct drm_vgpu_queue_query query;
	int ms;

	/* Queues are stopped one after another: the jobs of one are over before the next is. */
	for (ms = 0; ms < PROMPT_MS; ms += 10) {
		CHECK_RET(queue_ask(fd, queue, &query), 0);
		if (query.state)
			break;
		usleep(10000);
	}
	CHECK_RET((int)query.state, (int)state);
	CHECK_RET(exec(fd, queue, &packet, 1, 0, 0), -EIO);
}

/* A new queue works in an address space that was made before, and its mapping is there. */
static void works_in(int fd, uint32_t vm, struct buf *buf, uint32_t value)
{
	struct vgpu_hw_packet packet = packet_fill(VA_DATA, PAGE, value);
	uint32_t queue;

	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	CHECK(*(volatile uint32_t *)buf->ptr == value);
	CHECK_RET(queue_end(fd, queue), 0);
}

/* One queue works for ever, one has a channel and nothing to do, one never had any. */
static bool lose_all(bool (*lose)(void))
{
	struct vgpu_hw_packet packet = packet_fill(VA_DATA, PAGE, 42);
	uint32_t vm, busy, idle, unused, busy_sync, sync;
	struct buf buf;
	int at_work, fd;

	CHECK(module_again(PATIENT));
	at_work = begin_for_ever(&busy, &busy_sync);
	fd = node_open();
	CHECK(at_work >= 0 && fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &idle), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &unused), 0);
	CHECK_RET(buf_make(fd, PAGE, FRAMEBUFFER, &buf), 0);
	CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(exec_wait(fd, idle, &packet, 1), 0);
	CHECK_RET(sync_make(fd, &sync), 0);
	CHECK(lose());
	CHECK_RET(sync_wait(at_work, busy_sync, PROMPT_MS), 0);
	CHECK_RET(sync_error(at_work, busy_sync), -EIO);
	is_lost(at_work, busy, DRM_VGPU_QUEUE_DEVICE);
	is_lost(fd, idle, DRM_VGPU_QUEUE_DEVICE);
	is_lost(fd, unused, DRM_VGPU_QUEUE_DEVICE);
	CHECK(*(volatile uint32_t *)buf.ptr == 0);
	works_in(fd, vm, &buf, 43);
	close(at_work);
	CHECK(others_work());

	/* While nothing works, the next job finds it out. */
	CHECK_RET(queue_make(fd, vm, CE, 4, &idle), 0);
	CHECK_RET(exec_wait(fd, idle, &packet, 1), 0);
	CHECK(lose());
	if (!exec(fd, idle, &packet, 1, 0, sync)) {
		CHECK_RET(sync_wait(fd, sync, PROMPT_MS), 0);
		CHECK_RET(sync_error(fd, sync), -EIO);
	}
	is_lost(fd, idle, DRM_VGPU_QUEUE_DEVICE);
	works_in(fd, vm, &buf, 44);

	/* Likewise a job that needs a channel first. */
	CHECK(lose());
	CHECK_RET(queue_make(fd, vm, GR, 4, &unused), 0);
	if (exec_wait(fd, unused, &packet, 1)) {
		is_lost(fd, unused, DRM_VGPU_QUEUE_DEVICE);
		works_in(fd, vm, &buf, 45);
	}
	close(fd);
	return others_work() && module_again(NULL);
}

static bool lose_by_register(void)
{
	static volatile uint32_t *regs;

	if (!regs)
		regs = regs_map();
	reset_write(regs);
	return true;
}

bool test_reset(void)
{
	return lose_all(lose_by_register);
}

bool test_reset_function(void)
{
	return lose_all(function_reset);
}

/**
 * struct crowd - threads that work while something goes on
 * @thread: the threads
 * @stop:   they shall end
 */
struct crowd {
	pthread_t thread[WORKERS];
	bool stop;
};

static void crowd_begin(struct crowd *crowd)
{
	unsigned int i;

	crowd->stop = false;
	for (i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&crowd->thread[i], NULL, work_on, &crowd->stop));
}

static void crowd_end(struct crowd *crowd)
{
	unsigned int i;

	__atomic_store_n(&crowd->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < WORKERS; i++)
		CHECK(!pthread_join(crowd->thread[i], NULL));
}

bool test_reset_at_work(void)
{
	struct rng rng = rng_seed(test_seed());
	volatile uint32_t *regs = regs_map();
	struct crowd crowd;
	uint64_t i;

	crowd_begin(&crowd);
	for (i = 0; i < test_amount(30); i++) {
		usleep(1000 * rng_below(&rng, 200));
		reset_write(regs);
	}
	crowd_end(&crowd);
	/* What noticed the last one was lost with it. */
	function_reset();
	return others_work();
}

/* A write to a register that anybody who can reset the device could have made. */
static void scribble_register(struct rng *rng, volatile uint32_t *regs, uint32_t channels)
{
	uint32_t chan = VGPU_HW_CHAN_BASE + rng_below(rng, channels) * VGPU_HW_CHAN_STRIDE;
	uint32_t dev = VGPU_HW_DEV_BASE;

	switch (rng_below(rng, 6)) {
	case 0:
		regs[(chan + VGPU_HW_CHAN_CTRL) / 4] = 0;
		break;
	case 1:
		regs[(chan + VGPU_HW_CHAN_DOORBELL) / 4] = 1;
		break;
	case 2:
		regs[(dev + VGPU_HW_INTR) / 4] = VGPU_HW_INTR_CAUSES;
		break;
	case 3:
		regs[(dev + VGPU_HW_INVALIDATE) / 4] = 0;
		break;
	case 4:
		regs[(dev + VGPU_HW_GUEST_INFO(rng_below(rng, 32))) / 4] = rng_next(rng);
		break;
	case 5:
		if (!rng_below(rng, 20))
			reset_write(regs);
		break;
	}
}

/* Numbers that are anything, or near those that are right. */
static uint32_t scribble_value(struct rng *rng)
{
	return rng_below(rng, 2) ? rng_below(rng, 8) : rng_next(rng);
}

/*
 * Channel pages and registers say anything, while queues work. Users may lose their queues, and get
 * no worse than that; the kernel's log is looked at after each test.
 */
bool test_scribble(void)
{
	uint64_t end = clk_ns() + test_amount(15) * 1000000000ull, nr = 0;
	struct rng rng = rng_seed(test_seed());
	volatile uint32_t *regs = regs_map(), *pages;
	struct drm_vgpu_dev_info info;
	struct crowd crowd;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	close(fd);
	pages = bar_map(VGPU_HW_BAR_CHANNELS, info.channels * PAGE);
	crowd_begin(&crowd);
	while (clk_ns() < end) {
		/* The fields are in the first 192 bytes, the label behind them. */
		pages[(rng_below(&rng, info.channels) * PAGE +
		       rng_below(&rng, rng_below(&rng, 4) ? 0xc0 : PAGE)) / 4] =
			scribble_value(&rng);
		if (!rng_below(&rng, 50))
			scribble_register(&rng, regs, info.channels);
		if (!rng_below(&rng, 20))
			usleep(rng_below(&rng, 5000));
		nr++;
	}
	crowd_end(&crowd);
	say("scribble: %llu times", (unsigned long long)nr);
	CHECK(function_reset());
	return others_work();
}

/* The host makes an engine hang once, for which the vGPU goes into quarantine, and lifts that. */
bool test_quarantine(void)
{
	const struct vgpu_hw_packet packet = { .type = VGPU_HW_PKT_NOP };
	uint32_t vm, busy, hung, late, busy_sync;
	struct drm_vgpu_queue_query query;
	int tell = tell_open(), at_work, fd;

	CHECK(tell >= 0 && module_again(PATIENT));
	fd = node_open();
	CHECK(fd >= 0);
	at_work = begin_for_ever(&busy, &busy_sync);
	CHECK(at_work >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &hung), 0);
	say("ready to hang");
	CHECK(tell_wait(tell, 2 * WAIT_MS / 1000));
	CHECK_RET(exec_wait(fd, hung, &packet, 1), -EIO);
	is_lost(fd, hung, DRM_VGPU_QUEUE_FAULT);
	CHECK_RET(queue_ask(fd, hung, &query), 0);
	CHECK_RET((int)query.fault_code, VGPU_HW_FAULT_RESET);
	CHECK_RET(sync_wait(at_work, busy_sync, PROMPT_MS), 0);
	CHECK_RET(sync_error(at_work, busy_sync), -EIO);
	is_lost(at_work, busy, DRM_VGPU_QUEUE_QUARANTINE);
	CHECK_RET(queue_make(fd, vm, CE, 4, &late), 0);
	CHECK_RET(exec_wait(fd, late, &packet, 1), -EIO);
	is_lost(fd, late, DRM_VGPU_QUEUE_QUARANTINE);
	say("in quarantine");
	CHECK(tell_wait(tell, 2 * WAIT_MS / 1000));
	close(at_work);
	close(fd);
	return others_work() && module_again(NULL);
}
