/* SPDX-License-Identifier: GPL-2.0 */
/* The engines of a partition of a software GPU. */
#ifndef _VGPU_SOFT_PART_H
#define _VGPU_SOFT_PART_H

#include <linux/cpumask.h>

#include "../queue/engine.h"

struct dentry;
struct vgpu_partition;

/**
 * struct soft_part - a partition of a software GPU
 * @debugfs: its directory; of partition 0 that of the GPU
 * @cpus: the CPUs that its engines run on; empty: all CPUs; constant
 * @clock: its engines'; constant
 * @engine: the engines, by number
 */
struct soft_part {
	struct dentry *debugfs;
	struct cpumask cpus;
	struct vgpu_clock clock;
	struct soft_engine engine[SOFT_ENGINES];
};

extern const struct vgpu_engine_desc soft_engine_desc[SOFT_ENGINES];

void soft_part_place(struct soft_part *part, unsigned int gpu, const struct vgpu_partition *vgpu);
int soft_part_init(struct soft_part *part, unsigned int units, const char *name);
void soft_part_exit(struct soft_part *part);
void soft_part_debugfs(struct soft_part *part);

#endif /* _VGPU_SOFT_PART_H */
