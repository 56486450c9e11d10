/* SPDX-License-Identifier: GPL-2.0 */
/* UUIDs: text, and 16 bytes in the order of RFC 9562. */
#ifndef VGPUCTL_UUID_H
#define VGPUCTL_UUID_H

#include <stdbool.h>
#include <stdint.h>

#define UUID_TEXT_LEN	37	/* with the 0 at the end */

/* Reads the 36 characters of a UUID. Returns false if @text is none. */
bool uuid_parse(const char *text, uint8_t *uuid);

/* Writes UUID_TEXT_LEN bytes to @text and returns it. */
const char *uuid_format(const uint8_t *uuid, char *text);

/* Makes a random UUID (version 4). Returns 0 or a negative errno. */
int uuid_random(uint8_t *uuid);

/* Are all bytes of the UUID 0? */
bool uuid_is_nil(const uint8_t *uuid);

#endif /* VGPUCTL_UUID_H */
