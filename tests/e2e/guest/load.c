// SPDX-License-Identifier: GPL-2.0
/* Fills, copies and verifies for some seconds, or until told to end, on all engines. */
#include <string.h>

#include "guest.h"
#include "rng.h"

#define WINDOW		(256 * KIB)	/* what is verified of each fill */
#define PITCH		2560u
#define ROW		2048u
#define ROWS		64u
#define FRAME_WIDTH	256u
#define FRAME_HEIGHT	64u

/**
 * struct load - state of the job
 * @work:   the channels; 0 is of gr, the others are of copy engines
 * @fill:   offset in framebuffer of what is filled
 * @copy:   offset in framebuffer of where that is copied to
 * @rect:   offset in framebuffer of rectangles
 * @bytes:  size of @fill and of @copy
 * @out:    guest memory that the device reads
 * @in:     guest memory that the device writes
 * @rng:    random numbers
 * @sum:    checksum of all that was verified
 * @frames: number of frames presented
 */
struct load {
	struct work work;
	uint64_t fill;
	uint64_t copy;
	uint64_t rect;
	uint64_t bytes;
	struct vgpu_buf out;
	struct vgpu_buf in;
	struct rng rng;
	uint64_t sum;
	uint64_t frames;
};

/* FNV-1a over 64-bit words */
static uint64_t checksum(uint64_t sum, const void *data, size_t bytes)
{
	const uint64_t *word = data;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		sum = (sum ^ word[i]) * 0x100000001b3ull;
	return sum;
}

static bool setup(struct load *load, struct vgpu_dev *dev, const struct options *options)
{
	load->rng = rng_seed(options->seed);
	load->sum = 0xcbf29ce484222325ull;
	load->bytes = options->mib * MIB;
	if (!work_start(&load->work, dev, VGPU_RING_FB))
		return false;
	if (load->work.nr < 2)
		return failed("a graphics and a copy engine are needed");
	if (vgpu_fb_alloc(dev, load->bytes, MIB, &load->fill) ||
	    vgpu_fb_alloc(dev, load->bytes, MIB, &load->copy) ||
	    vgpu_fb_alloc(dev, 2 * ROWS * PITCH, MIB, &load->rect) ||
	    vgpu_buf_alloc(dev, WINDOW, &load->out) ||
	    vgpu_buf_alloc(dev, WINDOW, &load->in))
		return failed("memory: %s", vgpu_dev_error(dev));
	return true;
}

/* gr fills framebuffer, one copy engine copies it, another one a window of it to guest memory. */
static bool round_fill(struct load *load)
{
	struct work *work = &load->work;
	uint64_t at = rng_next(&load->rng) % (load->bytes - WINDOW + 1) & ~7ull;
	uint32_t value = (uint32_t)rng_next(&load->rng);
	uint32_t *word = load->in.ptr;
	unsigned int last = work->nr - 1;
	size_t i;

	if (!work_fill(work, 0, VGPU_FB(load->fill), value, load->bytes) || !work_wait(work, 0) ||
	    !work_copy(work, 1, VGPU_FB(load->copy), VGPU_FB(load->fill), load->bytes) ||
	    !work_wait(work, 1))
		return false;
	memset(load->in.ptr, 0, WINDOW);
	if (!work_copy(work, last, VGPU_SYS(&load->in, 0), VGPU_FB(load->copy + at), WINDOW) ||
	    !work_wait(work, last))
		return false;
	for (i = 0; i < WINDOW / 4; i++) {
		if (word[i] != value)
			return failed("fill: %#x at %#llx, not %#x", word[i],
				      (unsigned long long)(at + 4 * i), value);
	}
	/* And through BAR 0, as the processor sees it. */
	if (memcmp(work->dev->fb + load->fill + at, load->in.ptr, 4 * KIB))
		return failed("fill: BAR 0 differs at %#llx", (unsigned long long)at);
	load->sum = checksum(load->sum, load->in.ptr, WINDOW);
	return true;
}

/* Copies random data to framebuffer, from rectangle to rectangle, and back. */
static bool round_copy(struct load *load)
{
	struct work *work = &load->work;
	uint64_t packed = ROW * ROWS, pitched = load->rect + ROWS * PITCH;
	unsigned int last = work->nr - 1;
	uint64_t *word = load->out.ptr;
	uint64_t expected, seen;
	size_t i;

	for (i = 0; i < packed / 8; i++)
		word[i] = rng_next(&load->rng);
	memset(load->in.ptr, 0, packed);
	if (!work_copy(work, last, VGPU_FB(load->rect), VGPU_SYS(&load->out, 0), packed) ||
	    !work_wait(work, last) || !work_copy2d(work, 1, VGPU_FB(pitched), PITCH,
						   VGPU_FB(load->rect), ROW, ROW, ROWS) ||
	    !work_wait(work, 1) || !work_fill(work, 0, VGPU_FB(load->rect), 0, packed) ||
	    !work_wait(work, 0) || !work_copy2d(work, last, VGPU_FB(load->rect), ROW,
						VGPU_FB(pitched), PITCH, ROW, ROWS) ||
	    !work_copy(work, last, VGPU_SYS(&load->in, 0), VGPU_FB(load->rect), packed) ||
	    !work_wait(work, last))
		return false;
	expected = checksum(0xcbf29ce484222325ull, load->out.ptr, packed);
	seen = checksum(0xcbf29ce484222325ull, load->in.ptr, packed);
	if (expected != seen || memcmp(load->out.ptr, load->in.ptr, packed))
		return failed("copy: checksum %016llx, not %016llx", (unsigned long long)seen,
			      (unsigned long long)expected);
	load->sum = checksum(load->sum, load->in.ptr, packed);
	return true;
}

static bool round_present(struct load *load)
{
	struct work *work = &load->work;

	if (vgpu_chan_present(work->chan[0], load->fill, FRAME_WIDTH,
			      FRAME_HEIGHT, 4 * FRAME_WIDTH))
		return failed("present: %s", vgpu_dev_error(work->dev));
	load->frames++;
	return work_wait(work, 0);
}

static uint64_t written(const struct work *work)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < work->nr; i++)
		bytes += work->bytes[i];
	return bytes;
}

/* Shows what was done, until the host has seen it. */
static bool show(struct load *load, struct chart *chart, int port)
{
	chart->sum = load->sum;
	if (!chart_show(&load->work, chart))
		return false;
	load->frames++;
	say("shown, checksum %016llx", (unsigned long long)load->sum);
	return tell_wait(port, LOOK_S);
}

bool load_run(struct vgpu_dev *dev, const struct options *options)
{
	uint64_t start, began, busy, before, second, rounds = 0, busy_sum = 0;
	struct chart chart = { .title = options->title };
	struct load load = { 0 };
	bool ok = true;
	int port = -1;

	if (!setup(&load, dev, options))
		return false;
	if (options->title || !options->seconds) {
		port = tell_open();
		if (port < 0)
			return false;
	}
	/* The host has guests begin together, however slowly one has booted. */
	if (options->title) {
		say("ready");
		if (!tell_wait(port, LOOK_S))
			return false;
	}
	say("working: %u MiB per round, %u %% load, %u s", options->mib,
	    options->load, options->seconds);
	start = clk_ns();
	do {
		began = clk_ns();
		before = written(&load.work);
		ok = round_fill(&load) && round_copy(&load) &&
			round_present(&load);
		busy = clk_ns() - began;
		busy_sum += busy;
		rounds++;
		second = (began - start) / 1000000000;
		if (second < CHART_BARS) {
			chart.bytes[second] += written(&load.work) - before;
			chart.bars = (unsigned int)second + 1;
		}
		if (options->load < 100)
			clk_sleep_ns(busy * (100 - options->load) / options->load);
	} while (ok && !tell_over(port, start, options->seconds, &ok));
	say("rounds %llu in %llu ms, at work %llu ms", (unsigned long long)rounds,
	    (unsigned long long)((clk_ns() - start) / 1000000),
	    (unsigned long long)(busy_sum / 1000000));
	chart.rounds = rounds;
	if (ok && options->title)
		ok = show(&load, &chart, port);
	ok = work_report(&load.work) && ok;
	say("frames %llu", (unsigned long long)load.frames);
	if (ok)
		say("verified, checksum %016llx", (unsigned long long)load.sum);
	work_stop(&load.work);
	vgpu_buf_free(&load.in);
	vgpu_buf_free(&load.out);
	return ok;
}
