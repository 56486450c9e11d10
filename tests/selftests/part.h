/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Partitions of the GPU. part_try*() return 0 or a negative errno; all others fail the test if the
 * driver refuses. Each checks that the driver says why it refuses, and says nothing else.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stdint.h>

#include "fixture.h"

#define PART_MANY	7	/* there are no more partitions at a time */

/* Why the last part_try*() was refused; empty if it was not. */
extern char part_refusal[VGPU_TEXT_LEN];

/* part_mode() skips the test if the GPU cannot be divided. */
int part_try_mode(uint32_t mode);
void part_mode(bool on);

/* The index of a profile by its name; the test fails if the GPU has none. */
uint32_t part_profile(const char *name);

/* @start: the eighth, or VGPU_PARTITION_ANYWHERE; @id: set to the new partition's number. */
int part_try_new(const char *profile, uint32_t start, uint32_t *id);
uint32_t part_new(const char *profile, uint32_t start);

int part_try_remove(uint32_t id);
void part_remove(uint32_t id);

/* The numbers of all partitions; returns how many there are. */
unsigned int part_list(uint32_t ids[PART_MANY]);

int part_try_read(uint32_t id, struct vgpu_ctl_partition *part);
void part_read(uint32_t id, struct vgpu_ctl_partition *part);

/* The number of the partition of that profile at that eighth; 0: there is none. */
uint32_t part_at(const char *profile, uint32_t start);

/* The partition that a vGPU lives in. */
uint32_t part_of(const struct fx_vgpu *vgpu);

/* For KTAP_MAIN(): fx_cleanup(), and the GPU is not divided. */
void part_cleanup(void);

#endif /* PART_H */
