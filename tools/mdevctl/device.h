/* SPDX-License-Identifier: GPL-2.0 */
/* What sysfs has of a vGPU, and of the GPU that it is or will be on. */
#ifndef VGPU_MDEVCTL_DEVICE_H
#define VGPU_MDEVCTL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"

/* Can the text be the name of a directory in sysfs? Longer ones than @room take are none. */
bool device_is_name(const char *text);

/* Is a type one of this driver's, on the GPU @parent or, while that is not there, by its name? */
bool device_is_ours(const char *type, const char *parent);

/* Is there an mdev of this UUID? */
bool device_exists(const char *uuid);

/*
 * Whether the mdev @uuid is there, on the GPU @parent and of the type @type. If not, @why, of
 * CONFIG_WHY bytes, says what is wrong.
 */
bool device_check(const char *uuid, const char *parent, const char *type, char *why);

/* Reads an attribute of the mdev. If there is none, returns false. */
bool device_read(const char *uuid, const char *attr, char *value, size_t room);

/* Makes udev, and all who listen to it, look at the mdev again. */
void device_changed(const char *uuid);

#endif /* VGPU_MDEVCTL_DEVICE_H */
