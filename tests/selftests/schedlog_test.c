// SPDX-License-Identifier: GPL-2.0
/* The scheduler's log and histograms by /dev/vgpu. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fixture.h"

static struct fx_vgpu v[1];
static uint32_t gpu_id;

static void begin(void)
{
	gpu_id = fx_gpu_id();
}

static unsigned int read_log(uint32_t engine, struct vgpu_ctl_switch *log,
			     unsigned int room, uint64_t *total)
{
	uint32_t count = room;

	CHECK_EQ(node_sched_log(fx_control(), gpu_id, engine, log, &count, total), 0);
	CHECK(count <= room && count <= VGPU_SCHED_LOG && count <= *total, "%u of %llu", count,
	      (unsigned long long)*total);
	return count;
}

static void some_work(struct fx_vgpu *vgpu, struct vgpu_chan *chan, unsigned int times)
{
	while (times--) {
		FX_OK(vgpu->dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), times, FX_MIB));
		fx_finish(chan);
		/* Longer than an engine looks for more work, so that the run ends. */
		clk_sleep_ms(1);
	}
}

static void scheduler_log(void)
{
	static struct vgpu_ctl_switch log[VGPU_SCHED_LOG + 8], last[8];
	unsigned int i, nr, engine;
	uint64_t total, after;
	struct vgpu_chan *chan;

	begin();
	fx_create_open(&v[0], fx_default_type());
	chan = fx_chan(&v[0], VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	engine = chan->engine;
	read_log(engine, log, VGPU_SCHED_LOG, &total);
	some_work(&v[0], chan, 5);
	FX_SOON(read_log(engine, log, VGPU_SCHED_LOG, &after) &&
		after > total, "nothing in the log");
	/*
	 * More runs than the log keeps: the newest are there, and nothing is behind them. Two jobs
	 * are one run if the engine is still looking for work when the second one comes.
	 */
	some_work(&v[0], chan, VGPU_SCHED_LOG);
	FX_SOON((some_work(&v[0], chan, 1), read_log(engine, log, 0, &after) == 0 &&
		 after >= total + VGPU_SCHED_LOG), "few runs in the log");
	fx_close(&v[0]);
	memset(log, 0xee, sizeof(log));
	nr = read_log(engine, log, VGPU_SCHED_LOG + 8, &after);
	CHECK_EQ(nr, VGPU_SCHED_LOG);
	CHECK_EQ(log[nr].uuid[0], 0xee, "wrote too much");
	for (i = 0; i < nr; i++) {
		CHECK(!memcmp(log[i].uuid, v[0].id, sizeof(v[0].id)),
		      "entry %u is of another vGPU", i);
		CHECK(!i || log[i].time_ns >= log[i - 1].time_ns, "entry %u", i);
		CHECK(log[i].slice_ns, "entry %u has no slice", i);
		CHECK(log[i].linger_ns <= log[i].ran_ns, "entry %u", i);
		CHECK(log[i].end <= VGPU_END_CHANGED, "entry %u: end %u", i, log[i].end);
		CHECK_EQ(log[i].pad, 0);
	}
	CHECK_EQ(read_log(engine, last, 8, &total), 8);
	CHECK_EQ(total, after);
	CHECK(!memcmp(last, &log[nr - 8], sizeof(last)), "not the last ones");
}

static void log_of_what_is_not_there(void)
{
	struct vgpu_ctl_sched_log l = {
		.size = sizeof(l), .count = 1, .entry_size = sizeof(struct vgpu_ctl_switch),
	};
	struct vgpu_ctl_hist h = { .size = sizeof(h) };
	struct vgpu_ctl_gpu gpu;

	begin();
	fx_create_open(&v[0], fx_default_type());
	some_work(&v[0], fx_chan(&v[0], VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4), 1);
	fx_close(&v[0]);
	fx_ctl_gpu(&gpu);
	l.gpu = gpu_id;
	l.engine = gpu.engines;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &l) && errno == ENOENT, "no such engine");
	l.engine = ~0u;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &l) && errno == ENOENT, "no such engine");
	l.engine = 0;
	l.entries = 8;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &l) && errno == EFAULT, "bad pointer");
	l.gpu = 0x7fffffff;
	CHECK(ioctl(fx_control(), VGPU_IOC_SCHED_LOG, &l) && errno == ENODEV, "no such GPU");
	memcpy(h.uuid, v[0].id, sizeof(h.uuid));
	h.engine = gpu.engines;
	CHECK(ioctl(fx_control(), VGPU_IOC_HIST, &h) && errno == ENOENT, "no such engine");
	h.engine = 0;
	h.uuid[0] ^= 1;
	CHECK(ioctl(fx_control(), VGPU_IOC_HIST, &h) && errno == ENODEV, "no such vGPU");
}

static uint64_t waits(const struct fx_vgpu *vgpu, uint32_t engine)
{
	struct vgpu_ctl_hist h = { .size = sizeof(h), .engine = engine };
	uint64_t sum = 0;
	unsigned int i;

	memcpy(h.uuid, vgpu->id, sizeof(h.uuid));
	CHECK(!ioctl(fx_control(), VGPU_IOC_HIST, &h), "%s", strerror(errno));
	for (i = 0; i < VGPU_HIST_BUCKETS; i++)
		sum += h.wait[i];
	return sum;
}

/* The vGPU waited before each of its runs, however shortly, and had none on other engines. */
static void histograms(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *chan;
	unsigned int engine;

	begin();
	fx_create_open(&v[0], fx_default_type());
	chan = fx_chan(&v[0], VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	engine = chan->engine;
	CHECK_EQ(waits(&v[0], engine), 0);
	some_work(&v[0], chan, 20);
	fx_close(&v[0]);
	fx_instance(&v[0], &inst);
	CHECK(inst.engine[engine].runs, "no runs");
	CHECK_EQ(waits(&v[0], engine), inst.engine[engine].runs);
	CHECK_EQ(waits(&v[0], 0), inst.engine[0].runs);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(scheduler_log),
	KTAP_TEST(log_of_what_is_not_there),
	KTAP_TEST(histograms),
};

KTAP_MAIN(tests, fx_cleanup)
