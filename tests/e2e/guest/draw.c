// SPDX-License-Identifier: GPL-2.0
/*
 * Draws one picture after the other until the host says a line: a program on gr goes into the
 * Mandelbrot set, step by step, a box runs along, and there are the picture's number and what the
 * EDID says, which is read anew for each. Some rows of each are compared with what the processor
 * draws. Then it shows the last one until the host says to go on, draws more, and ends at the third
 * line. It knows nothing of being moved meanwhile.
 */
#include <string.h>

#include <../mandelbrot.h>
#include <samples.h>

#include "page.h"

#define PAGES		3u	/* of which one is shown, and has to stay for who looks at it */
#define TOP		112u	/* row with which the set begins */
#define HEIGHT		352u
#define LIMIT		64u
#define STEPS		90u	/* into the set, and then from the start */
#define ROWS		2u	/* of each picture are compared */
#define SAY_NS		500000000ull
#define LOOK_S		600	/* for the host to begin, and to look at the picture */
#define EDID_BLOCK	128u

/**
 * struct drawing - a program that draws
 * @dev:     the device
 * @work:    its channels
 * @page:    shown in turns
 * @run:     the sample, which draws into a page
 * @title:   of each picture
 * @picture: number of the picture that was shown last, from 1
 * @edid:    checksum of the EDID; 0: there is none
 */
struct drawing {
	struct vgpu_dev *dev;
	struct work work;
	struct page page[PAGES];
	struct sample_run run;
	const char *title;
	uint64_t picture;
	uint32_t edid;
};

static void view_of(uint64_t picture, struct mandelbrot_args *args)
{
	float step = 3.0f / PAGE_WIDTH;
	uint64_t i;

	for (i = 0; i < picture % STEPS; i++)
		step *= 0.95f;
	*args = (struct mandelbrot_args){
		.width = PAGE_WIDTH, .limit = LIMIT, .step = step,
		.left = -0.7436f - step * (PAGE_WIDTH / 2.0f),
		.top = 0.1318f - step * (HEIGHT / 2.0f),
	};
}

static bool check(const struct drawing *drawing, const uint32_t *has,
		  struct mandelbrot_args args)
{
	static uint32_t reference[PAGE_WIDTH * HEIGHT];
	uint32_t i, x, y, at;

	args.pixels = reference;
	for (i = 0; i < ROWS; i++) {
		y = (uint32_t)(drawing->picture * 67 + i * 181) % HEIGHT;
		for (x = 0; x < PAGE_WIDTH; x++) {
			at = y * PAGE_WIDTH + x;
			mandelbrot_item(&args, x, y);
			if (has[at] != reference[at])
				return failed("picture %llu: the pixel at %u, %u is %#x, not %#x",
					      (unsigned long long)drawing->picture, x, y, has[at],
					      reference[at]);
		}
	}
	return true;
}

/* A program has drawn the set before the page's other parts are, which so are on top of it. */
static bool draw_set(struct drawing *drawing, const struct page *page)
{
	uint64_t at = page->at + TOP * PAGE_PITCH, fence;
	struct vgpu_dev *dev = drawing->dev;
	struct vgpu_chan *chan = drawing->work.chan[0];
	struct mandelbrot_args args;
	char text[128];

	view_of(drawing->picture, &args);
	args.pixels = (uint32_t *)(uintptr_t)vgpu_global_address(at);
	memcpy(dev->fb + drawing->run.launch.args, &args, sizeof(args));
	memset(dev->fb + at, 0x55, PAGE_PITCH * HEIGHT);
	if (vgpu_chan_dispatch(chan, &drawing->run.launch) || vgpu_chan_fence(chan, &fence))
		return failed("draw: %s", vgpu_dev_error(dev));
	if (!vgpu_chan_wait(chan, fence, WAIT_MS))
		return check(drawing, (const uint32_t *)(dev->fb + at), args);
	if (!vgpu_chan_explain(chan, &drawing->run.elf, text, sizeof(text)))
		return failed("draw: %s", text);
	return failed("draw: %s", vgpu_dev_error(dev));
}

/* What the monitor says of itself, in a line of @page: its best mode, and a checksum (FNV-1a). */
static bool draw_edid(struct drawing *drawing, struct page *page)
{
	uint32_t word[2 * EDID_BLOCK / 4], nr = EDID_BLOCK / 4, i;
	const uint8_t *byte = (const uint8_t *)word;

	for (i = 0; i < nr; i++) {
		if (vgpu_reg_read32(drawing->dev, VGPU_HW_VGA_EDID + 4 * i, &word[i]))
			return failed("EDID: %s", vgpu_dev_error(drawing->dev));
		if (i == EDID_BLOCK / 4 - 1 && byte[126] == 1)
			nr = 2 * EDID_BLOCK / 4;
	}
	drawing->edid = 0;
	/* Registers that are not there read all ones. */
	if (byte[0] || byte[1] != 0xff)
		return page_text(page, 4, "  no monitor to be seen");
	drawing->edid = 0x811c9dc5;
	for (i = 0; i < 4 * nr; i++)
		drawing->edid = (drawing->edid ^ byte[i]) * 0x01000193;
	return page_text(page, 4, "  monitor %u x %u, EDID %08x",
			 byte[56] | (byte[58] & 0xf0) << 4, byte[59] | (byte[61] & 0xf0) << 4,
			 drawing->edid);
}

static bool draw(struct drawing *drawing)
{
	struct page *page = &drawing->page[++drawing->picture % PAGES];
	uint32_t x = (uint32_t)(drawing->picture * 8 % (PAGE_WIDTH - 64));

	return draw_set(drawing, page) &&
		page_box(page, 0, 0, PAGE_WIDTH, TOP, PAGE_PAPER) &&
		page_box(page, 0, TOP + HEIGHT, PAGE_WIDTH, PAGE_HEIGHT - TOP - HEIGHT,
			 PAGE_PAPER) &&
		page_box(page, 16 + x, 92, 32, 8, 0x40b0f0) && work_wait(&drawing->work, 0) &&
		page_text(page, 1, "  %s", drawing->title) &&
		page_text(page, 3, "  picture %llu", (unsigned long long)drawing->picture) &&
		draw_edid(drawing, page) && page_show(page);
}

/* Draws until the host says a line. */
static bool draw_on(struct drawing *drawing, int port)
{
	uint64_t start = clk_ns(), said = 0, now;
	bool ok = true;

	do {
		ok = draw(drawing);
		now = clk_ns();
		if (ok && now - said >= SAY_NS) {
			say("picture %llu", (unsigned long long)drawing->picture);
			said = now;
		}
	} while (ok && !tell_over(port, start, 0, &ok));
	return ok;
}

static bool setup(struct drawing *drawing, struct vgpu_dev *dev)
{
	unsigned int i;

	drawing->dev = dev;
	if (!work_start(&drawing->work, dev, VGPU_RING_FB))
		return false;
	if (sample_load(dev, &sample_mandelbrot, &drawing->run))
		return failed("draw: %s", vgpu_dev_error(dev));
	drawing->run.launch.grid[0] = PAGE_WIDTH;
	drawing->run.launch.grid[1] = HEIGHT;
	for (i = 0; i < PAGES; i++) {
		if (!page_make(&drawing->page[i], &drawing->work))
			return false;
	}
	return true;
}

bool draw_run(struct vgpu_dev *dev, const struct options *options)
{
	static struct drawing drawing;
	unsigned int i;
	int port;
	bool ok;

	drawing.title = options->title ? options->title : "a guest";
	port = tell_open();
	if (port < 0 || !setup(&drawing, dev))
		return false;
	say("working: %u x %u pixels", PAGE_WIDTH, PAGE_HEIGHT);
	ok = draw_on(&drawing, port);
	if (ok) {
		say("still, picture %llu, EDID %08x", (unsigned long long)drawing.picture,
		    drawing.edid);
		ok = tell_wait(port, LOOK_S) && draw_on(&drawing, port);
	}
	ok = work_report(&drawing.work) && ok;
	if (ok)
		say("drawn: %llu pictures, EDID %08x", (unsigned long long)drawing.picture,
		    drawing.edid);
	for (i = 0; i < PAGES; i++)
		page_end(&drawing.page[i]);
	sample_unload(&drawing.run);
	work_stop(&drawing.work);
	return ok;
}
