// SPDX-License-Identifier: GPL-2.0
#include "picture.h"

#define BEHIND	0x00ff00ffu	/* no picture has it at this place: the eye sees where it leaks */

void picture_draw(volatile uint8_t *dst, uint32_t width, uint32_t height, size_t pitch,
		  uint32_t seed)
{
	volatile uint32_t *row;
	uint32_t x, y;

	for (y = 0; y < height; y++) {
		row = (volatile uint32_t *)(dst + y * pitch);
		for (x = 0; x < width; x++)
			row[x] = picture_pixel(x, y, seed);
		for (; x < pitch / 4; x++)
			row[x] = BEHIND;
	}
}

uint32_t picture_differs(const volatile uint8_t *src, uint32_t width, uint32_t height,
			 size_t pitch, uint32_t seed)
{
	const volatile uint32_t *row;
	uint32_t x, y, nr = 0;

	for (y = 0; y < height; y++) {
		row = (const volatile uint32_t *)(src + y * pitch);
		for (x = 0; x < width; x++)
			nr += row[x] != picture_pixel(x, y, seed);
	}
	return nr;
}

static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
	int bit;

	crc ^= byte;
	for (bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	return crc;
}

uint32_t picture_crc(uint32_t crc, const uint32_t *pixel, size_t nr)
{
	static uint32_t table[256];
	unsigned int i, byte;

	if (!table[1]) {
		for (i = 0; i < 256; i++)
			table[i] = crc_byte(0, (uint8_t)i);
	}
	crc = ~crc;
	for (; nr; nr--, pixel++) {
		for (byte = 0; byte < 4; byte++)
			crc = table[(crc ^ (*pixel & 0xffffff) >> 8 * byte) & 255] ^ crc >> 8;
	}
	return ~crc;
}
