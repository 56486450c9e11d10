// SPDX-License-Identifier: GPL-2.0
/*
 * What a vGPU is to get: defaults, changes, and which sums are admitted. Pure
 * logic, compiled in user space too.
 *
 * The rule of admission: the guarantees of all vGPUs of a GPU, started or not,
 * sum up to at most 1000; guarantee <= cap <= 1000; 1 <= weight <= 1000. It holds
 * under every policy, so that a switch to qos cannot fail on it.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sprintf.h>

#include "share.h"

#define SHARE_VALID	(VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP | \
			 VGPU_SHARE_WEIGHT | VGPU_SHARE_FRL)

static u32 default_guarantee(u32 size_gb, u32 region_gb)
{
	return VGPU_PER_MILLE * size_gb / region_gb;
}

/**
 * vgpu_share_default() - what a new vGPU gets
 * @share:     set to its part of the framebuffer, in time
 * @first_gb:  where its framebuffer starts
 * @size_gb:   how long that is, at least 1
 * @region_gb: all of the GPU's, 1 .. 1024
 *
 * Rounded down, so that the defaults of vGPUs that fit side by side are always
 * admitted together.
 *
 * Context: any.
 */
void vgpu_share_default(struct vgpu_share *share, u32 first_gb, u32 size_gb,
			u32 region_gb)
{
	share->guarantee = default_guarantee(size_gb, region_gb);
	share->cap = VGPU_PER_MILLE;
	share->weight = max_t(u32, share->guarantee, 1);
	share->first_slot = first_gb;
	share->nr_slots = size_gb;
}

/**
 * vgpu_share_room() - for how many new vGPUs guarantees are left
 * @sum:       of those there are, at most 1000
 * @size_gb:   framebuffer of each of the new ones
 * @region_gb: all of the GPU's
 * @most:      how many would fit otherwise
 *
 * Context: any.
 * Return: at most @most.
 */
unsigned int vgpu_share_room(u32 sum, u32 size_gb, u32 region_gb,
			     unsigned int most)
{
	u32 each = default_guarantee(size_gb, region_gb);

	return each ? min(most, (VGPU_PER_MILLE - sum) / each) : most;
}

/**
 * vgpu_share_change() - what a share is after a change
 * @share:  changed in place
 * @frl:    the frame rate limit as it was set, likewise
 * @change: what is to change; of it @valid to @pad are looked at
 * @why:    if that cannot be: text for the user
 * @size:   of @why
 *
 * Whether the guarantee fits beside those of others is not looked at.
 *
 * Context: any.
 * Return: 0, or -EINVAL; nothing is changed then.
 */
int vgpu_share_change(struct vgpu_share *share, u32 *frl,
		      const struct vgpu_ctl_share *change, char *why,
		      size_t size)
{
	u32 guarantee = share->guarantee, cap = share->cap;
	u32 weight = share->weight, fps = *frl;

	if (!change->valid || change->valid & ~SHARE_VALID || change->pad) {
		snprintf(why, size,
			 "valid is %#x: must name what to set, of %#x, and what is reserved must be 0",
			 change->valid, SHARE_VALID);
		return -EINVAL;
	}
	if (change->valid & VGPU_SHARE_GUARANTEE)
		guarantee = change->guarantee;
	if (change->valid & VGPU_SHARE_CAP)
		cap = change->cap;
	if (change->valid & VGPU_SHARE_WEIGHT)
		weight = change->weight;
	if (change->valid & VGPU_SHARE_FRL)
		fps = change->frl;

	if (guarantee > VGPU_PER_MILLE) {
		snprintf(why, size, "guarantee %u per mille: must be 0..%u",
			 guarantee, VGPU_PER_MILLE);
		return -EINVAL;
	}
	if (!cap || cap > VGPU_PER_MILLE) {
		snprintf(why, size, "cap %u per mille: must be 1..%u", cap,
			 VGPU_PER_MILLE);
		return -EINVAL;
	}
	if (guarantee > cap) {
		snprintf(why, size,
			 "guarantee %u per mille is above the cap, %u: lower the guarantee or raise the cap by %u",
			 guarantee, cap, guarantee - cap);
		return -EINVAL;
	}
	if (!weight || weight > VGPU_WEIGHT_MAX) {
		snprintf(why, size, "weight %u: must be 1..%u", weight,
			 VGPU_WEIGHT_MAX);
		return -EINVAL;
	}
	if (fps > VGPU_FRL_MAX && fps != VGPU_FRL_DEFAULT) {
		snprintf(why, size, "frame rate limit of %u/s: must be 0 (off)..%u",
			 fps, VGPU_FRL_MAX);
		return -EINVAL;
	}

	share->guarantee = guarantee;
	share->cap = cap;
	share->weight = weight;
	*frl = fps;
	return 0;
}

/**
 * vgpu_share_admit() - whether a guarantee fits beside the others
 * @others:    sum of the guarantees of all other vGPUs of the GPU
 * @guarantee: per mille, at most 1000
 * @why:       if it does not: text for the user
 * @size:      of @why
 *
 * Context: any.
 * Return: 0 or -ENOSPC.
 */
int vgpu_share_admit(u32 others, u32 guarantee, char *why, size_t size)
{
	if (others + guarantee <= VGPU_PER_MILLE)
		return 0;
	snprintf(why, size,
		 "guarantee %u per mille does not fit: %u of %u are given to others, %u are left; lower theirs by %u",
		 guarantee, others, VGPU_PER_MILLE,
		 VGPU_PER_MILLE - min(others, VGPU_PER_MILLE),
		 others + guarantee - VGPU_PER_MILLE);
	return -ENOSPC;
}

/**
 * vgpu_share_frl() - the frame rate limit in force
 * @mode:     the policy's
 * @config:   as set for the vGPU, VGPU_FRL_DEFAULT if it is not
 * @type_fps: of its type
 *
 * Context: any.
 * Return: frames per s, 0: none.
 */
u32 vgpu_share_frl(enum vgpu_frl_mode mode, u32 config, u32 type_fps)
{
	if (mode == VGPU_FRL_MODE_OFF)
		return 0;
	if (config != VGPU_FRL_DEFAULT)
		return config;
	return mode == VGPU_FRL_MODE_DEFAULT ? type_fps : 0;
}
