// SPDX-License-Identifier: GPL-2.0
/*
 * Framebuffer is charged to the memory cgroup of the process that opened the device. At the
 * cgroup's limit a channel is stalled, and faults after some seconds, and a touch by the
 * process is a SIGBUS; no process is killed, and no other vGPU notices.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bus.h"
#include "child.h"
#include "group.h"
#include "hang.h"
#include "silent.h"
#include "tune.h"

#define START	FX_MIB
#define BOUND_MS 3000	/* less than the driver waits for memory */
#define TOUCHES	128u	/* beyond the limit; the kernel tries to reclaim memory for each */

static struct fx_vgpu v, other;

/* Page faults of the VM that found no memory. */
static uint64_t map_failures(const struct fx_vgpu *vgpu)
{
	char path[128];
	uint64_t nr;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/vgpu/map_failures", vgpu->uuid);
	CHECK(!file_number(path, NULL, &nr), "%s", path);
	return nr;
}

static void cleanup(void)
{
	group_leave();
	tune_cleanup();
	group_cleanup();
}

/* A FILL that the cgroup cannot pay for faults its channel, and no other. */
static void fill_faults_its_channel_alone(void)
{
	struct vgpu_chan *chan, *neighbour;
	struct vgpu_fault fault;
	uint64_t fence, i;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	group_make(GROUP_B, 4 * GROUP_LIMIT);
	fx_create(&v, "1Q");
	fx_create(&other, "1Q");
	group_open(&v, GROUP_A);
	group_open(&other, GROUP_B);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	neighbour = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);

	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0xa5a5a5a5, 4 * GROUP_LIMIT));
	for (i = 0; i < 50; i++) {
		FX_OK(other.dev, vgpu_chan_fill(neighbour, VGPU_FB(START + i * 65536), (uint32_t)i +
						1, 65536));
		fx_finish(neighbour);
	}
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_MEMORY);
	CHECK_EQ(fault.pos, 0);
	CHECK(fault.addr >= START + GROUP_LIMIT - GROUP_OTHER && fault.addr < START + GROUP_LIMIT,
	      "%#llx", (unsigned long long)fault.addr);
	group_check_alive(GROUP_A);
	CHECK_EQ(group_value(GROUP_A, "memory.events", "oom "), 0);
	CHECK(group_value(GROUP_A, "memory.current", NULL) <= GROUP_LIMIT, "");
	CHECK(fx_backed_bytes(&v) <= GROUP_LIMIT, "%llu", (unsigned long long)fx_backed_bytes(&v));
	for (i = 0; i < 50; i++)
		CHECK_EQ(*(uint32_t *)(other.dev->fb + START + i * 65536 + 65532), i + 1);
	FX_OK(other.dev, vgpu_chan_fence(neighbour, &fence));
	CHECK(fx_wait_fence(neighbour, fence, FX_TIMEOUT_MS), "neighbour");

	/* The vGPU keeps the memory that it has, and goes on with that. */
	CHECK_EQ(*(uint32_t *)(v.dev->fb + START), 0xa5a5a5a5);
	fx_again(chan);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 0x5a5a5a5a, FX_MIB));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(v.dev->fb + 2 * FX_MIB - 4), 0x5a5a5a5a);

	fx_close(&v);
	group_wait_below(GROUP_A, GROUP_OTHER);
	CHECK_EQ(fx_backed_bytes(&v), 0);
	group_check_alive(GROUP_B);
}

/*
 * Fills beyond the limit of GROUP_A. Returns when it is reached, which it was not before *@since:
 * the driver waits for memory since then, or later.
 */
static struct vgpu_chan *reach_limit(uint32_t value, uint64_t *since)
{
	struct vgpu_chan *chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	uint64_t now = clk_ms();

	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), value, 2 * GROUP_LIMIT));
	FX_SOON((*since = now, now = clk_ms(), group_value(GROUP_A, "memory.events", "max ")),
		"the limit is not reached");
	return chan;
}

/* Whether less time has passed than the driver waits; else the machine was too slow to tell. */
static bool is_in_time(uint64_t since)
{
	uint64_t took = clk_ms() - since;

	if (took >= BOUND_MS)
		ktap_note("%llu ms: once more", (unsigned long long)took);
	return took < BOUND_MS;
}

static bool stalls_only(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *chan;
	uint64_t fence, get, since;
	uint32_t state;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&v, "1Q");
	group_open(&v, GROUP_A);
	chan = reach_limit(0x5eed5eed, &since);
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	FX_SOON((fx_instance(&v, &inst), inst.engine[chan->engine].stalls || inst.faults));
	/* Some of the 4 s for which the driver waits: the machine may take seconds, too. */
	clk_sleep_ms(500);
	fx_instance(&v, &inst);
	get = vgpu_chan_get(chan);
	state = vgpu_chan_state(chan);
	CHECK(!group_write(GROUP_A, "memory.max", "max"), "memory.max");
	if (!is_in_time(since))
		return false;
	CHECK_EQ(get, 0, "filled beyond the limit");
	CHECK_EQ(state, VGPU_HW_STATE_AWAKE);
	CHECK(inst.fb_backed_bytes <= GROUP_LIMIT, "%llu", inst.fb_backed_bytes);
	CHECK(fx_wait_fence(chan, fence, FX_TIMEOUT_MS), "does not go on");
	CHECK_EQ(*(uint32_t *)(v.dev->fb + START + 2 * GROUP_LIMIT - 4), 0x5eed5eed);
	CHECK_EQ(fx_faults(&v), 0);
	group_check_alive(GROUP_A);
	return true;
}

/* Memory that is lacking for a while only makes the channel slower. */
static void short_of_memory_stalls_only(void)
{
	fx_try_again(stalls_only, cleanup, "the machine is too slow");
}

static void lift_limit(void *unused)
{
	(void)unused;
	group_write(GROUP_A, "memory.max", "max");
}

static bool reset_in_time(void)
{
	struct vgpu_chan *chan;
	uint64_t since;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&v, "1Q");
	group_open(&v, GROUP_A);
	reach_limit(1, &since);
	if (!silent_within("reset", silent_reset, &v, BOUND_MS, lift_limit, NULL) ||
	    !is_in_time(since))
		return false;
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	CHECK_EQ(fx_backed_bytes(&v), 0);
	CHECK_EQ(fx_faults(&v), 0);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 2, GROUP_LIMIT / 2));
	fx_finish(chan);
	CHECK_EQ(*(uint32_t *)(v.dev->fb + START + GROUP_LIMIT / 2 - 4), 2);
	group_check_alive(GROUP_A);
	return true;
}

/*
 * A reset does not wait until the driver has given up asking for memory. One that does is too late
 * each time, and not only when the machine stands still.
 */
static void reset_ends_the_wait(void)
{
	fx_try_again(reset_in_time, cleanup, "the reset waits until the driver gives up");
}

/* One strike is enough for quarantine here. */
static void want_of_memory_is_no_strike(void)
{
	struct vgpu_ctl_sched sched = {
		.quarantine_faults = 1,
		.quarantine_backoff_ms = 600000,
	};
	struct vgpu_ctl_instance inst;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS | VGPU_SCHED_QUARANTINE_BACKOFF);
	fx_create(&v, "1Q");
	group_open(&v, GROUP_A);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, 2 * GROUP_LIMIT));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_MEMORY);
	FX_SOON(fx_faults(&v) == 1);
	/* The vGPU is not in quarantine: it works on. */
	fx_again(chan);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), 7, FX_MIB));
	fx_finish(chan);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 0);
	CHECK_EQ(inst.faults, 1);
	/* A packet that never ends puts the vGPU into quarantine. */
	hang_once(chan);
	FX_SOON((fx_instance(&v, &inst), inst.quarantines == 1));
	fx_release(&v);
}

/**
 * struct result - what a child process at its limit says, in shared memory
 * @done:   the other fields are valid
 * @failed: the channel did not fault in time
 * @fault:  the channel's
 */
struct result {
	volatile bool done;
	volatile bool failed;
	struct vgpu_fault fault;
};

/* Like a VM's process: it is in the cgroup with all that it has, for all its life. */
static void limited_child(void *arg)
{
	struct result *result = arg;
	struct vgpu_chan *chan;

	/* At its limit the group has no page for what is written for the first time. */
	result->failed = true;
	group_enter(GROUP_A);
	fx_open(&v);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(START), ~0u, 4 * GROUP_LIMIT));
	result->failed = vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &result->fault);
	result->done = true;
	for (;;)
		pause();
}

static void owner_at_its_limit_lives(void)
{
	struct result *result;
	int status;
	pid_t pid;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&v, "1Q");
	result = child_shared(sizeof(*result));
	pid = child_start(limited_child, result);
	FX_SOON(result->done, "no fault came");
	CHECK(!result->failed, "no fault came");
	CHECK_EQ(result->fault.code, VGPU_HW_FAULT_MEMORY);
	group_check_alive(GROUP_A);
	CHECK(waitpid(pid, &status, WNOHANG) == 0, "the owner is dead");
	CHECK(fx_backed_bytes(&v) >= GROUP_LIMIT / 2, "%llu",
	      (unsigned long long)fx_backed_bytes(&v));
	/* When it is killed nothing stays charged. */
	child_kill(pid);
	group_wait_below(GROUP_A, FX_MIB);
	CHECK_EQ(fx_backed_bytes(&v), 0);
	fx_open(&v);
	CHECK(fx_is_zero(v.dev->fb + START, FX_MIB), "what was before");
}

static void touch_beyond_the_limit_is_sigbus(void)
{
	uint64_t at, fault_at;
	unsigned int seen = 0;
	struct vgpu_chan *chan;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	group_make(GROUP_B, GROUP_LIMIT);
	fx_create(&v, "1Q");
	fx_create(&other, "1Q");
	group_open(&v, GROUP_A);
	group_open(&other, GROUP_B);
	CHECK_EQ(map_failures(&v), 0);
	bus_catch();
	for (at = START; at < START + 4 * GROUP_LIMIT; at += 4096)
		if (!bus_write(v.dev->fb + at, (uint8_t)(at >> 12)))
			break;
	fault_at = at;
	/* Again and again. A few succeed, as the kernel reclaims other pages of the group. */
	for (at = fault_at; at < fault_at + TOUCHES * 4096; at += 4096)
		seen += !bus_write(v.dev->fb + at, 1);
	bus_release();
	ktap_note("SIGBUS after %llu KiB", (unsigned long long)(fault_at - START) >> 10);
	CHECK(fault_at >= START + GROUP_LIMIT - GROUP_OTHER && fault_at < START + GROUP_LIMIT,
	      "at %#llx", (unsigned long long)fault_at);
	CHECK(seen > TOUCHES / 2, "only %u of %u pages", seen, TOUCHES);
	CHECK_EQ(map_failures(&v), seen + 1);
	CHECK_EQ(map_failures(&other), 0);
	group_check_alive(GROUP_A);
	for (at = START; at < fault_at; at += 4096)
		CHECK_EQ(v.dev->fb[at], (uint8_t)(at >> 12));
	chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(START), 7, FX_MIB));
	fx_finish(chan);
	/* A reset gives all memory back, and the vGPU can be used again. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(fx_backed_bytes(&v), 0);
	group_wait_below(GROUP_A, GROUP_OTHER);
	CHECK(fx_is_zero(v.dev->fb + START, FX_MIB), "after a reset");
	fx_close(&v);
	group_wait_below(GROUP_A, FX_MIB);
}

static void trapped_write_beyond_the_limit_fails(void)
{
	static uint8_t page[4096];
	uint64_t at;
	ssize_t n;

	fx_need_reserve(false);
	group_make(GROUP_A, GROUP_LIMIT);
	fx_create(&v, "1Q");
	group_open(&v, GROUP_A);
	memset(page, 0x77, sizeof(page));
	for (at = START; at < START + 2 * GROUP_LIMIT; at += sizeof(page)) {
		n = vgpu_region_write(v.dev, 0, at, page, sizeof(page));
		if (n != sizeof(page))
			break;
	}
	CHECK_EQ(n, -ENOMEM, "after %llu KiB", (unsigned long long)(at - START) >> 10);
	CHECK(at >= START + GROUP_LIMIT - GROUP_OTHER, "at %#llx", (unsigned long long)at);
	group_check_alive(GROUP_A);
	CHECK_EQ(vgpu_region_read(v.dev, 0, at, page, sizeof(page)), sizeof(page));
	CHECK(fx_is_zero(page, sizeof(page)), "a refused write left bytes");
}

static void backed_bytes_are_exact(void)
{
	struct vgpu_chan *chan;
	uint64_t before;

	fx_need_reserve(false);
	fx_create_open(&v, "1Q");
	CHECK_EQ(fx_backed_bytes(&v), 0);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	before = fx_backed_bytes(&v);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), 1, 3 * FX_MIB));
	fx_finish(chan);
	CHECK_EQ(fx_backed_bytes(&v) - before, 3 * FX_MIB);
	/* Neither the same pages again nor zeros where there is no page need a new page. */
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(4 * FX_MIB), 2, 3 * FX_MIB));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(16 * FX_MIB), 0, FX_MIB));
	fx_finish(chan);
	CHECK_EQ(fx_backed_bytes(&v) - before, 3 * FX_MIB);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(8 * FX_MIB - 4), 1, 8));
	fx_finish(chan);
	CHECK_EQ(fx_backed_bytes(&v) - before, 3 * FX_MIB + 8192);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(fx_backed_bytes(&v), 0);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(fill_faults_its_channel_alone),
	KTAP_TEST(short_of_memory_stalls_only),
	KTAP_TEST(reset_ends_the_wait),
	KTAP_TEST(want_of_memory_is_no_strike),
	KTAP_TEST(owner_at_its_limit_lives),
	KTAP_TEST(touch_beyond_the_limit_is_sigbus),
	KTAP_TEST(trapped_write_beyond_the_limit_fails),
	KTAP_TEST(backed_bytes_are_exact),
};

KTAP_MAIN(tests, cleanup)
