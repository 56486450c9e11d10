/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A vGPU of the software GPU in one thread: its registers, display, queues, packets, programs and
 * address spaces are the driver's own files. Engines take turns, the worker does its requests when
 * they are over, and memory is checked: whoever leaves the framebuffer, or warns, dies.
 */
#ifndef VGPU_WORLD_H
#define VGPU_WORLD_H

#include <stdio.h>
#include <stdlib.h>

#include <linux/vgpu_record.h>

#define DIE_IF(condition)	do {					\
	if (condition) {						\
		fprintf(stderr, "%s:%d: " #condition "\n", __FILE__, __LINE__);	\
		abort();						\
	}								\
} while (0)

/* A new vGPU; what its guest has in memory depends on @seed. */
void vgpu_world_open(u64 seed);

/* The guest enables channels and submits packets of all types, at random. */
void vgpu_world_submit(u64 seed);

/* Each engine has that many turns. Requests to guest memory may be left under way. */
void vgpu_world_run(unsigned int turns);

/* The driver's save and load of all of it. */
void vgpu_world_save(struct vgpu_records *to);
int vgpu_world_load(const void *data, size_t bytes, struct vgpu_record_reader *from);

/* As after a load that has failed. */
void vgpu_world_reset(void);

/*
 * Of all worlds that are closed: struct soft_team.beside; and how often a section has stayed open
 * for another piece of the leader's.
 */
extern u64 vgpu_world_beside, vgpu_world_extended;

/* Whatever has happened, nothing is left. */
void vgpu_world_close(void);

/*
 * Loads a state that may be anything into a vGPU that has been at work. What is accepted is saved
 * as it is built, loaded again, and run. Returns whether it was accepted.
 */
bool vgpu_world_try(u64 seed, const void *data, size_t bytes);

/* Makes a state of a vGPU at work. */
void vgpu_world_make(u64 seed, struct vgpu_records *to);

#endif /* VGPU_WORLD_H */
