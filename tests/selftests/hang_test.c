// SPDX-License-Identifier: GPL-2.0
/*
 * An engine that does not stop is reset: the channel that it worked on faults, others go on,
 * and a vGPU that hangs it too often is in quarantine until it is released. Hangs are injected
 * through the software GPU's debugfs.
 */
#include <errno.h>
#include <string.h>

#include "event.h"
#include "hang.h"
#include "soft.h"

#define CE		VGPU_HW_ENGINE_CE

static struct fx_vgpu v, other;

/* Of the engine whose reset is held, in debugfs; empty: no reset is held. */
static char hold_path[256];

static void hold_reset(uint32_t engine)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	if (soft_path(fx_gpu(), (char *)gpu.engine[engine].name, "hold_reset", hold_path,
		      sizeof(hold_path))) {
		hold_path[0] = 0;
		ktap_skip("debugfs has no file to hold a reset");
	}
	CHECK_EQ(file_write(hold_path, "1"), 0, "%s", hold_path);
}

static bool reset_is_held(void)
{
	char text[16];

	return file_read(hold_path, text, sizeof(text)) > 0 &&
	       text[0] == '2';
}

static void let_reset_go(void)
{
	if (hold_path[0])
		file_write(hold_path, "0");
	hold_path[0] = 0;
}

static void cleanup(void)
{
	let_reset_go();
	fx_cleanup();
}

static uint64_t param(const char *name)
{
	char path[128];
	uint64_t value;

	snprintf(path, sizeof(path), "/sys/module/vgpu/parameters/%s", name);
	return file_number(path, NULL, &value) ? 0 : value;
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
	FX_SOON((fx_instance(&v, &after), after.engine[chan->engine].resets >
		 before.engine[chan->engine].resets));
	CHECK_EQ(after.engine[chan->engine].resets, before.engine[chan->engine].resets + 1);
	/* Channels on other engines, and other vGPUs on this engine, go on. */
	fx_finish(beside);
	fx_finish(neighbour);
	fx_again(chan);
	fx_finish(chan);
	fx_instance(&other, &after);
	CHECK_EQ(after.faults, 0, "of the neighbour");
}

/* Packets that the neighbour has queued behind the hang are not lost. */
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
	hang_inject(chan->engine);
	FX_OK(v.dev, vgpu_chan_nop(chan));
	/* Until the hang has hit a packet, of whichever channel the engine took first. */
	FX_SOON(vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED || vgpu_chan_get(chan) == chan->put);
	for (i = 0; i < 20; i++)
		FX_OK(other.dev, vgpu_chan_fill(neighbour, VGPU_FB(FX_MIB), (uint32_t)i, FX_MIB));
	FX_OK(other.dev, vgpu_chan_fence(neighbour, &fence));
	FX_OK(other.dev, vgpu_chan_wait(neighbour, fence, FX_TIMEOUT_MS));
	CHECK_EQ(other.dev->fb[FX_MIB], 19);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
}

/*
 * A reset takes as long as the test wants here. Meanwhile the other engines of the GPU work,
 * start from idle, and take turns between vGPUs.
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
	hang_inject(chan->engine);
	FX_OK(v.dev, vgpu_chan_nop(chan));
	FX_SOON(reset_is_held());
	for (i = 0; i < 10; i++) {
		/* The other engine sleeps by then, and the scheduler has to wake it. */
		clk_sleep_ms(2);
		fx_finish(mine);
		fx_finish(theirs);
	}
	CHECK(reset_is_held(), "the reset is over");
	fx_instance(&v, &after);
	CHECK_EQ(after.engine[chan->engine].resets, before.engine[chan->engine].resets);
	let_reset_go();
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	fx_again(chan);
	fx_finish(chan);
	fx_instance(&v, &after);
	CHECK_EQ(after.engine[chan->engine].resets, before.engine[chan->engine].resets + 1);
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
			CHECK(!fx_quarantined(&v), "after %llu of %llu faults",
			      (unsigned long long)i, (unsigned long long)threshold);
			fx_again(chan);
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
	FX_SOON(fx_quarantined(&v));
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 1);
	CHECK(inst.quarantine_until_ns > inst.now_ns, "ends in the past");
	FX_OK(v.dev, vgpu_reg_read32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_STATUS, &value));
	CHECK(value & VGPU_HW_STATUS_QUARANTINE, "the guest is not told");
	/* Neither a reset of the device nor a new owner lifts the quarantine. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK(fx_quarantined(&v), "lifted by a reset");
	vgpu_chan_destroy(chan);
	fx_close(&v);
	fx_open(&v);
	CHECK(fx_quarantined(&v), "lifted by close and open");
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	CHECK(!fx_wait_fence(chan, fence, 300), "works in quarantine");
	fx_finish(neighbour);
	fx_release(&v);
	FX_SOON(!fx_quarantined(&v));
	CHECK(fx_wait_fence(chan, fence, FX_TIMEOUT_MS), "does not go on");
	FX_OK(v.dev, vgpu_reg_read32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_STATUS, &value));
	CHECK(!(value & VGPU_HW_STATUS_QUARANTINE), "the guest is not told");
}

/* Of the vGPU's events since event_begin() the next one of that type. */
static void next_event(uint32_t type, struct vgpu_ctl_event *event)
{
	event_next(type, event);
	CHECK(!memcmp(event->uuid, v.id, sizeof(v.id)), "of another vGPU");
}

/*
 * Goes into quarantine, which is to last for @ns from the last fault on; says when it is to end.
 * Only events tell that for sure: a short one may be over before somebody looks.
 */
static struct vgpu_chan *into_quarantine_for(uint64_t ns, uint64_t *until_ns)
{
	struct vgpu_chan *chan = into_quarantine();
	uint64_t faults = param("quarantine_faults");
	struct vgpu_ctl_event fault, begun;

	while (faults--)
		next_event(VGPU_EVENT_FAULT, &fault);
	next_event(VGPU_EVENT_QUARANTINED, &begun);
	CHECK(begun.c >= fault.time_ns + ns, "shorter than %llu ns", (unsigned long long)ns);
	CHECK(begun.c <= begun.time_ns + ns, "longer than %llu ns", (unsigned long long)ns);
	*until_ns = begun.c;
	return chan;
}

/* A quarantine ends by itself, and the next one is twice as long. */
static void quarantine_backs_off(void)
{
	uint64_t backoff_ms = param("quarantine_backoff_ms"), until_ns;
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_event ended;
	struct vgpu_chan *chan;

	if (!backoff_ms || backoff_ms > 5000)
		ktap_skip("quarantine_backoff_ms is too long to wait for");
	fx_create_open(&v, fx_default_type());
	event_begin();
	chan = into_quarantine_for(backoff_ms * 1000000, &until_ns);
	next_event(VGPU_EVENT_RELEASED, &ended);
	CHECK(ended.time_ns >= until_ns, "ended early");
	CHECK(!fx_quarantined(&v), "does not end");
	fx_again(chan);
	fx_finish(chan);
	vgpu_chan_destroy(chan);
	into_quarantine_for(2 * backoff_ms * 1000000, &until_ns);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.quarantines, 2);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(engine_is_reset),
	KTAP_TEST(neighbours_queue_survives),
	KTAP_TEST(other_engines_go_on),
	KTAP_TEST(quarantine_until_release),
	KTAP_TEST(quarantine_backs_off),
};

KTAP_MAIN(tests, cleanup)
