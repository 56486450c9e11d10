// SPDX-License-Identifier: GPL-2.0
/*
 * A picture of what a guest has computed. The engines draw it: fills are bars and boxes, copies
 * bring text, a line at a time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"

#define WIDTH		640u
#define HEIGHT		480u
#define PITCH		(4 * WIDTH)
#define GLYPH_WIDTH	8u
#define GLYPH_HEIGHT	16u
#define LINE_BYTES	(GLYPH_HEIGHT * PITCH)
#define COLUMNS		(WIDTH / GLYPH_WIDTH)

#define PAPER		0x101820u
#define INK		0xf0f0f0u
#define FLOOR		384u	/* row on which the bars stand */
#define CEILING		128u	/* row that the longest bar reaches */

static const uint8_t font[256 * GLYPH_HEIGHT] = {
#include "font8x16.inc"
};

/**
 * struct page - a picture that is drawn
 * @work: the channels; 0 is of gr, the last is of a copy engine
 * @at:   offset of the surface in the framebuffer
 * @line: guest memory with a line of text
 */
struct page {
	struct work *work;
	uint64_t at;
	struct vgpu_buf line;
};

static bool box(struct page *page, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
		uint32_t colour)
{
	return work_fill2d(page->work, 0, page->at + y * PITCH + 4 * x, PITCH, colour, 4 * width,
			   height);
}

/* Writes a text into the line @row. */
__attribute__((format(printf, 3, 4)))
static bool text(struct page *page, uint32_t row, const char *fmt, ...)
{
	struct work *work = page->work;
	uint32_t *pixel = page->line.ptr;
	char words[COLUMNS + 1] = "";
	va_list args;
	uint8_t bits;
	uint32_t x, y;

	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	memset(words + strlen(words), ' ', COLUMNS - strlen(words));
	for (y = 0; y < GLYPH_HEIGHT; y++) {
		for (x = 0; x < WIDTH; x++) {
			bits = font[(uint8_t)words[x / GLYPH_WIDTH] * GLYPH_HEIGHT + y];
			pixel[y * WIDTH + x] = bits << x % GLYPH_WIDTH & 0x80 ? INK : PAPER;
		}
	}
	return work_copy(work, work->nr - 1, VGPU_FB(page->at + row * LINE_BYTES),
			 VGPU_SYS(&page->line, 0), LINE_BYTES) && work_wait(work, work->nr - 1);
}

/* A bar per second, and a box per digit of the checksum, whose colour the digit is. */
static bool draw_bars(struct page *page, const struct chart *chart)
{
	uint32_t width = (WIDTH - 32) / (chart->bars ? chart->bars : 1), i, rows, colour;
	uint64_t most = 1;

	if (width > 64)
		width = 64;
	for (i = 0; i < chart->bars; i++)
		most = chart->bytes[i] > most ? chart->bytes[i] : most;
	for (i = 0; i < chart->bars; i++) {
		rows = (uint32_t)(chart->bytes[i] * (FLOOR - CEILING) / most);
		if (rows && width > 2 &&
		    !box(page, 16 + i * width, FLOOR - rows, width - 2, rows, 0x40b0f0))
			return false;
	}
	for (i = 0; i < 16; i++) {
		colour = (uint32_t)(chart->sum >> (60 - 4 * i) & 15);
		colour = (colour & 8 ? 0x303030 : 0) + (colour & 4 ? 0xc00000 : 0) +
			(colour & 2 ? 0x00c000 : 0) + (colour & 1 ? 0x0000c0 : 0);
		if (!box(page, 16 + 32 * i, 432, 28, 28, colour))
			return false;
	}
	return box(page, 16, FLOOR, WIDTH - 32, 2, INK);
}

static bool draw(struct page *page, const struct chart *chart)
{
	struct vgpu_dev *dev = page->work->dev;
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < chart->bars; i++)
		all += chart->bytes[i];
	return box(page, 0, 0, WIDTH, HEIGHT, PAPER) && work_wait(page->work, 0) &&
		text(page, 1, "  %s", chart->title) &&
		text(page, 2, "  %s: %llu MiB, %u channels, %u engines", dev->name,
		     (unsigned long long)(dev->fb_bytes / MIB), dev->channels, dev->engines) &&
		text(page, 4, "  %llu rounds, %llu MiB filled and copied",
		     (unsigned long long)chart->rounds, (unsigned long long)(all / MIB)) &&
		text(page, 6, "  MiB written, second by second:") &&
		text(page, 25, "  checksum %016llx", (unsigned long long)chart->sum) &&
		draw_bars(page, chart) && work_wait(page->work, 0);
}

bool chart_show(struct work *work, const struct chart *chart)
{
	struct page page = { .work = work };
	struct vgpu_dev *dev = work->dev;
	bool ok;

	if (vgpu_fb_alloc(dev, HEIGHT * PITCH, MIB, &page.at) ||
	    vgpu_buf_alloc(dev, LINE_BYTES, &page.line))
		return failed("memory: %s", vgpu_dev_error(dev));
	ok = draw(&page, chart);
	vgpu_buf_free(&page.line);
	if (!ok)
		return false;
	if (vgpu_chan_present(work->chan[0], page.at, WIDTH, HEIGHT, PITCH))
		return failed("present: %s", vgpu_dev_error(dev));
	return work_wait(work, 0);
}
