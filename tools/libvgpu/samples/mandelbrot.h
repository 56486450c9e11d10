/* SPDX-License-Identifier: GPL-2.0 */
/* A picture of the Mandelbrot set: of each pixel how often it was iterated, as a colour. */
#ifndef SAMPLE_MANDELBROT_H
#define SAMPLE_MANDELBROT_H

#include <stdint.h>

/**
 * struct mandelbrot_args - arguments
 * @pixels: XRGB8888, row after row
 * @width:  pixels of a row
 * @limit:  iterations after which a point counts as one of the set
 * @left:   real part of the first column
 * @top:    imaginary part of the first row
 * @step:   from pixel to pixel
 */
struct mandelbrot_args {
	uint32_t *pixels;
	uint32_t width;
	uint32_t limit;
	float left;
	float top;
	float step;
};

static inline void mandelbrot_item(const struct mandelbrot_args *args, uint32_t x, uint32_t y)
{
	float re = args->left + args->step * (float)x, im = args->top + args->step * (float)y;
	float a = 0, b = 0, aa = 0, bb = 0;
	uint32_t i, limit = args->limit;

	for (i = 0; i < limit && aa + bb <= 4; i++) {
		b = 2 * a * b + im;
		a = aa - bb + re;
		aa = a * a;
		bb = b * b;
	}
	args->pixels[y * args->width + x] = i == limit ? 0 :
		(i * 7 & 0xff) << 16 | (i * 5 & 0xff) << 8 | (i * 11 & 0xff);
}

#endif /* SAMPLE_MANDELBROT_H */
