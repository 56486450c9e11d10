// SPDX-License-Identifier: GPL-2.0
/* How soon a client knows of an error, and how soon it works again. */
#include "score.h"
#include "soft.h"
#include "stats.h"

#define ROUNDS		20
#define JOB_NS		(100 * US)
#define PATIENCE_NS	(20000 * MS)
#define FAULT_VECTOR	0
#define IRQ_WAIT_MS	1000

static double detect[ROUNDS], recover[ROUNDS];

/* Faults are made on purpose: no vGPU is to be quarantined for them. */
static void quarantine_faults(uint32_t faults)
{
	struct vgpu_ctl_sched sched = { .quarantine_faults = faults };

	score_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS);
}

static void inject_hang(void)
{
	if (soft_hang(NULL, "gr", VGPU_HW_PKT_NOP))
		bench_die("no way to inject a hang");
}

/* The client sleeps until the interrupt of the faulted channel. */
static void until_faulted(struct vgpu_chan *chan, uint64_t start)
{
	while (vgpu_chan_state(chan) != VGPU_HW_STATE_FAULTED) {
		if (clk_ns() - start > PATIENCE_NS)
			bench_die("no fault");
		vgpu_irq_wait(chan->dev, FAULT_VECTOR, IRQ_WAIT_MS);
	}
}

static void until_done(struct vgpu_chan *chan, uint64_t get, uint64_t start)
{
	while (vgpu_chan_get(chan) < get) {
		if (clk_ns() - start > PATIENCE_NS)
			bench_die("no recovery");
		vgpu_irq_wait(chan->dev, chan->vector, IRQ_WAIT_MS);
	}
}

static void round_of(unsigned int i, bool hang)
{
	struct vgpu_dev *dev = score.tenant[0].dev;
	struct load *load = &score.tenant[0].load;
	struct vgpu_hw_packet packet = {
		.type = hang ? VGPU_HW_PKT_NOP : 0xff,
	};
	struct vgpu_chan *chan;
	uint64_t start, known, fence;

	if (vgpu_chan_create(dev, (uint32_t)load->chan->engine, VGPU_RING_FB, 4, &chan))
		bench_die("%s", vgpu_dev_error(dev));
	if (hang)
		inject_hang();
	start = clk_ns();
	if (vgpu_chan_submit(chan, &packet, 1))
		bench_die("%s", vgpu_dev_error(dev));
	until_faulted(chan, start);
	known = clk_ns();
	/* What a client does then: disables and enables the channel, and goes on with a job. */
	if (vgpu_chan_disable(chan) || vgpu_chan_enable(chan) || vgpu_chan_fence(chan, &fence))
		bench_die("%s", vgpu_dev_error(dev));
	until_done(chan, 1, known);
	score_check(load, load_keep(load, load->put - load->checked + 1));
	until_done(load->chan, load->put * load_packets(load), known);
	recover[i] = (double)(clk_ns() - known) / US;
	detect[i] = (double)(known - start) / US;
	score_check(load, load_check(load));
	vgpu_chan_destroy(chan);
}

static void rounds(bool hang)
{
	const char *what = hang ?
		"a packet that never ends (slice 2 ms, preempt_timeout_us as set by default, then a reset of the engine)" :
		"submission of a packet of no type";
	struct score_result found = { 0 }, good = { 0 };
	unsigned int i;

	score_progress(hang ? "packets without end" : "bad packets");
	for (i = 0; i < ROUNDS; i++)
		round_of(i, hang);
	found.value = stats_quantile(detect, ROUNDS, 0.5);
	score_add(&found, "%s until its channel says that it has faulted, %u times, largest %.1f us",
		  what, ROUNDS, stats_quantile(detect, ROUNDS, 1));
	score_result(hang ? "hang_detect" : "error_detect", &found);
	good.value = stats_quantile(recover, ROUNDS, 0.5);
	score_add(&good, "channel disabled and enabled, a fence on it and a job of 100 us on another channel of the vGPU done, %u times, largest %.1f us",
		  ROUNDS, stats_quantile(recover, ROUNDS, 1));
	score_result(hang ? "hang_recover" : "error_recover", &good);
}

void score_rows_error(void)
{
	bool errors = score_wanted("error_detect") || score_wanted("error_recover");
	bool hangs = score_wanted("hang_detect") || score_wanted("hang_recover");

	if (!errors && !hangs)
		return;
	score_policy("best_effort");
	score_start(0, JOB_NS, 8, true);
	quarantine_faults(0);
	if (errors)
		rounds(false);
	if (hangs)
		rounds(true);
	quarantine_faults(3);
	score_stop(0);
}
