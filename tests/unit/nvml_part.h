/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of the driver of nvml_fake.h: partitions, by the driver's own rule for their places. They are
 * there if fake.divisible is set.
 */
#ifndef NVML_PART_H
#define NVML_PART_H

#include "core/objects/types.h"

#include "nvml_fake.h"

/* As another process does it. The number of the partition; 0: it does not fit. */
void fake_part_mode(unsigned int gpu, bool on);
uint32_t fake_part_new(unsigned int gpu, const char *profile, uint32_t start);
void fake_part_remove(unsigned int gpu, uint32_t id);

/* Is one removed after the next list of them was given? */
extern uint32_t fake_part_flees;

/* For nvml_fake.c, with its lock; fake_part_call() returns -ENOTTY if that is no call of these. */
void fake_part_reset(void);
unsigned int fake_part_room(unsigned int gpu, const struct vgpu_type *type);
void fake_part_gpu(struct vgpu_ctl_gpu *gpu);
int fake_part_call(unsigned long request, void *arg);

#endif /* NVML_PART_H */
