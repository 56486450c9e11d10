/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <errno.h>
#include <string.h>
#include <linux/types.h>

static inline ssize_t shim_strscpy(char *dst, const char *src, size_t size)
{
	size_t len = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (len == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = 0;
		return -E2BIG;
	}
	memcpy(dst, src, len + 1);
	return len;
}

#define strscpy(dst, src, ...) \
	shim_strscpy(dst, src, SHIM_SIZE(dst, ##__VA_ARGS__, sizeof(dst)))
#define SHIM_SIZE(dst, size, ...) \
	(sizeof(dst) ? (size) : 0)

static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *p = start;

	for (; bytes; bytes--, p++)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

#endif /* _SHIM_LINUX_STRING_H */
