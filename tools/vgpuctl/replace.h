/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VGPUCTL_REPLACE_H
#define VGPUCTL_REPLACE_H

#include <stdio.h>
#include <sys/types.h>

#include "message.h"

/*
 * Writes a new file in the place of @path: who reads it finds the old one or the new, whatever goes
 * wrong. What is in it is up to @write.
 */
enum exit_code replace_file(const char *path, mode_t mode,
			    void (*write)(FILE *out, const void *arg), const void *arg);

#endif /* VGPUCTL_REPLACE_H */
