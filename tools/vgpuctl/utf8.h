/* SPDX-License-Identifier: GPL-2.0 */
/* UTF-8 in texts that others chose, names of processes for one. */
#ifndef VGPUCTL_UTF8_H
#define VGPUCTL_UTF8_H

#include <stdbool.h>
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
 * Does the sequence of @n bytes end a line, or change the direction in which the rest of it is
 * shown? U+061C, U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069.
 */
static inline bool utf8_turns(const unsigned char *s, size_t n)
{
	if (n == 2)
		return s[0] == 0xd8 && s[1] == 0x9c;
	if (n != 3 || s[0] != 0xe2)
		return false;
	if (s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae);
	return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

/*
 * As utf8_length(), but 0 also for what changes more than its own place on a terminal: control
 * characters, among them DEL and U+0080 to U+009F, and what utf8_turns() names, which would show
 * the digits of the next column the other way round.
 */
static inline size_t utf8_shown_length(const unsigned char *s, size_t room)
{
	size_t n = utf8_length(s, room);

	if (s[0] < ' ' || s[0] == 0x7f || (n && s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	return utf8_turns(s, n) ? 0 : n;
}

#endif /* VGPUCTL_UTF8_H */
