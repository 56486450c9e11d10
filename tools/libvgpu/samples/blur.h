/* SPDX-License-Identifier: GPL-2.0 */
/* A picture blurred: each pixel becomes a mean of the 5 x 5 around it, weighted by a binomial. */
#ifndef SAMPLE_BLUR_H
#define SAMPLE_BLUR_H

#include <stdint.h>

/**
 * struct blur_args - arguments
 * @from:   XRGB8888, row after row
 * @to:     the same, blurred
 * @width:  pixels of a row
 * @height: rows
 */
struct blur_args {
	const uint32_t *from;
	uint32_t *to;
	int32_t width;
	int32_t height;
};

static inline int32_t blur_inside(int32_t at, int32_t end)
{
	return at < 0 ? 0 : at >= end ? end - 1 : at;
}

static inline void blur_item(const struct blur_args *args, int32_t x, int32_t y)
{
	static const uint8_t weight[5] = { 1, 4, 6, 4, 1 };
	uint32_t red = 0, green = 0, blue = 0, pixel, share;
	const uint32_t *row;
	int32_t i, k;

	for (i = 0; i < 5; i++) {
		row = args->from + blur_inside(y + i - 2, args->height) * args->width;
		for (k = 0; k < 5; k++) {
			pixel = row[blur_inside(x + k - 2, args->width)];
			share = (uint32_t)weight[i] * weight[k];
			red += share * (pixel >> 16 & 0xff);
			green += share * (pixel >> 8 & 0xff);
			blue += share * (pixel & 0xff);
		}
	}
	/* The weights of a row are 16 in all. */
	args->to[y * args->width + x] = red / 256 << 16 | green / 256 << 8 | blue / 256;
}

#endif /* SAMPLE_BLUR_H */
