// SPDX-License-Identifier: GPL-2.0
/*
 * An engine that does not stop: it is reset, the channel it worked on faults,
 * others go on; who does it too often is quarantined until it is released.
 * Hangs are injected through the software GPU's debugfs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fixture.h"

#define DEBUGFS		"/sys/kernel/debug"
#define CE		VGPU_HW_ENGINE_CE

static struct fx_vgpu v, other;

static void debugfs_path(char *path, size_t room, uint32_t engine,
			 const char *name)
{
	struct vgpu_ctl_gpu gpu;

	if (access(DEBUGFS "/vgpu_soft", F_OK))
		mount("none", DEBUGFS, "debugfs", 0, NULL);
	fx_ctl_gpu(&gpu);
	snprintf(path, room, DEBUGFS "/vgpu_soft/%s/%.16s/%s", fx_gpu(),
		 (char *)gpu.engine[engine].name, name);
	if (access(path, F_OK))
		ktap_skip("%s: %s", path, strerror(errno));
}

static void inject(uint32_t engine)
{
	char path[256];
	int ret;

	debugfs_path(path, sizeof(path), engine, "hang");
	ret = fx_write_file(path, "1");
	CHECK_EQ(ret, 0, "%s", path);
}

/* Of the engine whose reset is held; empty: none is. */
static char hold_path[256];

static void hold_reset(uint32_t engine)
{
	int ret;

	debugfs_path(hold_path, sizeof(hold_path), engine, "hold_reset");
	ret = fx_write_file(hold_path, "1");
	CHECK_EQ(ret, 0, "%s", hold_path);
}

static bool reset_is_held(void)
{
	char text[16];

	return fx_read_file(hold_path, text, sizeof(text)) > 0 &&
	       text[0] == '2';
}

static void let_reset_go(void)
{
	if (hold_path[0])
		fx_write_file(hold_path, "0");
	hold_path[0] = 0;
}

static void cleanup(void)
{
	let_reset_go();
	fx_cleanup();
}

static uint64_t param(const char *name)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/module/vgpu/parameters/%s", name);
	if (fx_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	return strtoull(text, NULL, 10);
}

/* The next packet of this channel hangs; wait until its engine is reset. */
static void hang_once(struct vgpu_chan *chan)
{
	struct vgpu_fault fault;
	uint64_t at = chan->put;

	inject(chan->engine);
	FX_OK(v.dev, vgpu_chan_nop(chan));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	CHECK_EQ(fault.pos, at);
}

static void again(struct vgpu_chan *chan)
{
	FX_OK(v.dev, vgpu_chan_disable(chan));
	FX_OK(v.dev, vgpu_chan_enable(chan));
}

static void engine_is_reset(void)
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *chan, *beside, *neighbour;

	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	beside = fx_chan(&v, CE, 1, VGPU_RING_FB, 4);
	neighbour = fx_chan(&other, CE, 0, VGPU_RING_FB, 4);
	fx_finish(chan);
	fx_instance(&v, &before);
	hang_once(chan);
	FX_SOON(fx_faults(&v) == before.faults + 1);
	do {
		fx_instance(&v, &after);
	} while (after.engine[chan->engine].resets ==
		 before.engine[chan->engine].resets);
	CHECK_EQ(after.engine[chan->engine].resets,
		 before.engine[chan->engine].resets + 1);
	/* Channels on other engines, and other vGPUs on this one, go on. */
	fx_finish(beside);
	fx_finish(neighbour);
	again(chan);
	fx_finish(chan);
	fx_instance(&other, &after);
	CHECK_EQ(after.faults, 0, "of the neighbour");
}

/* What the neighbour had queued behind the hang is not lost. */
static void neighbours_queue_survives(void)
{
	struct vgpu_chan *chan, *neighbour;
	struct vgpu_fault fault;
	uint64_t fence, i;

	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	neighbour = fx_chan(&other, CE, 0, VGPU_RING_FB, 6);
	fx_finish(neighbour);
	inject(chan->engine);
	FX_OK(v.dev, vgpu_chan_nop(chan));
	/* The hang has been taken, by whoever came first. */
	while (vgpu_chan_state(chan) != VGPU_HW_STATE_FAULTED &&
	       vgpu_chan_get(chan) < chan->put)
		fx_sleep_ms(1);
	for (i = 0; i < 20; i++)
		FX_OK(other.dev, vgpu_chan_fill(neighbour, VGPU_FB(FX_MIB),
						(uint32_t)i, FX_MIB));
	FX_OK(other.dev, vgpu_chan_fence(neighbour, &fence));
	FX_OK(other.dev, vgpu_chan_wait(neighbour, fence, FX_TIMEOUT_MS));
	CHECK_EQ(other.dev->fb[FX_MIB], 19);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
}

/*
 * A reset takes its time, as long as the test wants here: meanwhile the other
 * engines of the GPU work, start from idle, and take turns.
 */
static void other_engines_go_on(void)
{
	struct vgpu_chan *chan, *mine, *theirs;
	struct vgpu_ctl_instance before, after;
	struct vgpu_fault fault;
	unsigned int i;

	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	mine = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	theirs = fx_chan(&other, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	fx_finish(mine);
	fx_finish(theirs);
	fx_instance(&v, &before);
	hold_reset(chan->engine);
	inject(chan->engine);
	FX_OK(v.dev, vgpu_chan_nop(chan));
	FX_SOON(reset_is_held());
	for (i = 0; i < 10; i++) {
		/* The engine sleeps by then, and the scheduler has to wake it. */
		fx_sleep_ms(2);
		fx_finish(mine);
		fx_finish(theirs);
	}
	CHECK(reset_is_held(), "the reset is over");
	fx_instance(&v, &after);
	CHECK_EQ(after.engine[chan->engine].resets,
		 before.engine[chan->engine].resets);
	let_reset_go();
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	again(chan);
	fx_finish(chan);
	fx_instance(&v, &after);
	CHECK_EQ(after.engine[chan->engine].resets,
		 before.engine[chan->engine].resets + 1);
}

static bool quarantined(void)
{
	struct vgpu_ctl_instance inst;

	fx_instance(&v, &inst);
	return inst.status & VGPU_INSTANCE_QUARANTINED;
}

static struct vgpu_chan *into_quarantine(void)
{
	uint64_t threshold = param("quarantine_faults"), i;
	struct vgpu_chan *chan;

	if (!threshold)
		ktap_skip("vgpu is loaded with quarantine_faults=0");
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	for (i = 1; i <= threshold; i++) {
		hang_once(chan);
		if (i < threshold) {
			CHECK(!quarantined(), "after %llu of %llu faults",
			      (unsigned long long)i,
			      (unsigned long long)threshold);
			again(chan);
		}
	}
	return chan;
}

static void quarantine_until_release(void)
{
	struct vgpu_chan *chan, *neighbour;
	struct vgpu_ctl_instance inst;
	uint64_t fence;
	uint32_t value;

	if (param("quarantine_backoff_ms") < 5000)
		ktap_skip("quarantine_backoff_ms is too short to look at");
	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	neighbour = fx_chan(&other, CE, 0, VGPU_RING_FB, 4);
	chan = into_quarantine();
	FX_SOON(quarantined());
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 1);
	CHECK(inst.quarantine_until_ns > inst.now_ns, "ends in the past");
	FX_OK(v.dev, vgpu_reg_read32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_STATUS,
				     &value));
	CHECK(value & VGPU_HW_STATUS_QUARANTINE, "the guest is not told");
	/* A reset of the device does not lift it, nor does a new owner. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(quarantined(), "lifted by a reset");
	vgpu_chan_destroy(chan);
	fx_close(&v);
	fx_open(&v);
	CHECK(quarantined(), "lifted by close and open");
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	CHECK(!fx_wait_fence(chan, fence, 300), "works in quarantine");
	fx_finish(neighbour);
	fx_release(&v);
	FX_SOON(!quarantined());
	CHECK(fx_wait_fence(chan, fence, FX_TIMEOUT_MS), "does not go on");
	FX_OK(v.dev, vgpu_reg_read32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_STATUS,
				     &value));
	CHECK(!(value & VGPU_HW_STATUS_QUARANTINE), "the guest is not told");
}

/* Without anybody's help it ends, and the next one is twice as long. */
static void quarantine_backs_off(void)
{
	uint64_t backoff_ms = param("quarantine_backoff_ms"), first;
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *chan;

	if (!backoff_ms || backoff_ms > 5000)
		ktap_skip("quarantine_backoff_ms is too long to wait for");
	fx_create_open(&v, fx_default_type());
	chan = into_quarantine();
	FX_SOON(quarantined());
	fx_instance(&v, &inst);
	first = inst.quarantine_until_ns;
	FX_SOON(!quarantined());
	fx_instance(&v, &inst);
	CHECK(inst.now_ns >= first, "ended early");
	again(chan);
	fx_finish(chan);
	vgpu_chan_destroy(chan);
	into_quarantine();
	do {
		fx_instance(&v, &inst);
	} while (inst.quarantines < 2);
	CHECK_EQ(inst.quarantines, 2);
	CHECK(!inst.quarantine_until_ns ||
	      inst.quarantine_until_ns - inst.now_ns <=
	      2 * backoff_ms * 1000000, "longer than doubled");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(engine_is_reset),
	KTAP_TEST(neighbours_queue_survives),
	KTAP_TEST(other_engines_go_on),
	KTAP_TEST(quarantine_until_release),
	KTAP_TEST(quarantine_backs_off),
};

KTAP_MAIN(tests, cleanup)
