// SPDX-License-Identifier: GPL-2.0
/*
 * Has a program draw the Mandelbrot set on gr and shows each picture, for some seconds; tells how
 * many there were. gr always has more of them to draw: how many it draws is its share.
 */
#include <string.h>

#include <../mandelbrot.h>
#include <samples.h>

#include "guest.h"

/* Small, as engines are slow in a machine that is emulated itself. */
#define WIDTH	320u
#define HEIGHT	240u
#define LIMIT	64u
#define DEPTH	8	/* pictures that are queued */
#define LOOK_S	600	/* for the host to begin, and to look at the picture */

static const struct mandelbrot_args view = {
	.width = WIDTH, .limit = LIMIT, .left = -2.25f, .top = -1.125f, .step = 3.0f / WIDTH,
};

/* The sample, with a smaller picture. */
static bool setup(struct vgpu_dev *dev, struct sample_run *run)
{
	struct mandelbrot_args args = view;

	if (sample_load(dev, &sample_mandelbrot, run))
		return failed("mandelbrot: %s", vgpu_dev_error(dev));
	args.pixels = (uint32_t *)(uintptr_t)vgpu_global_address(run->memory);
	memcpy(dev->fb + run->launch.args, &args, sizeof(args));
	run->launch.grid[0] = WIDTH;
	run->launch.grid[1] = HEIGHT;
	return true;
}

static bool queue(struct work *work, const struct sample_run *run, uint64_t *fence)
{
	struct vgpu_chan *chan = work->chan[0];

	if (vgpu_chan_dispatch(chan, &run->launch) ||
	    vgpu_chan_present(chan, run->memory, WIDTH, HEIGHT, 4 * WIDTH) ||
	    vgpu_chan_fence(chan, fence))
		return failed("mandelbrot: %s", vgpu_dev_error(work->dev));
	return true;
}

static bool finish(struct work *work, const struct sample_run *run, uint64_t fence)
{
	struct vgpu_chan *chan = work->chan[0];
	char text[128];

	if (!vgpu_chan_wait(chan, fence, WAIT_MS))
		return true;
	if (!vgpu_chan_explain(chan, &run->elf, text, sizeof(text)))
		return failed("mandelbrot: %s", text);
	return failed("mandelbrot: %s", vgpu_dev_error(work->dev));
}

/* The picture is the one that the processor draws. */
static bool check(const struct sample_run *run)
{
	const uint32_t *has = (const uint32_t *)(run->dev->fb + run->memory);
	static uint32_t pixels[WIDTH * HEIGHT];
	struct mandelbrot_args args = view;
	uint32_t x, y;

	args.pixels = pixels;
	for (y = 0; y < HEIGHT; y++) {
		for (x = 0; x < WIDTH; x++) {
			mandelbrot_item(&args, x, y);
			if (has[y * WIDTH + x] != pixels[y * WIDTH + x])
				return failed("the pixel at %u, %u is %#x, not %#x", x, y,
					      has[y * WIDTH + x], pixels[y * WIDTH + x]);
		}
	}
	return true;
}

/* Draws until the time is over; what is queued then is drawn, but not counted. */
static bool draw_all(struct work *work, const struct sample_run *run, unsigned int seconds)
{
	uint64_t start = clk_ns(), end = start + seconds * 1000000000ull, fence[DEPTH] = {};
	uint64_t pictures = 0, queued = 0, ms;
	bool ok = true;

	while (ok && clk_ns() < end) {
		if (queued - pictures == DEPTH)
			ok = finish(work, run, fence[pictures++ % DEPTH]);
		ok = ok && queue(work, run, &fence[queued++ % DEPTH]);
	}
	ms = (clk_ns() - start) / 1000000;
	say("computed %llu pictures in %llu ms, %llu.%02llu a second", (unsigned long long)pictures,
	    (unsigned long long)ms, (unsigned long long)(pictures * 1000 / ms),
	    (unsigned long long)(pictures * 100000 / ms % 100));
	return ok && work_wait(work, 0);
}

bool compute_run(struct vgpu_dev *dev, const struct options *options)
{
	struct sample_run run;
	struct work work;
	int port;
	bool ok;

	if (!work_start(&work, dev, VGPU_RING_FB) || !setup(dev, &run))
		return false;
	port = tell_open();
	say("ready");
	if (port < 0 || !tell_wait(port, LOOK_S))
		return false;
	say("working: %u x %u pixels, %u s", WIDTH, HEIGHT, options->seconds);
	ok = draw_all(&work, &run, options->seconds) && check(&run);
	if (ok) {
		say("shown");
		ok = tell_wait(port, LOOK_S);
	}
	sample_unload(&run);
	work_stop(&work);
	return ok;
}
