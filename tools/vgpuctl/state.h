/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declared state: what GPUs are to be set to, and which vGPUs there are to be. In JSON it is an
 * object of the arrays "gpus" and "vgpus", whose objects have the keys of "sched show" and
 * "share show"; vgpuctl(8) tells more.
 */
#ifndef VGPUCTL_STATE_H
#define VGPUCTL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/vgpu.h>

#define STATE_VERSION	1

/**
 * struct faults - what is found wrong with a file
 * @file: how the file is called
 * @out:  where each fault is printed to, in a line
 * @nr:   how many there are
 */
struct faults {
	const char *file;
	FILE *out;
	unsigned int nr;
};

/* Adds a fault, which begins with its place. */
__attribute__((format(printf, 2, 3)))
void fault_add(struct faults *faults, const char *fmt, ...);

/* Likewise tells what is no fault, but what the file says will not be so. */
__attribute__((format(printf, 2, 3)))
void fault_warn(struct faults *faults, const char *fmt, ...);

/**
 * struct state_part - a partition that is to be there
 * @profile: name of its profile
 * @start:   eighth of the framebuffer at which it starts, or VGPU_PARTITION_ANYWHERE
 * @set:     the settings that the file names
 */
struct state_part {
	char profile[VGPU_PROFILE_NAME_LEN];
	uint32_t start;
	struct vgpu_ctl_sched set;
};

/**
 * struct state_gpu - what a GPU is to be set to
 * @address:  of the GPU
 * @set:      the settings that the file names
 * @divided:  it is to be divided; else it may be so or not
 * @part:     the partitions in the order of the file
 * @nr_parts: how many
 */
struct state_gpu {
	char address[VGPU_ADDR_LEN];
	struct vgpu_ctl_sched set;
	bool divided;
	struct state_part part[VGPU_PARTITION_EIGHTHS];
	size_t nr_parts;
};

/**
 * struct state_vgpu - a vGPU that is to be there
 * @address: of its GPU
 * @type:    name of its type, or the type's name in sysfs
 * @start:   eighth at which its partition starts; VGPU_PARTITION_ANYWHERE: it has none, or any
 * @set:     its UUID, and the settings that the file names
 */
struct state_vgpu {
	char address[VGPU_ADDR_LEN];
	char type[VGPU_NAME_LEN];
	uint32_t start;
	struct vgpu_ctl_share set;
};

/**
 * struct state - the whole
 * @gpu:      the GPUs in the order of the file; allocated
 * @nr_gpus:  how many
 * @vgpu:     the vGPUs in the order of the file; allocated
 * @nr_vgpus: how many
 */
struct state {
	struct state_gpu *gpu;
	size_t nr_gpus;
	struct state_vgpu *vgpu;
	size_t nr_vgpus;
};

/*
 * Reads a document of @bytes bytes, and adds all that is wrong with it to @faults. state_free() is
 * the caller's in any case.
 */
void state_parse(const char *text, size_t bytes, struct state *state, struct faults *faults);
void state_free(struct state *state);

#endif /* VGPUCTL_STATE_H */
