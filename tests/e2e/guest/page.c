// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "page.h"

#define GLYPH_WIDTH	8u
#define LINE_BYTES	(PAGE_LINE * PAGE_PITCH)
#define COLUMNS		(PAGE_WIDTH / GLYPH_WIDTH)

static const uint8_t font[256 * PAGE_LINE] = {
#include "font8x16.inc"
};

bool page_make(struct page *page, struct work *work)
{
	struct vgpu_dev *dev = work->dev;

	*page = (struct page){ .work = work };
	if (vgpu_fb_alloc(dev, PAGE_HEIGHT * PAGE_PITCH, MIB, &page->at) ||
	    vgpu_buf_alloc(dev, LINE_BYTES, &page->line))
		return failed("memory: %s", vgpu_dev_error(dev));
	return true;
}

void page_end(struct page *page)
{
	vgpu_buf_free(&page->line);
}

bool page_box(struct page *page, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
	      uint32_t colour)
{
	return work_fill2d(page->work, 0, page->at + y * PAGE_PITCH + 4 * x, PAGE_PITCH, colour,
			   4 * width, height);
}

bool page_clear(struct page *page)
{
	return page_box(page, 0, 0, PAGE_WIDTH, PAGE_HEIGHT, PAGE_PAPER) &&
		work_wait(page->work, 0);
}

bool page_text(struct page *page, uint32_t row, const char *fmt, ...)
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
	for (y = 0; y < PAGE_LINE; y++) {
		for (x = 0; x < PAGE_WIDTH; x++) {
			bits = font[(uint8_t)words[x / GLYPH_WIDTH] * PAGE_LINE + y];
			pixel[y * PAGE_WIDTH + x] = bits << x % GLYPH_WIDTH & 0x80 ? PAGE_INK :
				PAGE_PAPER;
		}
	}
	return work_copy(work, work->nr - 1, VGPU_FB(page->at + row * LINE_BYTES),
			 VGPU_SYS(&page->line, 0), LINE_BYTES) && work_wait(work, work->nr - 1);
}

bool page_show(struct page *page)
{
	struct work *work = page->work;

	if (vgpu_chan_present(work->chan[0], page->at, PAGE_WIDTH, PAGE_HEIGHT, PAGE_PITCH))
		return failed("present: %s", vgpu_dev_error(work->dev));
	return work_wait(work, 0);
}
