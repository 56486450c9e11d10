// SPDX-License-Identifier: GPL-2.0
/* Samples that make a picture. */
#include "../blur.h"
#include "../mandelbrot.h"
#include "samples.h"

#define WIDTH		(640 >> SAMPLES_HALVED)
#define HEIGHT		(480 >> SAMPLES_HALVED)
#define PIXELS		(WIDTH * HEIGHT)

static void mandelbrot_prepare(void *memory, uint64_t address, void *args)
{
	(void)memory;
	*(struct mandelbrot_args *)args = (struct mandelbrot_args) {
		.pixels = (uint32_t *)(uintptr_t)address,
		.width = WIDTH,
		.limit = 64,
		.left = -2.25f,
		.top = -1.125f,
		.step = 3.0f / WIDTH,
	};
}

static void mandelbrot_native(const void *args)
{
	uint32_t x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			mandelbrot_item(args, x, y);
}

const struct sample sample_mandelbrot = {
	.name = "mandelbrot",
	.brief = "a picture of the Mandelbrot set",
	.grid = { WIDTH, HEIGHT, 1 },
	.group = { 32, 8, 1 },
	.bytes = PIXELS * sizeof(uint32_t),
	.has_picture = true,
	.work = PIXELS,
	.unit = "pixels",
	.prepare = mandelbrot_prepare,
	.native = mandelbrot_native,
};

/* Squares and stripes of many colours, with edges that a blur softens. */
static void blur_prepare(void *memory, uint64_t address, void *args)
{
	uint32_t *pixels = memory, x, y;

	*(struct blur_args *)args = (struct blur_args) {
		.from = (uint32_t *)(uintptr_t)address,
		.to = (uint32_t *)(uintptr_t)address + PIXELS,
		.width = WIDTH,
		.height = HEIGHT,
	};
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			pixels[y * WIDTH + x] = (x / 16 ^ y / 16) & 1 ? 0xf0f0f0 :
				(x * 255 / WIDTH) << 16 | (y * 255 / HEIGHT) << 8 |
				((x + y) / 8 % 2 * 0xff);
}

static void blur_native(const void *args)
{
	int32_t x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			blur_item(args, x, y);
}

const struct sample sample_blur = {
	.name = "blur",
	.brief = "a picture, blurred with 5 x 5 weights",
	.grid = { WIDTH, HEIGHT, 1 },
	.group = { 32, 8, 1 },
	.bytes = 2 * PIXELS * sizeof(uint32_t),
	.picture_at = PIXELS * sizeof(uint32_t),
	.has_picture = true,
	.work = PIXELS,
	.unit = "pixels",
	.prepare = blur_prepare,
	.native = blur_native,
};
