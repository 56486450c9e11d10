// SPDX-License-Identifier: GPL-2.0
/*
 * Has a program draw the Mandelbrot set on gr and shows each picture, for some seconds; tells how
 * many there were at which time, all of them as the processor draws them. gr always has more of
 * them to draw: how many it draws is its share. Before, each sample is repeated, if wanted.
 */
#include <string.h>

#include <../mandelbrot.h>
#include <samples.h>

#include "guest.h"

/* Small, as engines are slow in a machine that is emulated itself. */
#define WIDTH	320u
#define HEIGHT	240u
#define LIMIT	64u
#define PIXELS	(WIDTH * HEIGHT)
#define BYTES	(PIXELS * sizeof(uint32_t))
#define DEPTH	8	/* pictures that are queued */
#define SAY_NS	500000000ull	/* between two times at which it says how many there are */
#define LOOK_S	600	/* for the host to begin, and to look at the picture */

static const struct mandelbrot_args view = {
	.width = WIDTH, .limit = LIMIT, .left = -2.25f, .top = -1.125f, .step = 3.0f / WIDTH,
};

/* As the processor draws it. */
static uint32_t reference[PIXELS];

/**
 * struct drawing - pictures that are queued
 * @run:    the sample, which draws into @place
 * @launch: of each its dispatch
 * @place:  of each its offset in the framebuffer
 * @fence:  of each its fence
 */
struct drawing {
	struct sample_run run;
	struct vgpu_launch launch[DEPTH];
	uint64_t place[DEPTH];
	uint64_t fence[DEPTH];
};

/* The sample, with smaller pictures. */
static bool setup(struct vgpu_dev *dev, struct drawing *drawing)
{
	struct mandelbrot_args args = view;
	unsigned int i;
	uint32_t x, y;

	args.pixels = reference;
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			mandelbrot_item(&args, x, y);
	if (sample_load(dev, &sample_mandelbrot, &drawing->run))
		return failed("mandelbrot: %s", vgpu_dev_error(dev));
	for (i = 0; i < DEPTH; i++) {
		drawing->launch[i] = drawing->run.launch;
		drawing->launch[i].grid[0] = WIDTH;
		drawing->launch[i].grid[1] = HEIGHT;
		if (vgpu_fb_alloc(dev, BYTES, VGPU_HW_PAGE_SIZE, &drawing->place[i]) ||
		    vgpu_fb_alloc(dev, sizeof(args), VGPU_HW_PAGE_SIZE, &drawing->launch[i].args))
			return failed("mandelbrot: %s", vgpu_dev_error(dev));
		args.pixels = (uint32_t *)(uintptr_t)vgpu_global_address(drawing->place[i]);
		memcpy(dev->fb + drawing->launch[i].args, &args, sizeof(args));
	}
	return true;
}

/* Nothing is left of the picture that was there before. */
static bool queue(struct work *work, struct drawing *drawing, unsigned int i)
{
	struct vgpu_chan *chan = work->chan[0];

	memset(work->dev->fb + drawing->place[i], 0x55, BYTES);
	if (vgpu_chan_dispatch(chan, &drawing->launch[i]) ||
	    vgpu_chan_present(chan, drawing->place[i], WIDTH, HEIGHT, 4 * WIDTH) ||
	    vgpu_chan_fence(chan, &drawing->fence[i]))
		return failed("mandelbrot: %s", vgpu_dev_error(work->dev));
	return true;
}

/* The picture is the one that the processor draws. */
static bool check(const uint32_t *has)
{
	uint32_t i;

	if (!memcmp(has, reference, BYTES))
		return true;
	for (i = 0; has[i] == reference[i]; i++)
		;
	return failed("the pixel at %u, %u is %#x, not %#x", i % WIDTH, i / WIDTH, has[i],
		      reference[i]);
}

/* Waits for a picture, sets @when to the time, and compares it. */
static bool finish(struct work *work, const struct drawing *drawing, unsigned int i,
		   uint64_t *when)
{
	struct vgpu_chan *chan = work->chan[0];
	char text[128];

	if (!vgpu_chan_wait(chan, drawing->fence[i], WAIT_MS)) {
		*when = clk_ns();
		return check((const uint32_t *)(work->dev->fb + drawing->place[i]));
	}
	if (!vgpu_chan_explain(chan, &drawing->run.elf, text, sizeof(text)))
		return failed("mandelbrot: %s", text);
	return failed("mandelbrot: %s", vgpu_dev_error(work->dev));
}

static void tell_pictures(uint64_t pictures, uint64_t ns)
{
	say("%llu pictures after %llu ms", (unsigned long long)pictures,
	    (unsigned long long)(ns / 1000000));
}

/*
 * Draws until the time is over; what is queued then is drawn and compared, but not counted. Each
 * time that is told is one at which a picture was complete, so that nobody has to guess about parts
 * of pictures.
 */
static bool draw_all(struct work *work, struct drawing *drawing, unsigned int seconds)
{
	uint64_t start = clk_ns(), end = start + seconds * 1000000000ull, when = start;
	uint64_t said = start, pictures = 0, queued = 0, i;
	bool ok = true;

	while (ok && when < end) {
		if (queued - pictures < DEPTH) {
			ok = queue(work, drawing, queued++ % DEPTH);
			continue;
		}
		ok = finish(work, drawing, pictures++ % DEPTH, &when);
		if (pictures == 1 || when - said >= SAY_NS) {
			tell_pictures(pictures, when - start);
			said = when;
		}
	}
	for (i = pictures; i < queued; i++)
		ok = ok && finish(work, drawing, i % DEPTH, &when);
	return ok;
}

bool compute_run(struct vgpu_dev *dev, const struct options *options)
{
	static struct drawing drawing;
	struct work work;
	int port;
	bool ok;

	if (!work_start(&work, dev, VGPU_RING_FB) || !setup(dev, &drawing))
		return false;
	port = tell_open();
	say("ready");
	if (port < 0 || (options->each && !samples_show(dev, work.chan[0], options->each, port)) ||
	    !tell_wait(port, LOOK_S))
		return false;
	say("working: %u x %u pixels, %u s", WIDTH, HEIGHT, options->seconds);
	ok = draw_all(&work, &drawing, options->seconds);
	if (ok) {
		say("shown");
		ok = tell_wait(port, LOOK_S);
	}
	sample_unload(&drawing.run);
	work_stop(&work);
	return ok;
}
