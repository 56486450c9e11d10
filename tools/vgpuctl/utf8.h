/* SPDX-License-Identifier: GPL-2.0 */
/* UTF-8 in texts that others chose, names of processes for one. */
#ifndef VGPUCTL_UTF8_H
#define VGPUCTL_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD, in the place of what is none */

/* Length of the UTF-8 sequence at @s (RFC 3629), or 0 if there is no valid one. */
static inline size_t utf8_length(const unsigned char *s, size_t room)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n > room)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

/*
 * The same, but 0 for control characters too: a terminal obeys them, among them DEL and U+0080 to
 * U+009F.
 */
static inline size_t utf8_shown_length(const unsigned char *s, size_t room)
{
	size_t n = utf8_length(s, room);

	return s[0] < ' ' || s[0] == 0x7f || (n && s[0] == 0xc2 && s[1] < 0xa0) ? 0 : n;
}

#endif /* VGPUCTL_UTF8_H */
