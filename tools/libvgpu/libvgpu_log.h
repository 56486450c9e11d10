/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: what work-items print, by vgpu_printf() of vgpu_device.h. */
#ifndef LIBVGPU_LOG_H
#define LIBVGPU_LOG_H

#include <stdio.h>

#include "libvgpu_elf.h"
#include "libvgpu_mem.h"

#define VGPU_LOG_WORDS	65536	/* of 8 bytes; a power of two */
#define VGPU_LOG_BYTES	((VGPU_LOG_WORDS + 4) * 8ull) /* with its head */

/*
 * Takes framebuffer for a log, VGPU_LOG_BYTES, whose offset is the value of an argument of the type
 * log.
 */
int vgpu_log_alloc(struct vgpu_dev *dev, uint64_t *offset);

/*
 * Prints to @out what is complete in the log, also while work-items go on writing. @elf has the
 * formats. Returns the number of records, which are some hundreds at most; 0: there are no more.
 * *@lost is how many there was no room for until now.
 */
unsigned int vgpu_log_print(struct vgpu_dev *dev, uint64_t offset, const struct vgpu_elf *elf,
			    FILE *out, uint64_t *lost);

/* Prints one record, of @nr arguments, with the format @format. */
void vgpu_log_format(const struct vgpu_elf *elf, const char *format, const uint64_t *arg,
		     unsigned int nr, FILE *out);

#endif /* LIBVGPU_LOG_H */
