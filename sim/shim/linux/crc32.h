/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_CRC32_H
#define _SHIM_LINUX_CRC32_H

#include <linux/types.h>

/* Bit by bit: an independent reading of the polynomial. */
static inline u32 crc32c(u32 crc, const void *data, size_t length)
{
	const u8 *at = data;
	unsigned int bit;

	while (length--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

#endif /* _SHIM_LINUX_CRC32_H */
