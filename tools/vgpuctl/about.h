/* SPDX-License-Identifier: GPL-2.0 */
/* What a vGPU is for a move (struct vgpu_stream_about), as the tool shows it and reads it back. */
#ifndef VGPUCTL_ABOUT_H
#define VGPUCTL_ABOUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/vgpu.h>

#include "json.h"
#include "message.h"

#define ABOUT_MAX	0x100000	/* bytes that are read, and that a driver takes */

/**
 * struct about - a description, perhaps of a later version than this tool knows
 * @bytes: it; allocated
 * @nr:    their number, at least 1
 */
struct about {
	uint8_t *bytes;
	size_t nr;
};

/*
 * Reads a description out of @path, or out of standard input if that is "-": the JSON of "migration
 * show", or the stream of a vGPU that was saved, of which only the first frame counts. about_free()
 * is the caller's if it returns EXIT_OK; else it has said what is wrong.
 */
enum exit_code about_read(const char *path, struct about *about);
void about_free(struct about *about);

/* Adds the keys, or prints the lines, of what it says. */
void about_json(struct json *json, const struct about *about);
void about_print(int width, const struct about *about);

#endif /* VGPUCTL_ABOUT_H */
