/* SPDX-License-Identifier: GPL-2.0 */
/* Texts that somebody else has written, for messages: on one line, and nothing for a terminal. */
#ifndef VGPU_MDEVCTL_QUOTE_H
#define VGPU_MDEVCTL_QUOTE_H

#include <stdio.h>

/* Writes @text to @quoted in quotes, as C would write it, and returns @quoted. */
static inline const char *quote(const char *text, char *quoted, size_t room)
{
	size_t length = 1;

	quoted[0] = '"';
	for (; *text && length + 7 < room; text++) {
		if (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\')
			quoted[length++] = *text;
		else
			length += (size_t)sprintf(quoted + length, "\\x%02x",
						  (unsigned char)*text);
	}
	sprintf(quoted + length, "%s\"", *text ? "..." : "");
	return quoted;
}

#endif /* VGPU_MDEVCTL_QUOTE_H */
