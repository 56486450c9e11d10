/* SPDX-License-Identifier: GPL-2.0 */
/* Programs in the framebuffer of a vGPU, for channels without an address space. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <stdint.h>

#include <libvgpu.h>

#include "programs.h"

/**
 * struct place - a program in the framebuffer
 * @dev:    the vGPU. This and the following, up to @slots, are set by the caller
 * @items:  work-items, all in one group
 * @pages:  pages of PROGRAM_PATTERN: a power of two, or 0
 * @slots:  dispatches that may be under way, each of which leaves numbers of its own
 * @head:   offset of the struct vgpu_hw_program
 * @args:   offset of the arguments of all slots
 * @out:    offset of the numbers of all slots
 * @memory: offset of the pages
 */
struct place {
	struct vgpu_dev *dev;
	uint32_t items;
	uint32_t pages;
	uint32_t slots;
	uint64_t head;
	uint64_t args;
	uint64_t out;
	uint64_t memory;
};

/* Takes framebuffer for all of this, and fills it. Ends the process if there is no room. */
void place_program(struct place *place, const struct program *program);

/* A DISPATCH of the program, for that many rounds. */
struct vgpu_hw_packet place_packet(struct place *place, uint32_t slot, uint64_t rounds);

/* The numbers of a slot. */
uint64_t *place_out(const struct place *place, uint32_t slot);

#endif /* BENCH_PLACE_H */
