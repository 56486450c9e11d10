// SPDX-License-Identifier: GPL-2.0
/*
 * The settings of a vGPU, and their admission. Pure logic, compiled in user space too.
 *
 * The rule of admission: the guarantees of a partition's vGPUs, started or not, sum up to at most
 * 1000; guarantee <= cap <= 1000; 1 <= weight <= 1000. The rule holds under every policy, so it
 * cannot make a switch to qos fail.
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

/* Offsets of a setting's field, and of the field of struct vgpu_ctl_instance that reports it. */
#define FIELDS(set, report)						\
	.offset = offsetof(struct vgpu_ctl_share, set),			\
	.reported = offsetof(struct vgpu_ctl_instance, report)

/* The settings of a vGPU. */
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
	/* Initially off here; vgpu_shares_join() sets it according to the type. */
	{ .name = "vga", .valid = VGPU_SHARE_VGA, FIELDS(vga, vga),
	  .what = "vga", .zero = " (off)", .max = 1, .at_open = true },
	{}
};

/**
 * vgpu_share_default() - compute the settings of a new vGPU
 * @settings:  set; guarantee and weight are the vGPU's part of the framebuffer
 * @size_gb:   framebuffer of the vGPU in GiB, at least 1
 * @region_gb: framebuffer of the partition in GiB, 1 .. 1024
 *
 * Rounds down, so that the guarantees of vGPUs that fit side by side are always admitted together.
 * vgpu_shares_join() sets what depends on more than sizes.
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
 * vgpu_share_room() - count the new vGPUs whose guarantees still fit
 * @sum:       sum of the guarantees of existing vGPUs, per mille; more than 1000 if it was added
 *             up while they were changed
 * @size_gb:   framebuffer of each new vGPU in GiB
 * @region_gb: framebuffer of the partition in GiB
 * @most:      number of new vGPUs that would fit if guarantees did not matter
 *
 * Return: at most @most.
 */
unsigned int vgpu_share_room(u32 sum, u32 size_gb, u32 region_gb, unsigned int most)
{
	u32 each = default_guarantee(size_gb, region_gb);

	return each ? min(most, (VGPU_PER_MILLE - min(sum, VGPU_PER_MILLE)) / each) : most;
}

/**
 * vgpu_share_change() - change settings of a vGPU
 * @settings: settings of the vGPU, valid before and after
 * @change:   names settings and their new values
 * @why:      set to the reason of a refusal, for the user
 * @size:     bytes of @why
 *
 * Does not check whether the guarantee fits beside those of other vGPUs.
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
	/* Check all of them: a setting that is not named may contradict a new one. */
	if (vgpu_settings_check(vgpu_share_settings, ~0U, &next, why, size))
		return -EINVAL;
	*settings = next;
	return 0;
}

/**
 * vgpu_share_admit() - check that a guarantee fits beside the others
 * @others:    sum of the guarantees of all other vGPUs of the partition, per mille
 * @guarantee: per mille, at most 1000
 * @why:       set to the reason of a refusal, for the user
 * @size:      bytes of @why
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
 * vgpu_share_of() - extract the settings that the scheduler acts on
 * @settings: settings of the vGPU
 * @first_gb: start of the vGPU's framebuffer in GiB
 * @size_gb:  framebuffer of the vGPU in GiB
 * @share:    set to the vGPU's share
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
 * @settings: settings of the vGPU
 * @out:      its fields for settings are set
 */
void vgpu_share_report(const struct vgpu_ctl_share *settings, struct vgpu_ctl_instance *out)
{
	const struct vgpu_setting *s;

	for (s = vgpu_share_settings; s->name; s++)
		memcpy((void *)out + s->reported, (const void *)settings + s->offset,
		       vgpu_setting_size(s));
}

/**
 * vgpu_share_frl() - compute the frame-rate limit in force
 * @mode:     how the policy treats frame-rate limits
 * @config:   the vGPU's setting, frames per s; 0: off; VGPU_FRL_DEFAULT: not set
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
