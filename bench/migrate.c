// SPDX-License-Identifier: GPL-2.0
/*
 * Rows about a vGPU that moves, from one device to another one in this process. What is carried
 * goes through no network: what a move takes beside that is in the rows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "bench.h"
#include "clk.h"
#include "move.h"
#include "node.h"
#include "rng.h"
#include "stats.h"

#define MOVES_MAX	20
#define DIRTY		0.05		/* of the framebuffer, rewritten in a second */
#define LIMIT_NS	150e6		/* of downtime, KubeVirt's first; QEMU's is 300 ms */
#define TURNS_MAX	1000
#define SETTLE_MS	300
#define PAUSES		400
#define MS		1e6

static struct vgpu_dev *open_vgpu(const char *uuid)
{
	struct vgpu_dev *dev;

	if (vgpu_dev_open_vfio(&dev, uuid))
		bench_die("%s: %s", uuid, vgpu_dev_error(NULL));
	return dev;
}

/**
 * struct trip - what was measured of one move
 * @pre_bytes:   carried while the guest worked
 * @pre_ns:      time that took
 * @stop_bytes:  carried while the guest stood still
 * @stop_ns:     time that took
 * @save_ns:     until the source stood still and had saved its state
 * @load_ns:     from the end of the stream until the destination ran
 * @down_ns:     all of that
 * @rewritten:   pages that were rewritten since it began
 * @again:       of these, those that had been sent
 */
struct trip {
	double pre_bytes;
	double pre_ns;
	double stop_bytes;
	double stop_ns;
	double save_ns;
	double load_ns;
	double down_ns;
	double rewritten;
	double again;
};

/* What QEMU does: it ends the part while the guest works when the rest fits into the limit. */
static void copy_ahead(struct guest *guest, struct pump *pump, struct trip *trip)
{
	unsigned int turn;

	pump_run(pump);
	for (turn = 0; turn < TURNS_MAX; turn++) {
		if ((double)move_left(guest->dev) * pump->ns / (double)pump->bytes <= LIMIT_NS)
			break;
		pump_run(pump);
		/* There is nothing more to be read until the next pass may begin. */
		clk_sleep_ms(10);
	}
	trip->pre_bytes = (double)pump->bytes;
	trip->pre_ns = pump->ns;
}

static void progress(const struct trip *trip)
{
	fprintf(stderr,
		"moved: %.0f MiB in %.0f ms; then %.2f MiB in %.2f ms (%.2f to save, %.2f to load); %.0f pages rewritten\n",
		trip->pre_bytes / (1 << 20), trip->pre_ns / MS,
		trip->stop_bytes / (1 << 20), trip->down_ns / MS, trip->save_ns / MS,
		trip->load_ns / MS, trip->rewritten);
}

/* Moves the guest to @to; @ahead: it works meanwhile, but for the end. */
static void move(struct guest *guest, struct vgpu_dev *to, bool ahead, struct trip *trip)
{
	struct pump pump;
	double start, end;
	int in, out;

	memset(trip, 0, sizeof(*trip));
	move_state(to, VFIO_DEVICE_STATE_RESUMING, &out);
	if (ahead) {
		guest_start(guest);
		clk_sleep_ms(SETTLE_MS);
		guest_forget(guest);
		move_state(guest->dev, MOVE_PRE_COPY, &in);
		pump_begin(&pump, in, out, guest->sent);
		copy_ahead(guest, &pump, trip);
		guest_stop(guest);
		start = bench_now_ns();
		move_state(guest->dev, VFIO_DEVICE_STATE_STOP_COPY, NULL);
	} else {
		start = bench_now_ns();
		move_state(guest->dev, VFIO_DEVICE_STATE_STOP_COPY, &in);
		pump_begin(&pump, in, out, guest->sent);
	}
	trip->save_ns = bench_now_ns() - start;
	pump_run(&pump);
	end = bench_now_ns();
	move_state(to, VFIO_DEVICE_STATE_RUNNING, NULL);
	trip->load_ns = bench_now_ns() - end;
	trip->down_ns = bench_now_ns() - start;
	trip->stop_bytes = (double)pump.bytes - trip->pre_bytes;
	trip->stop_ns = pump.ns - trip->pre_ns;
	trip->rewritten = (double)guest->rewritten;
	trip->again = (double)guest->again;
	close(in);
	close(out);
	guest_move(guest, to);
	guest_check(guest);
	progress(trip);
}

static double rate(double bytes, double ns)
{
	return bytes / ns * 1e9 / (1 << 20);
}

/* A row of one number each move, of which the worst counts. */
static void show(const char *name, const char *unit, double reach, double *values,
		 unsigned int nr, const char *detail)
{
	double worst = stats_quantile(values, nr, 1), median = stats_quantile(values, nr, 0.5);

	printf("{\"name\": \"%s\", \"value\": %.2f, \"peer\": null, \"ratio\": null, ", name,
	       worst);
	printf("\"unit\": \"%s\", \"reach\": %g, \"higher\": false, ", unit, reach);
	printf("\"detail\": \"the worst of %u moves, median %.2f; %s\"}\n", nr, median, detail);
	fflush(stdout);
}

/* @still: a move of the same guest whose vGPU stood still: the bandwidth without other work. */
static void show_moves(const struct guest *guest, const struct trip *trips, unsigned int nr,
		       const struct trip *still)
{
	double left[MOVES_MAX], down[MOVES_MAX], sent[MOVES_MAX], save[MOVES_MAX], load[MOVES_MAX];
	double pre[MOVES_MAX], stop[MOVES_MAX], again[MOVES_MAX];
	double touched = (double)(guest->pages * MOVE_PAGE), fast;
	const struct trip *t;
	char detail[512];
	unsigned int i;

	fast = rate(still->stop_bytes, still->stop_ns);
	for (i = 0; i < nr; i++) {
		t = &trips[i];
		pre[i] = rate(t->pre_bytes, t->pre_ns);
		left[i] = t->stop_bytes / t->pre_bytes * t->pre_ns / MS;
		down[i] = (t->down_ns - t->stop_bytes / still->stop_bytes * still->stop_ns) / MS;
		sent[i] = (t->pre_bytes + t->stop_bytes - touched) /
			  (t->rewritten * (double)MOVE_PAGE);
		save[i] = t->save_ns / MS;
		load[i] = t->load_ns / MS;
		stop[i] = t->stop_bytes / (1 << 20);
		again[i] = t->again / t->rewritten;
	}
	snprintf(detail, sizeof(detail),
		 "bytes read while the guest stood still, divided by the bandwidth before that; %.0f MiB touched, 5 %% of them rewritten per second, a program runs; medians: %.0f MiB/s, %.2f MiB left",
		 touched / (1 << 20), stats_quantile(pre, nr, 0.5), stats_quantile(stop, nr, 0.5));
	show("migrate_converge", "ms", LIMIT_NS / MS, left, nr, detail);
	snprintf(detail, sizeof(detail),
		 "time from the stop of the guest until the destination runs, less bytes carried meanwhile / bandwidth (%.0f MiB/s, of a move without other work); medians: %.2f ms to pause and to save, %.2f ms to load behind the last byte",
		 fast, stats_quantile(save, nr, 0.5), stats_quantile(load, nr, 0.5));
	show("migrate_downtime", "ms", 20, down, nr, detail);
	snprintf(detail, sizeof(detail),
		 "bytes beyond those touched, against those of pages that were rewritten, none of them twice; of these pages %.0f %% had been sent before, median",
		 100 * stats_quantile(again, nr, 0.5));
	show("migrate_bytes", "ratio", 1.2, sent, nr, detail);
}

void row_migrate_move(const char *from, const char *to)
{
	struct vgpu_dev *dev[2] = { open_vgpu(from), open_vgpu(to) };
	unsigned int i, nr = bench_pairs < MOVES_MAX ? bench_pairs : MOVES_MAX;
	struct trip trips[MOVES_MAX], still;
	struct guest guest;

	guest_init(&guest, dev[0]);
	guest.rate = DIRTY * (double)guest.pages;
	move(&guest, dev[1], false, &still);
	for (i = 0; i < nr; i++)
		move(&guest, dev[i % 2], true, &trips[i]);
	guest_exit(&guest);
	show_moves(&guest, trips, nr, &still);
	vgpu_dev_close(dev[0]);
	vgpu_dev_close(dev[1]);
}

/* What a pause may take: a slice and the preemption timeout. */
static double limit_us(void)
{
	struct vgpu_ctl_gpu gpu;
	uint32_t id, count = 1;
	int control, ret;

	control = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
	if (control < 0)
		bench_die("/dev/vgpu: %s", strerror(errno));
	ret = node_gpus(control, &id, &count);
	if (!ret)
		ret = node_gpu(control, id, &gpu);
	close(control);
	if (ret)
		bench_die("VGPU_IOC_GPU: %s", strerror(-ret));
	return (double)gpu.slice_ns / 1000 + gpu.preempt_timeout_us;
}

void row_migrate_pause(const char *one, const char *two)
{
	struct vgpu_dev *dev[2] = { open_vgpu(one), open_vgpu(two) };
	double limit = limit_us(), start, p99;
	static double took[PAUSES];
	struct rng rng = rng_seed(1);
	struct guest guest[2];
	unsigned int i, k;

	for (k = 0; k < 2; k++)
		guest_compute(&guest[k], dev[k]);
	for (i = 0; i < PAUSES; i++) {
		for (k = 0; k < 2; k++)
			guest_feed(&guest[k], 8);
		clk_sleep_ns(rng_below(&rng, (uint64_t)limit * 1000));
		start = bench_now_ns();
		move_state(dev[i % 2], i % 4 < 2 ? VFIO_DEVICE_STATE_RUNNING_P2P :
						   VFIO_DEVICE_STATE_STOP, NULL);
		took[i] = (bench_now_ns() - start) / 1000;
		if (vgpu_chan_get(guest[i % 2].gr) == guest[i % 2].program)
			bench_die("a program has ended before it was paused");
		move_state(dev[i % 2], VFIO_DEVICE_STATE_RUNNING, NULL);
	}
	p99 = stats_quantile(took, PAUSES, 0.99);
	printf("{\"name\": \"migrate_pause\", \"value\": %.1f, \"peer\": %.1f, \"ratio\": %.3f, ",
	       p99, limit, p99 / limit);
	printf("\"unit\": \"us\", \"reach\": 1, \"higher\": false, \"detail\": \"99th percentile of %u ways from RUNNING to RUNNING_P2P or STOP, at random, of two vGPUs whose programs never end, against a slice and the preemption timeout; median %.1f, largest %.1f us\"}\n",
	       PAUSES, stats_quantile(took, PAUSES, 0.5), stats_quantile(took, PAUSES, 1));
	fflush(stdout);
	for (k = 0; k < 2; k++) {
		guest_exit(&guest[k]);
		vgpu_dev_close(dev[k]);
	}
}
