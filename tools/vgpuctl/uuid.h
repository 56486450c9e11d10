/* SPDX-License-Identifier: GPL-2.0 */
/* UUIDs: libuuid's, 16 bytes in the order of RFC 9562. */
#ifndef VGPUCTL_UUID_H
#define VGPUCTL_UUID_H

#include <stdint.h>

#include <uuid/uuid.h>

/* Writes UUID_STR_LEN bytes to @text and returns it. */
static inline const char *uuid_format(const uint8_t *uuid, char *text)
{
	uuid_unparse_lower(uuid, text);
	return text;
}

#endif /* VGPUCTL_UUID_H */
