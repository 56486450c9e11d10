/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be done so that the world is as a state file says, or why it cannot be. Pure logic,
 * with the driver's own rules of placement and of shares, but for world.c, which asks the driver.
 */
#ifndef VGPUCTL_PLAN_H
#define VGPUCTL_PLAN_H

#include "state.h"

/**
 * struct world_part - a partition as it is
 * @part:  all about it
 * @sched: its settings
 */
struct world_part {
	struct vgpu_ctl_partition part;
	struct vgpu_ctl_sched sched;
};

/**
 * struct world_gpu - a GPU as it is
 * @gpu:      all about it
 * @sched:    its settings
 * @type:     its types, @gpu.types of them; allocated
 * @part:     its partitions
 * @nr_parts: how many
 */
struct world_gpu {
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_sched sched;
	struct vgpu_ctl_type *type;
	struct world_part part[VGPU_PARTITION_EIGHTHS];
	size_t nr_parts;
};

/**
 * struct world - what there is
 * @gpu:      the GPUs; allocated
 * @nr_gpus:  how many
 * @inst:     the vGPUs; allocated
 * @nr_insts: how many
 * @policies: the names of all policies, separated by blanks
 * @slice_ns: slice of new partitions; 0: the driver decides
 * @window_ns: window of new partitions, likewise
 * @left:     is this vGPU somebody else's, who creates and sets it?
 */
struct world {
	struct world_gpu *gpu;
	size_t nr_gpus;
	struct vgpu_ctl_instance *inst;
	size_t nr_insts;
	char policies[VGPU_TEXT_LEN];
	uint64_t slice_ns;
	uint64_t window_ns;
	bool (*left)(const uint8_t *uuid);
};

/**
 * struct plan_part - what is to be done to a partition
 * @want:    what it is to be
 * @is:      the partition; NULL: it is to be created
 * @profile: its profile, by index
 * @start:   eighth at which it starts
 * @lived_in: the file puts a vGPU into it
 * @changed: VGPU_SCHED_* bits of the settings that have to be changed
 * @id:      its number when it is there; else 0
 * @set:     its settings have been changed
 */
struct plan_part {
	const struct state_part *want;
	const struct world_part *is;
	uint32_t profile;
	uint32_t start;
	bool lived_in;
	uint32_t changed;
	uint32_t id;
	bool set;
};

/**
 * struct plan_gpu - what is to be done to a GPU
 * @want:    what it is to be set to
 * @is:      the GPU, or NULL if there is none
 * @changed: VGPU_SCHED_* bits of the settings that have to be changed
 * @divide:  its mode has to be set
 * @divided: that is done
 * @part:    to its partitions, in the order of the file
 * @nr_parts: how many
 * @create:  indices of the partitions to be created, in this order
 * @nr_creates: how many
 */
struct plan_gpu {
	const struct state_gpu *want;
	const struct world_gpu *is;
	uint32_t changed;
	bool divide;
	bool divided;
	struct plan_part part[VGPU_PARTITION_EIGHTHS];
	size_t nr_parts;
	size_t create[VGPU_PARTITION_EIGHTHS];
	size_t nr_creates;
};

/**
 * struct plan_vgpu - what is to be done to a vGPU
 * @want:      what it is to be
 * @gpu:       its GPU; NULL: a fault was found
 * @type:      its type
 * @is:        the vGPU; NULL: it is to be created
 * @left:      nothing, it is somebody else's
 * @changed:   VGPU_SHARE_* bits of the settings that have to be changed
 * @guarantee: per mille, that it will have
 * @start:     eighth at which the partition starts that it will be in; VGPU_PARTITION_ANYWHERE: it
 *             will be on the whole GPU
 * @elsewhere: that is not where the file says
 * @led:       it has other guarantees while others are created
 */
struct plan_vgpu {
	const struct state_vgpu *want;
	const struct world_gpu *gpu;
	const struct vgpu_ctl_type *type;
	const struct vgpu_ctl_instance *is;
	bool left;
	uint32_t changed;
	uint32_t guarantee;
	uint32_t start;
	bool elsewhere;
	bool led;
};

/**
 * struct plan_step - one of the steps by which vGPUs are created
 * @vgpu:      index of the vGPU
 * @create:    it is created; else it gets a guarantee for the time being
 * @guarantee: which one, per mille
 */
struct plan_step {
	size_t vgpu;
	bool create;
	uint32_t guarantee;
};

/**
 * struct plan - all that is to be done
 * @gpu:      to GPUs, in the order of the file; allocated
 * @nr_gpus:  how many
 * @vgpu:     to vGPUs, in the order of the file; allocated
 * @nr_vgpus: how many
 * @create:   indices of the vGPUs to be created, the largest first: so they find places that
 *            others of them would have cut; but those first that have a partition; allocated
 * @nr_creates: how many
 * @step:     the steps by which they are created, for which that order may have to be another one,
 *            so that each gets into its partition; allocated
 * @nr_steps: how many
 */
struct plan {
	struct plan_gpu *gpu;
	size_t nr_gpus;
	struct plan_vgpu *vgpu;
	size_t nr_vgpus;
	size_t *create;
	size_t nr_creates;
	struct plan_step *step;
	size_t nr_steps;
};

/*
 * Reads @world but for left, which is the caller's. Returns 0 or a negative errno; world_free() is
 * the caller's in any case.
 */
int world_read(int fd, struct world *world);
void world_free(struct world *world);

/*
 * Compares @state with @world, and adds what cannot be to @faults. plan_free() is the caller's in
 * any case. The plan is to be followed if there is no fault: GPUs first, then their partitions,
 * then plan_first() vGPUs, the steps, and the other settings of vGPUs.
 */
void plan_make(const struct state *state, const struct world *world, struct plan *plan,
	       struct faults *faults);
void plan_free(struct plan *plan);

/*
 * Must the vGPU be set before others are created? Its guarantee gets smaller, which leaves room for
 * theirs.
 */
static inline bool plan_first(const struct plan_vgpu *vgpu)
{
	return vgpu->is && vgpu->changed && vgpu->guarantee < vgpu->is->guarantee;
}

/* ---- parts of plan_make() ---- */

/*
 * plan_part.c: of the settings @set of what is at @place the policy, and the window, which must be
 * so many slices of what is in force then, where @is holds, or will at first.
 */
void plan_policy(const struct world *world, const struct vgpu_ctl_sched *set,
		 const char *place, struct faults *faults);
void plan_window(const struct vgpu_ctl_sched *set, const struct vgpu_ctl_sched *is,
		 const char *place, struct faults *faults);

/* The partitions of the GPU gpus[i]. */
void plan_parts(const struct state *state, const struct world *world, size_t i,
		struct plan_gpu *gpu, struct faults *faults);

/* plan_room.c: what depends on all vGPUs of a partition, and of a GPU. */
void plan_rooms(struct plan *plan, const struct world *world, struct faults *faults);

/* The framebuffer in which vGPUs of the type lie, in GiB: that of a partition, or of the GPU. */
uint32_t plan_region_gb(const struct world_gpu *gpu, const struct vgpu_ctl_type *type);

#endif /* VGPUCTL_PLAN_H */
