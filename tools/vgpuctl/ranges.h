/* SPDX-License-Identifier: GPL-2.0 */
/* What a GPU's framebuffer is used for, from its start to its end. Pure logic. */
#ifndef VGPUCTL_RANGES_H
#define VGPUCTL_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define RANGE_FREE	(-1)

/**
 * struct range - a part of the framebuffer
 * @start_gb: where it starts, in GiB
 * @size_gb:  how long it is, in GiB
 * @owner:    the vGPU that has it, as a number of the caller's; RANGE_FREE: nobody
 */
struct range {
	uint32_t start_gb;
	uint32_t size_gb;
	int owner;
};

/*
 * Sorts the @nr ranges that have an owner, and adds those that are free in a framebuffer of
 * @region_gb. There is room for 2 * @nr + 1. Returns how many there are then.
 */
size_t ranges_fill(struct range *ranges, size_t nr, uint32_t region_gb);

/*
 * Cuts the range that is free at @at in two there, if there is one and it does not begin there.
 * There is room for one more. Returns how many there are then.
 */
size_t ranges_cut(struct range *ranges, size_t nr, uint32_t at_gb);

/* The character that stands for an owner: A to Z, then a to z, then '#'; '.' for RANGE_FREE. */
char ranges_mark(int owner);

/*
 * Draws the framebuffer in a line of @width characters, each of which has the mark of what is in
 * the middle of its part. @line has room for these and a 0.
 */
void ranges_draw(const struct range *ranges, size_t nr, uint32_t region_gb, char *line,
		 size_t width);

/* Draws a bracket over a range into a line of @width characters, with as much of @name as fits. */
void ranges_bracket(uint32_t start_gb, uint32_t size_gb, uint32_t region_gb, const char *name,
		    char *line, size_t width);

#endif /* VGPUCTL_RANGES_H */
