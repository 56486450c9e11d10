// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory that the host cannot provide: in a pool, here a tmpfs, that somebody else has used
 * up, as it is with a pool of huge pages. The channel is stalled, and no other vGPU notices. If
 * that lasts, the channel faults, but not as its guest's fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "hang.h"
#include "silent.h"
#include "tune.h"

#define COPY_BYTES	65536	/* of silent_copy() */
#define PATTERN		0x900d900du
#define STALL_MS	1000	/* less than the driver waits, */
#define IN_TIME_MS	3000	/* and so is this, from the first try on */
#define TRIES		10
#define BOUND_MS	3000	/* the same, for reset and close */
#define LONG_MS		6000	/* more than the driver waits */

static struct fx_vgpu v, other;
static char dir[] = "/tmp/vgpu-pool-XXXXXX";
static bool mounted;
static int pool_fd[2] = { -1, -1 };
static void *memory;
static uint64_t stalled_ms;	/* the channel of stall() waits since then, or later */

static int pool_file(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

/* The guest has a file of the pool for its memory, without a page so far. */
static void pool_make(void)
{
	char options[64];

	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	CHECK(mkdtemp(dir), "%s", strerror(errno));
	snprintf(options, sizeof(options), "size=%llu", (unsigned long long)SILENT_BYTES);
	CHECK(!mount("vgpu-test", dir, "tmpfs", MS_NOSUID | MS_NODEV, options),
	      "%s", strerror(errno));
	mounted = true;
	pool_fd[0] = pool_file("guest");
	pool_fd[1] = pool_file("neighbour");
	CHECK(!ftruncate(pool_fd[0], SILENT_BYTES), "%s", strerror(errno));
	memory = mmap(NULL, SILENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, pool_fd[0], 0);
	CHECK(memory != MAP_FAILED, "%s", strerror(errno));
}

/* The neighbour takes what there is, and gives it back. */
static void pool_empty(void)
{
	static const uint8_t page[4096];
	off_t at = 0;

	while (pwrite(pool_fd[1], page, sizeof(page), at) == sizeof(page))
		at += sizeof(page);
	CHECK_EQ(errno, ENOSPC);
}

static void pool_refill(void)
{
	CHECK(!ftruncate(pool_fd[1], 0), "%s", strerror(errno));
}

static void cleanup(void)
{
	int i;

	tune_cleanup();
	if (memory && memory != MAP_FAILED)
		munmap(memory, SILENT_BYTES);
	memory = NULL;
	for (i = 0; i < 2; i++) {
		if (pool_fd[i] >= 0)
			close(pool_fd[i]);
		pool_fd[i] = -1;
	}
	if (mounted && umount2(dir, MNT_DETACH))
		ktap_note("umount %s: %s", dir, strerror(errno));
	if (mounted)
		rmdir(dir);
	mounted = false;
}

/* A channel that waits for the pool; @op_flags as of silent_copy(). */
static struct vgpu_chan *stall(uint32_t op_flags)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *chan;
	uint32_t i;

	pool_make();
	pool_empty();
	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_dma_map(v.dev, memory, SILENT_BYTES, SILENT_IOVA));
	for (i = 0; i < COPY_BYTES / 4; i++)
		((volatile uint32_t *)(v.dev->fb + FX_MIB))[i] = PATTERN;
	stalled_ms = clk_ms();
	chan = silent_copy(&v, 0, op_flags);
	FX_SOON((fx_instance(&v, &inst), inst.engine[chan->engine].stalls || inst.faults));
	CHECK(!inst.faults || clk_ms() - stalled_ms > IN_TIME_MS, "at once");
	return chan;
}

static void check_stalled(struct vgpu_chan *chan)
{
	CHECK_EQ(vgpu_chan_get(chan), 0);
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_AWAKE);
	CHECK_EQ(fx_faults(&v), 0);
}

static void check_neighbour(void)
{
	struct vgpu_chan *chan;
	uint32_t i;

	chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	for (i = 1; i <= 50; i++) {
		FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), i, 65536));
		fx_finish(chan);
		CHECK_EQ(*(uint32_t *)(other.dev->fb + FX_MIB), i);
	}
	vgpu_chan_destroy(chan);
	CHECK_EQ(fx_faults(&other), 0);
}

/* Less time has passed than the driver waits; else this machine was too slow for the test. */
static bool is_in_time(void)
{
	uint64_t took = clk_ms() - stalled_ms;

	if (took > IN_TIME_MS)
		ktap_note("a busy machine: %llu ms", (unsigned long long)took);
	return took <= IN_TIME_MS;
}

/*
 * The neighbour works while the channel waits, which gets its memory in time: false if this machine
 * was too slow for that.
 */
static bool stalls_only(uint32_t way)
{
	uint64_t took, get;
	struct vgpu_chan *chan;
	uint32_t state;

	fx_create_open(&other, fx_default_type());
	chan = stall(way);
	check_neighbour();
	took = clk_ms() - stalled_ms;
	if (took < STALL_MS)
		clk_sleep_ms((unsigned int)(STALL_MS - took));
	get = vgpu_chan_get(chan);
	state = vgpu_chan_state(chan);
	pool_refill();
	if (!is_in_time())
		return false;
	CHECK_EQ(get, 0);
	CHECK_EQ(state, VGPU_HW_STATE_AWAKE);
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	CHECK_EQ(vgpu_chan_get(chan), 1);
	CHECK_EQ(fx_faults(&v), 0);
	if (way == VGPU_HW_OP_DST_SYS)
		fx_check_words(memory, COPY_BYTES, PATTERN);
	else
		CHECK(fx_is_zero(v.dev->fb + FX_MIB, COPY_BYTES), "not what was read");
	return true;
}

/* Neither a read of such memory nor a write to it fails if the pool has room again soon. */
static void shortage_stalls_only(void)
{
	unsigned int tries;
	uint32_t way;
	bool done;

	for (way = VGPU_HW_OP_DST_SYS; way <= VGPU_HW_OP_SRC_SYS; way <<= 1) {
		for (tries = 0, done = false; !done; tries++) {
			CHECK(tries < TRIES, "the neighbour's work takes too long");
			done = stalls_only(way);
			cleanup();
		}
	}
}

static void want_of_guest_memory_is_no_strike(void)
{
	struct vgpu_ctl_sched sched = {
		.quarantine_faults = 1,
		.quarantine_backoff_ms = 600000,
	};
	struct vgpu_ctl_instance inst;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;

	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	chan = stall(VGPU_HW_OP_DST_SYS);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_MEMORY, "%s", vgpu_fault_name(fault.code));
	CHECK_EQ(fault.pos, 0);
	CHECK_EQ(fault.addr, SILENT_IOVA);
	FX_SOON(fx_faults(&v) == 1);
	/* The vGPU is not in quarantine: it works on, also in that memory. */
	pool_refill();
	fx_finish(silent_copy(&v, 0, VGPU_HW_OP_DST_SYS));
	fx_check_words(memory, COPY_BYTES, PATTERN);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 0);
	CHECK_EQ(inst.faults, 1);
	/* An address where there is no memory is told at once, and is no strike, either. */
	FX_OK(v.dev, vgpu_dma_unmap(v.dev, SILENT_BYTES, SILENT_IOVA));
	chan = silent_copy(&v, 0, VGPU_HW_OP_DST_SYS);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_DMA, "%s", vgpu_fault_name(fault.code));
	FX_SOON(fx_faults(&v) == 2);
	fx_again(chan);
	fx_finish(chan);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 0);
	hang_once(chan);
	FX_SOON((fx_instance(&v, &inst), inst.quarantines == 1));
	fx_release(&v);
}

static bool waits_for_bus_mastering(void)
{
	struct vgpu_chan *chan = stall(VGPU_HW_OP_DST_SYS);

	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, 4));
	if (!is_in_time())
		return false;
	clk_sleep_ms(LONG_MS);
	check_stalled(chan);
	pool_refill();
	clk_sleep_ms(STALL_MS);
	check_stalled(chan);
	CHECK(fx_is_zero(memory, COPY_BYTES), "written by a function that is no bus master");
	FX_OK(v.dev, vgpu_dev_command(v.dev, 4, 0));
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	CHECK_EQ(fx_faults(&v), 0);
	fx_check_words(memory, COPY_BYTES, PATTERN);
	return true;
}

/* Between two tries the driver may not go on, and does not give up, without bus mastering. */
static void no_try_without_bus_mastering(void)
{
	fx_try_again(waits_for_bus_mastering, cleanup, "the machine is too slow");
}

static void give_room(void *unused)
{
	(void)unused;
	pool_refill();
}

static bool reset_in_time(void)
{
	struct vgpu_chan *chan = stall(VGPU_HW_OP_SRC_SYS);

	if (!silent_within("reset", silent_reset, &v, BOUND_MS, give_room, NULL) || !is_in_time())
		return false;
	CHECK_EQ(fx_faults(&v), 0);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	FX_OK(v.dev, vgpu_chan_enable(chan));
	fx_finish(chan);
	return true;
}

/* One that waits until the driver gives up is too late each time. */
static void reset_ends_the_wait(void)
{
	fx_try_again(reset_in_time, cleanup, "the reset waits until the driver gives up");
}

static bool close_in_time(void)
{
	stall(VGPU_HW_OP_DST_SYS);
	silent_drop_mappings(&v);
	if (!silent_within("close", silent_close, &v, BOUND_MS, give_room, NULL) || !is_in_time())
		return false;
	fx_close(&v);
	fx_open(&v);
	fx_finish(fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4));
	return true;
}

static void close_ends_the_wait(void)
{
	fx_try_again(close_in_time, cleanup, "the close waits until the driver gives up");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(shortage_stalls_only),
	KTAP_TEST(want_of_guest_memory_is_no_strike),
	KTAP_TEST(no_try_without_bus_mastering),
	KTAP_TEST(reset_ends_the_wait),
	KTAP_TEST(close_ends_the_wait),
};

KTAP_MAIN(tests, cleanup)
