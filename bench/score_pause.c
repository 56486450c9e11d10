// SPDX-License-Identifier: GPL-2.0
/* How long a call takes that pauses a vGPU: afterwards no engine works for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "score.h"
#include "soft.h"
#include "stats.h"

#define JOB_NS		(100 * US)
#define RING_ORDER	8
#define HANGS		5
#define HANG_GAP_NS	(100 * MS)

/* Writes the tenant's UUID to the GPU's file of that name in debugfs. */
static void control(unsigned int tenant, const char *name)
{
	struct vgpu_ctl_gpu gpu;
	char path[128];
	int ret;

	score_read_gpu(&gpu);
	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%.*s/%s",
		 (int)sizeof(gpu.address), (const char *)gpu.address, name);
	ret = file_write(path, score.tenant[tenant].uuid);
	if (ret)
		bench_die("%s: %s", path, strerror(-ret));
}

static double pause_us(unsigned int tenant)
{
	uint64_t start = clk_ns(), took;

	control(tenant, "pause");
	took = clk_ns() - start;
	control(tenant, "resume");
	return (double)took / US;
}

void score_pauses(struct score_result *result, void (*keep)(uint64_t for_ns))
{
	static double took[SCORE_PAUSES];
	struct vgpu_ctl_gpu gpu;
	unsigned int i;

	/* Mounts debugfs, if nobody has yet. */
	score_counter("switches");
	for (i = 0; i < SCORE_PAUSES; i++) {
		keep(score_random_below(2 * TENANTS * score.slice_ns));
		took[i] = pause_us(i % TENANTS);
	}
	score_read_gpu(&gpu);
	result->reach = (double)score.slice_ns / US + gpu.preempt_timeout_us;
	result->value = stats_quantile(took, SCORE_PAUSES, 0.99);
	score_add(result, "%u pauses at random, %u vGPUs in turn, all with work; median %.1f us, largest %.1f us",
		  SCORE_PAUSES, TENANTS, stats_quantile(took, SCORE_PAUSES, 0.5),
		  stats_quantile(took, SCORE_PAUSES, 1));
}

/* Bytes of the state that was saved last of the tenant. */
static double state_bytes(unsigned int tenant)
{
	static char text[65536];
	struct vgpu_ctl_gpu gpu;
	char path[128], *at;

	score_read_gpu(&gpu);
	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%.*s/instances",
		 (int)sizeof(gpu.address), (const char *)gpu.address);
	if (file_read(path, text, sizeof(text)) < 0)
		bench_die("%s", path);
	at = strstr(text, score.tenant[tenant].uuid);
	at = at ? strstr(at, "state_bytes ") : NULL;
	if (!at)
		bench_die("no state_bytes in %s", path);
	return strtod(at + strlen("state_bytes "), NULL);
}

void score_reloads(struct score_result *result, void (*keep)(uint64_t for_ns))
{
	static double took[SCORE_PAUSES], bytes[SCORE_PAUSES];
	uint64_t start;
	unsigned int i;

	for (i = 0; i < SCORE_PAUSES; i++) {
		keep(score_random_below(2 * TENANTS * score.slice_ns));
		control(i % TENANTS, "pause");
		start = clk_ns();
		control(i % TENANTS, "reload");
		took[i] = (double)(clk_ns() - start) / US;
		bytes[i] = state_bytes(i % TENANTS);
		control(i % TENANTS, "resume");
	}
	result->value = stats_quantile(took, SCORE_PAUSES, 0.5);
	score_add(result, "a vGPU in the midst of a dispatch of 8 warps: its state is saved, dropped, built and saved again; %u times, largest %.1f us; state of %.0f bytes, median, %.0f at most",
		  SCORE_PAUSES, stats_quantile(took, SCORE_PAUSES, 1),
		  stats_quantile(bytes, SCORE_PAUSES, 0.5), stats_quantile(bytes, SCORE_PAUSES, 1));
}

/* Returns the longest pause around packets that never end: it waits until the engine is reset. */
static double pause_hung_us(void)
{
	struct vgpu_dev *dev = score.tenant[0].dev;
	struct vgpu_hw_packet packet = { .type = VGPU_HW_PKT_NOP };
	struct vgpu_chan *chan;
	double worst = 0;
	unsigned int i;

	for (i = 0; i < HANGS; i++) {
		if (vgpu_chan_create(dev, score.engine, VGPU_RING_FB, 4, &chan))
			bench_die("%s", vgpu_dev_error(dev));
		if (soft_hang(NULL, "gr", VGPU_HW_PKT_NOP) || vgpu_chan_submit(chan, &packet, 1))
			bench_die("no way to inject a hang");
		do {
			worst = fmax(worst, pause_us(0));
		} while (vgpu_chan_state(chan) != VGPU_HW_STATE_FAULTED);
		vgpu_chan_destroy(chan);
		score_keep(HANG_GAP_NS);
	}
	return worst;
}

void score_rows_pause(void)
{
	struct vgpu_ctl_sched off = { .quarantine_faults = 0 }, on = { .quarantine_faults = 3 };
	struct score_result result = { 0 };
	unsigned int i;

	if (!score_wanted("pause_p99"))
		return;
	score_progress("pauses of four vGPUs with fills");
	for (i = 0; i < TENANTS; i++) {
		score_start(i, JOB_NS, RING_ORDER, false);
		score.tenant[i].busy = true;
	}
	score_policy("equal_share");
	score_keep(300 * MS);
	score_pauses(&result, score_keep);
	for (i = 0; i < TENANTS; i++) {
		score_idle(i);
		score_stop(i);
	}
	score_set(&off, VGPU_SCHED_QUARANTINE_FAULTS);
	score_add(&result, "; with a packet that never ends, largest of those in %u resets %.1f us",
		  HANGS, pause_hung_us());
	score_set(&on, VGPU_SCHED_QUARANTINE_FAULTS);
	score_result("pause_p99", &result);
}
