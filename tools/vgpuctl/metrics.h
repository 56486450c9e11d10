/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All figures of the driver as text for Prometheus. Pure: what was read of the driver goes in, text
 * comes out.
 */
#ifndef VGPUCTL_METRICS_H
#define VGPUCTL_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/vgpu.h>

#include "guest.h"

/* Of no more processes in a guest there are samples of their own. */
#define METRICS_GUEST_PROCESSES	16

/**
 * struct metrics_gpu - a GPU and its vGPUs at one time, and its partitions right after that
 * @gpu:   the GPU
 * @stats: what its engines did; of @stats.count vGPUs
 * @inst:  the vGPUs
 * @guest: of each of them what its guest says
 * @type:  the @gpu.types types
 * @part:  the @nr_parts partitions, in the order of their numbers
 */
struct metrics_gpu {
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_stats stats;
	struct vgpu_ctl_instance *inst;
	struct guest *guest;
	struct vgpu_ctl_type *type;
	struct vgpu_ctl_partition *part;
	uint32_t nr_parts;
};

/**
 * struct metrics - all that is told
 * @up:      the driver could be read; if not there is nothing else
 * @version: the driver's
 * @gpu:     GPUs
 * @nr_gpus: their number
 * @no_guests: what guests say is not read: all elements of guest[] are 0
 * @open:    write OpenMetrics 1.0; else the text format of Prometheus (0.0.4), which is what
 *           node_exporter reads
 */
struct metrics {
	bool up;
	struct vgpu_ctl_version version;
	struct metrics_gpu *gpu;
	size_t nr_gpus;
	bool no_guests;
	bool open;
};

void metrics_write(FILE *out, const void *metrics);

#endif /* VGPUCTL_METRICS_H */
