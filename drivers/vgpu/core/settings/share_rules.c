// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a vGPU, and which of them are admitted. Pure logic, compiled in user space too.
 *
 * The rule of admission: the guarantees of all vGPUs of a GPU, started or not, sum up to at most
 * 1000; guarantee <= cap <= 1000; 1 <= weight <= 1000. The rule holds under every policy, so a
 * switch to qos cannot fail on it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "share_rules.h"

static u32 default_guarantee(u32 size_gb, u32 region_gb)
{
	return VGPU_PER_MILLE * size_gb / region_gb;
}

static u32 default_weight(u32 size_gb, u32 region_gb)
{
	return max(default_guarantee(size_gb, region_gb), 1U);
}

static int check_cap(const void *settings, char *why, size_t size)
{
	const struct vgpu_ctl_share *s = settings;

	if (s->guarantee <= s->cap)
		return 0;
	snprintf(why, size,
		 "guarantee %u per mille is above the cap, %u: lower the guarantee or raise the cap by %u",
		 s->guarantee, s->cap, s->guarantee - s->cap);
	return -EINVAL;
}

/* The field that sets a setting, and the field of struct vgpu_ctl_instance that reports it. */
#define FIELDS(set, report)						\
	.offset = offsetof(struct vgpu_ctl_share, set),			\
	.reported = offsetof(struct vgpu_ctl_instance, report)

/* What can be set for a vGPU. */
const struct vgpu_setting vgpu_share_settings[] = {
	{ .name = "guarantee", .valid = VGPU_SHARE_GUARANTEE, FIELDS(guarantee, guarantee),
	  .what = "guarantee", .unit = " per mille", .max = VGPU_PER_MILLE,
	  .initial_of = default_guarantee },
	{ .name = "cap", .valid = VGPU_SHARE_CAP, FIELDS(cap, cap),
	  .what = "cap", .unit = " per mille", .min = 1, .max = VGPU_PER_MILLE,
	  .check = check_cap, .initial = VGPU_PER_MILLE },
	{ .name = "weight", .valid = VGPU_SHARE_WEIGHT, FIELDS(weight, weight),
	  .what = "weight", .min = 1, .max = VGPU_WEIGHT_MAX, .initial_of = default_weight },
	{ .name = "frl", .valid = VGPU_SHARE_FRL, FIELDS(frl, frl_config),
	  .what = "frame rate limit of", .unit = "/s", .zero = " (off)", .max = VGPU_FRL_MAX,
	  .other = VGPU_FRL_DEFAULT, .other_name = "default", .initial = VGPU_FRL_DEFAULT },
	/* Off at first as far as sizes tell; vgpu_shares_join() knows the type. */
	{ .name = "vga", .valid = VGPU_SHARE_VGA, FIELDS(vga, vga),
	  .what = "vga", .zero = " (off)", .max = 1, .at_open = true },
	{}
};

/**
 * vgpu_share_default() - the settings of a new vGPU
 * @settings:  its guarantee and weight are the vGPU's part of the framebuffer
 * @size_gb:   framebuffer of the vGPU in GiB, at least 1
 * @region_gb: framebuffer of the GPU in GiB, 1 .. 1024
 *
 * Rounded down, so that the guarantees of vGPUs that fit side by side are always admitted together.
 * What depends on more than sizes is set by vgpu_shares_join().
 */
void vgpu_share_default(struct vgpu_ctl_share *settings, u32 size_gb, u32 region_gb)
{
	const struct vgpu_setting *s;

	memset(settings, 0, sizeof(*settings));
	for (s = vgpu_share_settings; s->name; s++)
		if (s->type != VGPU_SETTING_TEXT)
			vgpu_setting_set_number(s, settings, s->initial_of ?
						s->initial_of(size_gb, region_gb) : s->initial);
}

/**
 * vgpu_share_room() - for how many new vGPUs guarantees are left
 * @sum:       of the guarantees of the vGPUs that exist, per mille, at most 1000
 * @size_gb:   framebuffer of each new vGPU in GiB
 * @region_gb: framebuffer of the GPU in GiB
 * @most:      how many would fit if guarantees did not count
 *
 * Return: at most @most.
 */
unsigned int vgpu_share_room(u32 sum, u32 size_gb, u32 region_gb, unsigned int most)
{
	u32 each = default_guarantee(size_gb, region_gb);

	return each ? min(most, (VGPU_PER_MILLE - sum) / each) : most;
}

/**
 * vgpu_share_change() - change settings of a vGPU
 * @settings: of the vGPU, good before and after
 * @change:   names the settings to be changed, and their new values
 * @why:      gets the reason of a refusal, for the user
 * @size:     of @why in bytes
 *
 * Whether the guarantee fits beside those of other vGPUs is not checked here.
 *
 * Return: 0, or -EINVAL and nothing has changed.
 */
int vgpu_share_change(struct vgpu_ctl_share *settings, const struct vgpu_ctl_share *change,
		      char *why, size_t size)
{
	struct vgpu_ctl_share next = *settings;

	if (vgpu_settings_check_form(vgpu_share_settings, change->valid, 0, why, size))
		return -EINVAL;
	vgpu_settings_copy(vgpu_share_settings, change->valid, &next, change);
	/* All of them: a setting that is not named may not go with a new one. */
	if (vgpu_settings_check(vgpu_share_settings, ~0U, &next, why, size))
		return -EINVAL;
	*settings = next;
	return 0;
}

/**
 * vgpu_share_admit() - whether a guarantee fits beside the others
 * @others:    sum of the guarantees of all other vGPUs of the GPU, per mille
 * @guarantee: per mille, at most 1000
 * @why:       gets the reason of a refusal, for the user
 * @size:      of @why in bytes
 *
 * Return: 0 or -ENOSPC.
 */
int vgpu_share_admit(u32 others, u32 guarantee, char *why, size_t size)
{
	if (others + guarantee <= VGPU_PER_MILLE)
		return 0;
	snprintf(why, size,
		 "guarantee %u per mille does not fit: %u of %u are given to others, %u are left; lower theirs by %u",
		 guarantee, others, VGPU_PER_MILLE, VGPU_PER_MILLE - min(others, VGPU_PER_MILLE),
		 others + guarantee - VGPU_PER_MILLE);
	return -ENOSPC;
}

/**
 * vgpu_share_of() - the part of a vGPU's settings that the scheduler acts on
 * @settings: of the vGPU
 * @first_gb: where the vGPU's framebuffer starts, in GiB
 * @size_gb:  framebuffer of the vGPU in GiB
 * @share:    set
 *
 * A slot is the time slot of one GiB of framebuffer.
 */
void vgpu_share_of(const struct vgpu_ctl_share *settings, u32 first_gb, u32 size_gb,
		   struct vgpu_share *share)
{
	share->guarantee = settings->guarantee;
	share->cap = settings->cap;
	share->weight = settings->weight;
	share->first_slot = first_gb;
	share->nr_slots = size_gb;
}

/**
 * vgpu_share_report() - report a vGPU's settings
 * @settings: of the vGPU
 * @out:      the settings' fields are set
 */
void vgpu_share_report(const struct vgpu_ctl_share *settings, struct vgpu_ctl_instance *out)
{
	const struct vgpu_setting *s;

	for (s = vgpu_share_settings; s->name; s++)
		memcpy((void *)out + s->reported, (const void *)settings + s->offset,
		       vgpu_setting_size(s));
}

/**
 * vgpu_share_frl() - the frame rate limit in force
 * @mode:     of the policy
 * @config:   as set for the vGPU, frames per s; 0: off; VGPU_FRL_DEFAULT: not set
 * @type_fps: limit of the vGPU's type, frames per s
 *
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
