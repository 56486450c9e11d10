// SPDX-License-Identifier: GPL-2.0
/*
 * Service per channel (VGPU_IOC_CHANNELS): it adds up to that of the vGPU whatever happens to the
 * channels, and it is that of the channel that has worked. What guests say of themselves is in
 * label_test.
 */
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "compute.h"
#include "service.h"
#include "silent.h"
#include "soft.h"
#include "tune.h"

#define VGPUS		4u
#define CHANNELS	6u
#define BYTES		(1 * FX_MIB)
#define GR		VGPU_HW_ENGINE_GR
#define CE		VGPU_HW_ENGINE_CE

static struct fx_vgpu v[VGPUS];

static void slice_ms(unsigned int ms)
{
	struct vgpu_ctl_sched sched = { .slice_ns = ms * 1000000ull, .window_ns = 300000000 };

	tune_set(&sched, VGPU_SCHED_SLICE | VGPU_SCHED_WINDOW);
}

/* Some work on the channel; what it writes is nobody else's. */
static void some_work(struct vgpu_chan *chan)
{
	uint64_t at = FX_MIB * (8 + 4 * chan->id), bytes = 64ull << fx_random_below(15);
	struct vgpu_dev *dev = chan->dev;

	switch (fx_random_below(4)) {
	case 0:
		FX_OK(dev, vgpu_chan_nop(chan));
		break;
	case 1:
		FX_OK(dev, vgpu_chan_copy(chan, VGPU_FB(at), VGPU_FB(at + 2 * BYTES), bytes));
		break;
	case 2:
		if (le64toh(chan->page->put) && chan->engine == 0) {
			compute_dispatch(chan, COMPUTE_SIZE(1 + bytes / 16, 1, 1),
					 COMPUTE_SIZE(64, 1, 1), 0);
			break;
		}
		/* fall through */
	default:
		FX_OK(dev, vgpu_chan_fill(chan, VGPU_FB(at), 0xc4a4, bytes));
	}
}

/* A channel that is disabled and enabled keeps its total, and begins anew beside that. */
static void turn_off_and_on(const struct fx_vgpu *vgpu, struct vgpu_chan *chan)
{
	struct vgpu_ctl_channel before, off, on;

	service_of(vgpu, chan->id, &before);
	FX_OK(chan->dev, vgpu_chan_disable(chan));
	service_of(vgpu, chan->id, &off);
	CHECK_EQ(off.state, VGPU_HW_STATE_DISABLED);
	CHECK_EQ(off.enabled_ns, before.enabled_ns);
	CHECK(off.total_busy_ns >= before.total_busy_ns, "the total has shrunk");
	FX_OK(chan->dev, vgpu_chan_enable(chan));
	service_of(vgpu, chan->id, &on);
	CHECK(on.enabled_ns > off.enabled_ns, "");
	CHECK(on.total_busy_ns >= off.total_busy_ns, "the total has shrunk");
	CHECK(on.busy_ns <= on.total_busy_ns - off.total_busy_ns, "more than since then");
}

/* Work on each engine for that long and some more, of channels that nobody else has. */
static void work_for(struct fx_vgpu *vgpu, uint64_t ns)
{
	static const struct { uint32_t engine_class, instance; } engines[] = {
		{ GR, 0 }, { CE, 0 }, { CE, 1 },
	};
	uint64_t from = vgpu->dev->fb_next;
	struct vgpu_ctl_channel before, now;
	struct vgpu_chan *chan;
	unsigned int i, k;

	/* So that nothing waits for memory. */
	memset(vgpu->dev->fb + 64 * FX_MIB, 0, 4 * BYTES);
	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		chan = fx_chan(vgpu, engines[i].engine_class, engines[i].instance, VGPU_RING_FB, 6);
		service_of(vgpu, chan->id, &before);
		do {
			for (k = 0; k < 16; k++)
				FX_OK(chan->dev, vgpu_chan_fill(chan, VGPU_FB(64 * FX_MIB), k,
								4 * BYTES));
			fx_finish(chan);
			service_of(vgpu, chan->id, &now);
		} while (now.total_busy_ns - before.total_busy_ns < ns + 50000000);
		vgpu_chan_destroy(chan);
		vgpu_fb_release(vgpu->dev, from);
	}
}

static uint64_t service_ns(const struct fx_vgpu *vgpu, const struct service_base *base)
{
	struct service_base now;

	service_begin(vgpu, &now);
	return now.busy_ns - base->busy_ns;
}

/*
 * The vGPU's own counter may be ahead by idle time of a run that was under way when somebody read
 * it, as the sampler of the GPU does: by seconds, if the engine had no processor just then. The
 * counter then waits until it is right again, so each engine works for as long as it is ahead, and
 * again, as one that has caught up may get ahead meanwhile.
 */
static void check_sum(struct fx_vgpu *vgpu, const struct service_base *base)
{
	uint64_t end = clk_ms() + 2 * FX_TIMEOUT_MS, service;
	int64_t off = service_off(vgpu, base), slack;

	service = service_ns(vgpu, base);
	CHECK(service, "no service");
	slack = (int64_t)(service / 1000);
	ktap_note("service %llu ns, channels %+lld ns", (unsigned long long)service,
		  (long long)off);
	while (off < -slack && clk_ms() < end) {
		work_for(vgpu, (uint64_t)-off);
		off = service_off(vgpu, base);
		ktap_note("after more work: channels %+lld ns", (long long)off);
	}
	CHECK(off <= slack && off >= -slack, "off by %lld ns", (long long)off);
}

static void random_loads(uint32_t slice, unsigned int nr)
{
	static const struct { uint32_t engine_class, instance; } engines[CHANNELS] = {
		{ GR, 0 }, { GR, 0 }, { CE, 0 }, { CE, 0 }, { CE, 1 }, { CE, 1 },
	};
	static const uint32_t words[] = { RV_ADDI(RV_T0, RV_T0, 1), RV_RET };
	struct vgpu_chan *chan[VGPUS][CHANNELS];
	struct service_base base[VGPUS];
	unsigned int i, k, n;

	fx_need("execute packets");
	slice_ms(slice);
	for (i = 0; i < nr; i++) {
		fx_create_open(&v[i], "1Q");
		service_begin(&v[i], &base[i]);
		COMPUTE_LOAD(&v[i], words);
		for (k = 0; k < CHANNELS; k++)
			chan[i][k] = fx_chan(&v[i], engines[k].engine_class, engines[k].instance,
					     k & 1 ? VGPU_RING_SYS : VGPU_RING_FB, 6);
	}
	for (n = 0; n < 3000; n++) {
		i = (unsigned int)fx_random_below(nr);
		k = (unsigned int)fx_random_below(CHANNELS);
		if (fx_random_below(100) == 0)
			turn_off_and_on(&v[i], chan[i][k]);
		else if (chan[i][k]->put - vgpu_chan_get(chan[i][k]) < 32)
			some_work(chan[i][k]);
		else if (fx_random_below(8) == 0)
			fx_finish(chan[i][k]);
	}
	/* All of them first: a vGPU that works may keep the processor from one that is done. */
	for (i = 0; i < nr; i++)
		for (k = 0; k < CHANNELS; k++)
			fx_finish(chan[i][k]);
	for (i = 0; i < nr; i++)
		check_sum(&v[i], &base[i]);
}

static void sum_of_one_vgpu(void)
{
	random_loads(1, 1);
}

static void sum_of_many_vgpus(void)
{
	random_loads(1, VGPUS);
}

static void sum_with_long_slices(void)
{
	random_loads(30, 2);
}

/* Packets one at a time, each after a wait for the one before it: nothing but short runs. */
static void sum_of_short_runs(void)
{
	struct service_base base;
	struct vgpu_chan *chan[3];
	unsigned int i;

	fx_need("execute packets");
	fx_create_open(&v[0], "1Q");
	service_begin(&v[0], &base);
	for (i = 0; i < 3; i++)
		chan[i] = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 3000; i++) {
		FX_OK(v[0].dev, vgpu_chan_nop(chan[i % 3]));
		if (i % 8 == 0)
			fx_finish(chan[i % 3]);
		/* A doorbell for nothing; and now and then all fall asleep. */
		vgpu_reg_write32(v[0].dev, vgpu_chan_reg(chan[(i + 1) % 3]->id,
							 VGPU_HW_CHAN_DOORBELL), 1);
		if (i % 512 == 0)
			clk_sleep_ms(1);
	}
	for (i = 0; i < 3; i++)
		fx_finish(chan[i]);
	check_sum(&v[0], &base);
}

/* Service of both channels since then; true if the fills had more than four times that of NOPs. */
static bool fills_have_more(struct vgpu_chan *const chan[2], uint64_t since_ns[2])
{
	struct vgpu_ctl_channel now;
	uint64_t ns[2];
	unsigned int k;

	for (k = 0; k < 2; k++) {
		service_of(&v[0], chan[k]->id, &now);
		ns[k] = now.total_busy_ns - since_ns[k];
		since_ns[k] = now.total_busy_ns;
	}
	ktap_note("fills: %llu us, as many NOPs: %llu us", (unsigned long long)ns[0] / 1000,
		  (unsigned long long)ns[1] / 1000);
	CHECK(ns[1], "the NOPs took no time");
	return ns[0] > 4 * ns[1];
}

/*
 * Who works has the time: the engine takes the channels' packets in turns. A processor that is lost
 * at a NOP makes that a long one, so it is enough if it is right once.
 */
static void of_whom_it_is(void)
{
	uint64_t since_ns[2] = { 0 }, end = clk_ms() + FX_TIMEOUT_MS;
	struct service_base base;
	struct vgpu_chan *chan[2];
	unsigned int i, k;

	fx_need("execute packets");
	fx_create_open(&v[0], "1Q");
	service_begin(&v[0], &base);
	for (k = 0; k < 2; k++)
		chan[k] = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 8);
	do {
		CHECK(clk_ms() < end, "NOPs take as long as fills");
		for (i = 0; i < 10; i++) {
			for (k = 0; k < 100; k++) {
				FX_OK(v[0].dev, vgpu_chan_fill(chan[0], VGPU_FB(FX_MIB), i,
							       4 * BYTES));
				FX_OK(v[0].dev, vgpu_chan_nop(chan[1]));
			}
			fx_finish(chan[0]);
			fx_finish(chan[1]);
		}
		check_sum(&v[0], &base);
	} while (!fills_have_more(chan, since_ns));
}

/*
 * One channel works, the other one hangs and is reset. Returns false if the engine has lost its
 * processor for a moment as it looked at a channel that had nothing to do: that takes time, too.
 */
static bool hangs(struct vgpu_chan *good, struct vgpu_chan *bad, unsigned int times,
		  uint64_t timeout_ns)
{
	struct vgpu_ctl_channel hung, before, after;
	struct vgpu_fault fault;
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	FX_OK(v[0].dev, vgpu_chan_fill(good, VGPU_FB(FX_MIB), times, BYTES));
	fx_finish(good);
	service_settle(&v[0]);
	service_of(&v[0], good->id, &before);
	CHECK_EQ(soft_hang(fx_gpu(), (char *)gpu.engine[bad->engine].name, VGPU_HW_PKT_NOP), 0);
	FX_OK(v[0].dev, vgpu_chan_nop(bad));
	FX_OK(v[0].dev, vgpu_chan_wait_fault(bad, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	fx_again(bad);
	service_settle(&v[0]);
	service_of(&v[0], bad->id, &hung);
	service_of(&v[0], good->id, &after);
	CHECK(hung.total_busy_ns >= times * timeout_ns, "%llu us of %u hangs",
	      (unsigned long long)hung.total_busy_ns / 1000, times);
	return after.total_busy_ns == before.total_busy_ns && hung.busy_ns < timeout_ns;
}

/* A run that a reset ends is charged to the channel that has hung. */
static void a_hang(void)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;
	struct vgpu_ctl_sched sched = {};
	struct service_base base;
	struct vgpu_chan *good, *bad;
	unsigned int right = 0, times;

	fx_need_no_quarantine();
	fx_need("execute packets");
	tune_get(&sched);
	fx_create_open(&v[0], "1Q");
	service_begin(&v[0], &base);
	good = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	bad = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	for (times = 1; right < 3; times++) {
		CHECK(clk_ms() < end, "what has worked before is charged, too");
		right += hangs(good, bad, times, sched.preempt_timeout_us * 1000ull);
		check_sum(&v[0], &base);
	}
}

/* Disables the channel at its work, and enables it for another process, which does nothing. */
static uint64_t at_work_to_another(const struct fx_vgpu *vgpu, struct vgpu_chan *chan,
				   uint32_t engine)
{
	const uint64_t get = fx_random_below(8);
	struct vgpu_ctl_channel now, later;
	unsigned int i;

	for (i = 0; i < 8; i++)
		FX_OK(chan->dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), i, 4 * BYTES));
	while (vgpu_chan_get(chan) < get)
		sched_yield();
	FX_OK(chan->dev, vgpu_chan_disable(chan));
	chan->engine = engine;
	FX_OK(chan->dev, vgpu_chan_enable(chan));
	service_of(vgpu, chan->id, &now);
	service_settle(vgpu);
	service_of(vgpu, chan->id, &later);
	CHECK_EQ(later.enabled_ns, now.enabled_ns);
	CHECK_EQ(later.engine, engine);
	CHECK_EQ(later.busy_ns, 0);
	return later.total_busy_ns - now.total_busy_ns;
}

/*
 * A channel goes to another process while the engine is at the old one's packets, or at those of a
 * third one in the same run; and to another engine. The old one's time is not the new one's.
 */
static void to_another_process(void)
{
	struct vgpu_chan *chan, *third;
	struct service_base base;
	uint64_t late_ns = 0;
	unsigned int i, k;

	fx_need("execute packets");
	slice_ms(30);
	fx_create_open(&v[0], "1Q");
	service_begin(&v[0], &base);
	chan = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	third = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 60; i++) {
		for (k = 0; i % 3 == 0 && k < 8; k++)
			FX_OK(v[0].dev, vgpu_chan_fill(third, VGPU_FB(8 * FX_MIB), i, BYTES));
		late_ns += at_work_to_another(&v[0], chan, i % 2 ? third->engine :
					      third->engine + 1);
		/* Runs of the engine that find no channel, after the turn of one that has left. */
		if (i % 2 == 0) {
			vgpu_reg_write32(v[0].dev, vgpu_chan_reg(third->id, VGPU_HW_CHAN_DOORBELL),
					 1);
			FX_OK(v[0].dev, vgpu_chan_disable(third));
			FX_OK(v[0].dev, vgpu_chan_enable(third));
		}
	}
	ktap_note("%llu us came late", (unsigned long long)late_ns / 1000);
	CHECK(late_ns, "the channel was never at work");
	fx_finish(third);
	check_sum(&v[0], &base);
}

static bool has_waited(const struct vgpu_chan *chan)
{
	struct vgpu_ctl_channel now;

	service_of(&v[0], chan->id, &now);
	return now.total_busy_ns > 10000000;
}

/*
 * The engine waits for memory that does not answer: for the channel that waits. While the run is
 * under way the vGPU's service is not read, see service_settle().
 */
static void a_stall(void)
{
	struct vgpu_ctl_channel waits, works;
	struct service_base base;
	struct vgpu_chan *stuck, *chan;
	unsigned int i;

	fx_need("execute packets");
	silent_need();
	slice_ms(30);
	fx_create_open(&v[0], "1Q");
	service_begin(&v[0], &base);
	silent_map(&v[0]);
	chan = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	/* Both at once, when the pause is over: the other one's packets come after the stall. */
	service_pause(&v[0], true);
	stuck = silent_copy(&v[0], 0, VGPU_HW_OP_SRC_SYS);
	for (i = 0; i < 8; i++)
		FX_OK(v[0].dev, vgpu_chan_nop(chan));
	service_pause(&v[0], false);
	FX_SOON(has_waited(stuck), "the engine does not wait for it");
	check_sum(&v[0], &base);
	service_of(&v[0], stuck->id, &waits);
	service_of(&v[0], chan->id, &works);
	ktap_note("waits: %llu us, works: %llu us", (unsigned long long)waits.total_busy_ns / 1000,
		  (unsigned long long)works.total_busy_ns / 1000);
	CHECK(waits.total_busy_ns > works.total_busy_ns, "");
	silent_answer();
	fx_finish(stuck);
	check_sum(&v[0], &base);
	silent_unmap();
}

/* A reset keeps all times, close forgets them. */
static void reset_and_close(void)
{
	struct vgpu_ctl_channel before, after, list[4];
	struct service_base base;
	struct vgpu_chan *chan;

	fx_need("execute packets");
	fx_create_open(&v[0], "1Q");
	CHECK_EQ(service_list(&v[0], list, 4), 0);
	service_begin(&v[0], &base);
	chan = fx_chan(&v[0], CE, 1, VGPU_RING_FB, 4);
	FX_OK(v[0].dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 1, 64 * FX_MIB));
	fx_finish(chan);
	check_sum(&v[0], &base);
	service_of(&v[0], chan->id, &before);
	CHECK_EQ(before.engine, chan->engine);
	CHECK_EQ(before.busy_ns, before.total_busy_ns);
	FX_OK(v[0].dev, vgpu_dev_reset(v[0].dev));
	service_of(&v[0], chan->id, &after);
	CHECK_EQ(after.state, VGPU_HW_STATE_DISABLED);
	CHECK_EQ(after.total_busy_ns, before.total_busy_ns);
	CHECK_EQ(after.enabled_ns, before.enabled_ns);
	FX_OK(v[0].dev, vgpu_chan_enable(chan));
	FX_OK(v[0].dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 1, 64 * FX_MIB));
	fx_finish(chan);
	check_sum(&v[0], &base);
	service_of(&v[0], chan->id, &after);
	CHECK_EQ(after.total_busy_ns - after.busy_ns, before.total_busy_ns);
	/* Closed with work under way, which the next user does not pay for. */
	FX_OK(v[0].dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 1, 64 * FX_MIB));
	fx_close(&v[0]);
	CHECK_EQ(service_list(&v[0], list, 4), 0);
	service_begin(&v[0], &base);
	fx_open(&v[0]);
	CHECK_EQ(service_list(&v[0], list, 4), 0);
	chan = fx_chan(&v[0], CE, 1, VGPU_RING_FB, 4);
	service_of(&v[0], chan->id, &after);
	CHECK_EQ(after.total_busy_ns, after.busy_ns);
	FX_OK(v[0].dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 1, 64 * FX_MIB));
	fx_finish(chan);
	check_sum(&v[0], &base);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(sum_of_one_vgpu),
	KTAP_TEST(sum_of_many_vgpus),
	KTAP_TEST(sum_with_long_slices),
	KTAP_TEST(sum_of_short_runs),
	KTAP_TEST(of_whom_it_is),
	KTAP_TEST(a_hang),
	KTAP_TEST(to_another_process),
	KTAP_TEST(a_stall),
	KTAP_TEST(reset_and_close),
};

KTAP_MAIN(tests, tune_cleanup)
