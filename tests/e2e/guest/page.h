/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of 640 x 480 pixels that the engines draw: fills are boxes, copies bring text, a line at a
 * time.
 */
#ifndef E2E_PAGE_H
#define E2E_PAGE_H

#include "guest.h"

#define PAGE_WIDTH	640u
#define PAGE_HEIGHT	480u
#define PAGE_PITCH	(4 * PAGE_WIDTH)
#define PAGE_LINE	16u	/* rows of a line of text */

#define PAGE_PAPER	0x101820u
#define PAGE_INK	0xf0f0f0u

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

/* Functions that return false have printed what is wrong. */
bool page_make(struct page *page, struct work *work);
void page_end(struct page *page);

bool page_box(struct page *page, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
	      uint32_t colour);
/* Nothing is left of what was there; waits until that is done. */
bool page_clear(struct page *page);
/* Writes a text into the line @row, all of which it takes; waits until that is done. */
__attribute__((format(printf, 3, 4)))
bool page_text(struct page *page, uint32_t row, const char *fmt, ...);
/* Shows the page when all that gr has to draw is drawn; waits until that is done. */
bool page_show(struct page *page);

#endif /* E2E_PAGE_H */
