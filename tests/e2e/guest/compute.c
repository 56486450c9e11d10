// SPDX-License-Identifier: GPL-2.0
/*
 * Has a program draw the Mandelbrot set on gr and shows each picture, for some seconds; tells how
 * many there were.
 */
#include <string.h>

#include <../mandelbrot.h>
#include <samples.h>

#include "guest.h"

/* Small, as engines are slow in a machine that is emulated itself. */
#define WIDTH	320u
#define HEIGHT	240u
#define LIMIT	64u
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

static bool draw(struct work *work, struct sample_run *run)
{
	char text[128];
	uint64_t ns;
	int ret;

	ret = sample_run(run, work->chan[0], WAIT_MS, &ns);
	if (ret && !vgpu_chan_explain(work->chan[0], &run->elf, text, sizeof(text)))
		return failed("mandelbrot: %s", text);
	if (ret)
		return failed("mandelbrot: %s", vgpu_dev_error(work->dev));
	if (vgpu_chan_present(work->chan[0], run->memory, WIDTH, HEIGHT, 4 * WIDTH))
		return failed("present: %s", vgpu_dev_error(work->dev));
	return work_wait(work, 0);
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

/* Draws until the time is over, the last picture included in it. */
static bool draw_all(struct work *work, struct sample_run *run, unsigned int seconds)
{
	uint64_t start = clk_ns(), end = start + seconds * 1000000000ull, pictures = 0, ms;
	bool ok = true;

	while (ok && clk_ns() < end) {
		ok = draw(work, run);
		pictures++;
	}
	ms = (clk_ns() - start) / 1000000;
	say("computed %llu pictures in %llu ms, %llu.%02llu a second", (unsigned long long)pictures,
	    (unsigned long long)ms, (unsigned long long)(pictures * 1000 / ms),
	    (unsigned long long)(pictures * 100000 / ms % 100));
	return ok;
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
