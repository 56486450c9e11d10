/* SPDX-License-Identifier: GPL-2.0 */
/* What vgpuctl reads and writes in sysfs, and reads in proc. */
#ifndef VGPUCTL_SYSFS_H
#define VGPUCTL_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Create and remove an mdev; return 0 or a negative errno. */
int sysfs_create(const char *address, const char *type_id, const char *uuid);
int sysfs_remove(const char *uuid);

/* false: the vGPU is being removed already, or gone. */
bool sysfs_can_remove(const char *uuid);

/* Does mdevctl have a definition of this vGPU? */
bool sysfs_mdevctl_defines(const uint8_t *uuid);

/*
 * Writes the names of all policies, separated by blanks; an empty text if the driver is not loaded.
 */
void sysfs_policies(char *text, size_t room);

/* The value of a parameter of the module, which is a number; 0 if it cannot be read. */
uint64_t sysfs_parameter(const char *name);

#endif /* VGPUCTL_SYSFS_H */
