// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <linux/vgpu.h>

#include "uuid.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool uuid_parse(const char *text, uint8_t *uuid)
{
	uint8_t bytes[VGPU_UUID_LEN];
	int high, low;
	size_t i;

	if (strlen(text) != UUID_TEXT_LEN - 1)
		return false;
	for (i = 0; i < VGPU_UUID_LEN; i++) {
		if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
			return false;
		high = hex_digit(text[0]);
		if (high < 0)
			return false;
		low = hex_digit(text[1]);
		if (low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
		text += 2;
	}
	memcpy(uuid, bytes, sizeof(bytes));
	return true;
}

const char *uuid_format(const uint8_t *uuid, char *text)
{
	static const char digits[] = "0123456789abcdef";
	char *to = text;
	size_t i;

	for (i = 0; i < VGPU_UUID_LEN; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = digits[uuid[i] >> 4];
		*to++ = digits[uuid[i] & 0xf];
	}
	*to = 0;
	return text;
}

int uuid_random(uint8_t *uuid)
{
	if (getrandom(uuid, VGPU_UUID_LEN, 0) != VGPU_UUID_LEN)
		return errno ? -errno : -EIO;
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
	return 0;
}

bool uuid_is_nil(const uint8_t *uuid)
{
	static const uint8_t nil[VGPU_UUID_LEN];

	return !memcmp(uuid, nil, sizeof(nil));
}
