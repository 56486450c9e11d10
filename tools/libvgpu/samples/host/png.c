// SPDX-License-Identifier: GPL-2.0
/* PNG files (RFC 2083), not compressed: deflate's stored blocks (RFC 1951). */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

#define BLOCK_MAX	65535u	/* bytes of a stored block */
#define ADLER		65521u

static uint32_t crc(uint32_t sum, const uint8_t *bytes, size_t nr)
{
	int bit;

	sum = ~sum;
	while (nr--) {
		sum ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

static uint32_t adler(const uint8_t *bytes, size_t nr)
{
	uint32_t a = 1, b = 0;

	while (nr--) {
		a = (a + *bytes++) % ADLER;
		b = (b + a) % ADLER;
	}
	return b << 16 | a;
}

static uint8_t *put_be32(uint8_t *to, uint32_t value)
{
	*to++ = (uint8_t)(value >> 24);
	*to++ = (uint8_t)(value >> 16);
	*to++ = (uint8_t)(value >> 8);
	*to++ = (uint8_t)value;
	return to;
}

static uint8_t *put_le16(uint8_t *to, uint32_t value)
{
	*to++ = (uint8_t)value;
	*to++ = (uint8_t)(value >> 8);
	return to;
}

/* A chunk's length, name, content and sum. @content is behind room for 8 bytes. */
static bool write_chunk(FILE *file, const char *name, uint8_t *content, size_t bytes)
{
	uint8_t *start = content - 8, sum[4];

	put_be32(start, (uint32_t)bytes);
	memcpy(start + 4, name, 4);
	put_be32(sum, crc(0, start + 4, bytes + 4));
	return fwrite(start, 1, bytes + 8, file) == bytes + 8 && fwrite(sum, 1, 4, file) == 4;
}

/* Each row begins with its filter, which is none; 3 bytes for each pixel. */
static void put_rows(uint8_t *to, const uint32_t *pixels, uint32_t width, uint32_t height)
{
	uint32_t x, y, pixel;

	for (y = 0; y < height; y++) {
		*to++ = 0;
		for (x = 0; x < width; x++) {
			pixel = *pixels++;
			*to++ = (uint8_t)(pixel >> 16);
			*to++ = (uint8_t)(pixel >> 8);
			*to++ = (uint8_t)pixel;
		}
	}
}

/* The rows as a zlib stream (RFC 1950). Returns its length. */
static size_t put_stream(uint8_t *start, const uint8_t *rows, size_t bytes)
{
	uint32_t sum = adler(rows, bytes), block;
	uint8_t *to = start;

	*to++ = 0x78;
	*to++ = 0x01;
	while (bytes) {
		block = bytes < BLOCK_MAX ? (uint32_t)bytes : BLOCK_MAX;
		bytes -= block;
		*to++ = !bytes;
		to = put_le16(to, block);
		to = put_le16(to, ~block);
		memcpy(to, rows, block);
		to += block;
		rows += block;
	}
	return (size_t)(put_be32(to, sum) - start);
}

static bool write_file(FILE *file, uint8_t *content, const uint8_t *rows, size_t bytes,
		       uint32_t width, uint32_t height)
{
	static const uint8_t magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	static const uint8_t form[5] = { 8, 2 }; /* 8 bits, red, green and blue */

	if (fwrite(magic, 1, sizeof(magic), file) != sizeof(magic))
		return false;
	memcpy(put_be32(put_be32(content, width), height), form, sizeof(form));
	return write_chunk(file, "IHDR", content, 8 + sizeof(form)) &&
		write_chunk(file, "IDAT", content, put_stream(content, rows, bytes)) &&
		write_chunk(file, "IEND", content, 0);
}

int png_write(const char *path, const uint32_t *pixels, uint32_t width, uint32_t height)
{
	size_t bytes = (size_t)height * (1 + 3 * (size_t)width);
	size_t room = bytes + bytes / BLOCK_MAX * 5 + 64;
	uint8_t *memory = malloc(bytes + room);
	FILE *file;
	int ret = 0;

	if (!memory)
		return -ENOMEM;
	put_rows(memory + room, pixels, width, height);
	errno = EIO;
	file = fopen(path, "we");
	if (!file || !write_file(file, memory + 8, memory + room, bytes, width, height))
		ret = -errno;
	if (file && fclose(file) && !ret)
		ret = -errno;
	free(memory);
	return ret;
}
