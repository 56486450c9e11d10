/* SPDX-License-Identifier: GPL-2.0 */
/* UUIDs as text and as 16 bytes in the order of RFC 9562; used by vgpuctl and the tests. */
#ifndef VGPUCTL_UUID_H
#define VGPUCTL_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/vgpu.h>

#define UUID_TEXT_LEN	37	/* with the terminating 0 */

bool uuid_parse(const char *text, uint8_t *uuid);

/* @text has room for UUID_TEXT_LEN bytes, and is what is returned. */
const char *uuid_format(const uint8_t *uuid, char *text);

/* A UUID of version 4; 0 or a negative errno. */
int uuid_random(uint8_t *uuid);

bool uuid_is_nil(const uint8_t *uuid);

#endif /* VGPUCTL_UUID_H */
