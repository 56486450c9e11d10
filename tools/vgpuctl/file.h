/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VGPUCTL_FILE_H
#define VGPUCTL_FILE_H

#include <stdio.h>
#include <sys/types.h>

#include "message.h"

/*
 * Writes a new file in the place of @path: who reads it finds the old one or the new, whatever goes
 * wrong. What is in it is up to @write.
 */
enum exit_code file_replace(const char *path, mode_t mode,
			    void (*write)(FILE *out, const void *arg), const void *arg);

#endif /* VGPUCTL_FILE_H */
