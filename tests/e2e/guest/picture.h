/* SPDX-License-Identifier: GPL-2.0 */
/* The picture that guests draw and scripts/guest-screen expects, and checksums of pictures. */
#ifndef E2E_PICTURE_H
#define E2E_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The pixel at @x, @y, both below 4096. No two pixels of a picture are alike, so that not even
 * one can be at another's place. The host does not show the highest byte, which is not 0.
 */
static inline uint32_t picture_pixel(uint32_t x, uint32_t y, uint32_t seed)
{
	uint32_t high = (x >> 8 & 15) | (y >> 8 & 15) << 4;

	return 0xa5000000 | (((x & 255) << 16 | (y & 255) << 8 | high) ^ (seed & 0xffffff));
}

/* Draws it at @dst, whose rows are @pitch bytes apart, with another colour behind each row. */
void picture_draw(volatile uint8_t *dst, uint32_t width, uint32_t height, size_t pitch,
		  uint32_t seed);

/* Compares what is at @src with it. Returns the number of pixels that differ. */
uint32_t picture_differs(const volatile uint8_t *src, uint32_t width, uint32_t height,
			 size_t pitch, uint32_t seed);

/* CRC-32 as zlib has it, over pixels whose highest byte counts as 0. Starts with 0. */
uint32_t picture_crc(uint32_t crc, const uint32_t *pixel, size_t nr);

#endif /* E2E_PICTURE_H */
