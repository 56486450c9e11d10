// SPDX-License-Identifier: GPL-2.0
/* A picture of what a guest has computed. */
#include "page.h"

#define FLOOR		384u	/* row on which the bars stand */
#define CEILING		128u	/* row that the longest bar reaches */

/* A bar per second, and a box per digit of the checksum, whose colour the digit is. */
static bool draw_bars(struct page *page, const struct chart *chart)
{
	uint32_t width = (PAGE_WIDTH - 32) / (chart->bars ? chart->bars : 1), i, rows, colour;
	uint64_t most = 1;

	if (width > 64)
		width = 64;
	for (i = 0; i < chart->bars; i++)
		most = chart->bytes[i] > most ? chart->bytes[i] : most;
	for (i = 0; i < chart->bars; i++) {
		rows = (uint32_t)(chart->bytes[i] * (FLOOR - CEILING) / most);
		if (rows && width > 2 &&
		    !page_box(page, 16 + i * width, FLOOR - rows, width - 2, rows, 0x40b0f0))
			return false;
	}
	for (i = 0; i < 16; i++) {
		colour = (uint32_t)(chart->sum >> (60 - 4 * i) & 15);
		colour = (colour & 8 ? 0x303030 : 0) + (colour & 4 ? 0xc00000 : 0) +
			(colour & 2 ? 0x00c000 : 0) + (colour & 1 ? 0x0000c0 : 0);
		if (!page_box(page, 16 + 32 * i, 432, 28, 28, colour))
			return false;
	}
	return page_box(page, 16, FLOOR, PAGE_WIDTH - 32, 2, PAGE_INK);
}

static bool draw(struct page *page, const struct chart *chart)
{
	struct vgpu_dev *dev = page->work->dev;
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < chart->bars; i++)
		all += chart->bytes[i];
	return page_clear(page) &&
		page_text(page, 1, "  %s", chart->title) &&
		page_text(page, 2, "  %s: %llu MiB, %u channels, %u engines", dev->name,
			  (unsigned long long)(dev->fb_bytes / MIB), dev->channels, dev->engines) &&
		page_text(page, 4, "  %llu rounds, %llu MiB filled and copied",
			  (unsigned long long)chart->rounds, (unsigned long long)(all / MIB)) &&
		page_text(page, 6, "  MiB written, second by second:") &&
		page_text(page, 25, "  checksum %016llx", (unsigned long long)chart->sum) &&
		draw_bars(page, chart) && work_wait(page->work, 0);
}

bool chart_show(struct work *work, const struct chart *chart)
{
	struct page page;
	bool ok;

	if (!page_make(&page, work))
		return false;
	ok = draw(&page, chart) && page_show(&page);
	page_end(&page);
	return ok;
}
