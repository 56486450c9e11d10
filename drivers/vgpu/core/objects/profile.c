// SPDX-License-Identifier: GPL-2.0
/*
 * Profiles of partitions. They and their places are those of the field's GPU instances: a GPU has
 * seven slices of units, and eight of memory. Partitions whose eighths are apart never have more
 * than seven slices together, so only eighths are counted.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sprintf.h>

#include "profile.h"

const struct vgpu_profile vgpu_profiles[VGPU_PROFILES] = {
	{ "1g", 1, 1, 0x7f },
	{ "2g", 2, 2, 0x15 },
	{ "3g", 3, 4, 0x11 },
	{ "4g", 4, 4, 0x01 },
	{ "7g", 7, 8, 0x01 },
};

/**
 * vgpu_profile_size_gb() - compute the framebuffer of a partition
 * @profile:   the partition's profile
 * @region_gb: framebuffer of the GPU in GiB
 *
 * A partition at eighth n begins at n eighths of the GPU's framebuffer, which then are whole GiB,
 * too.
 *
 * Return: size in GiB; 0 if it would not be whole GiB, and so the GPU has no such profile.
 */
u32 vgpu_profile_size_gb(const struct vgpu_profile *profile, u32 region_gb)
{
	u32 size = profile->eighths * region_gb;

	return size % VGPU_PROFILE_EIGHTHS ? 0 : size / VGPU_PROFILE_EIGHTHS;
}

/**
 * vgpu_profile_units() - compute the units of a partition
 * @profile: the partition's profile
 * @units:   units of the GPU
 *
 * Return: number of units, at least 1. If the GPU has fewer than VGPU_PROFILE_SLICES, its
 * partitions together can have more than the GPU.
 */
u32 vgpu_profile_units(const struct vgpu_profile *profile, u32 units)
{
	return max(units * profile->slices / VGPU_PROFILE_SLICES, 1U);
}

static unsigned int profile_used(const struct vgpu_profile_map *map)
{
	unsigned int i, used = 0;

	for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++)
		if (map->owner[i])
			used |= BIT(i);
	return used;
}

static unsigned int profile_range(const struct vgpu_profile *profile, unsigned int start)
{
	return (BIT(profile->eighths) - 1) << start;
}

/* The starts of @profile on a GPU of @region_gb whose eighths @used are in partitions, a mask. */
static unsigned int profile_free(const struct vgpu_profile *profile, u32 region_gb,
				 unsigned int used)
{
	unsigned int start, nr = 0;

	if (!vgpu_profile_size_gb(profile, region_gb))
		return 0;
	for (start = 0; start < VGPU_PROFILE_EIGHTHS; start++)
		if (profile->starts & BIT(start) && !(profile_range(profile, start) & used))
			nr |= BIT(start);
	return nr;
}

/* Counts the free places of all profiles together. */
static unsigned int profile_count(u32 region_gb, unsigned int used)
{
	unsigned int i, nr = 0;

	for (i = 0; i < VGPU_PROFILES; i++)
		nr += hweight32(profile_free(&vgpu_profiles[i], region_gb, used));
	return nr;
}

/**
 * vgpu_profile_fits() - find the free places of a profile
 * @map:     the GPU's partitions
 * @profile: the profile
 *
 * Places of one profile never overlap, so partitions of it can be created at all of them.
 *
 * Return: the eighths at which a partition could start now, a mask.
 */
unsigned int vgpu_profile_fits(const struct vgpu_profile_map *map,
			       const struct vgpu_profile *profile)
{
	return profile_free(profile, map->region_gb, profile_used(map));
}

/* Appends the starts of a mask, as "0, 2, 4". */
static int profile_print_starts(unsigned int starts, char *text, size_t size)
{
	unsigned int i;
	int len = 0;

	for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++)
		if (starts & BIT(i))
			len += scnprintf(text + len, size - len, "%s%u", len ? ", " : "", i);
	return len;
}

/* Appends what fits, as "1g at 4, 5, 6; 2g at 4". */
static void profile_print_fits(const struct vgpu_profile_map *map, char *text, size_t size)
{
	unsigned int i, starts;
	int len = 0;

	for (i = 0; i < VGPU_PROFILES; i++) {
		starts = vgpu_profile_fits(map, &vgpu_profiles[i]);
		if (!starts)
			continue;
		len += scnprintf(text + len, size - len, "%s%s at ", len ? "; " : "what fits: ",
				 vgpu_profiles[i].name);
		len += profile_print_starts(starts, text + len, size - len);
	}
	if (!len)
		scnprintf(text, size, "nothing fits");
}

static int profile_refuse_name(const struct vgpu_profile_map *map,
			       const struct vgpu_profile *profile, char *why, size_t size)
{
	unsigned int i;
	int len;

	len = scnprintf(why, size, "%s: %u/8 of %u GiB are not whole GiB; there are",
			profile->name, profile->eighths, map->region_gb);
	for (i = 0; i < VGPU_PROFILES; i++)
		if (vgpu_profile_size_gb(&vgpu_profiles[i], map->region_gb))
			len += scnprintf(why + len, size - len, " %s", vgpu_profiles[i].name);
	return -EINVAL;
}

static int profile_refuse_start(const struct vgpu_profile_map *map,
				const struct vgpu_profile *profile, unsigned int start, char *why,
				size_t size)
{
	unsigned int fits = vgpu_profile_fits(map, profile);
	int len = scnprintf(why, size, "%s at %u: can be at ", profile->name, start);

	len += profile_print_starts(profile->starts, why + len, size - len);
	if (fits == profile->starts)
		return -EINVAL;
	len += scnprintf(why + len, size - len, "; free: %s", fits ? "" : "none");
	profile_print_starts(fits, why + len, size - len);
	return -EINVAL;
}

static int profile_refuse_place(const struct vgpu_profile_map *map,
				const struct vgpu_profile *profile, unsigned int start, char *why,
				size_t size)
{
	unsigned int i = start;
	int len;

	if (start == VGPU_PROFILE_ANYWHERE) {
		len = scnprintf(why, size, "%s: no place is free; ", profile->name);
	} else {
		while (!map->owner[i])
			i++;
		len = scnprintf(why, size, "%s at %u: eighth %u is in partition %u; ",
				profile->name, start, i, map->owner[i]);
	}
	profile_print_fits(map, why + len, size - len);
	return -ENOSPC;
}

/* Of the starts of a mask, that which leaves most places of all profiles; of these the lowest. */
static unsigned int profile_choose(const struct vgpu_profile_map *map,
				   const struct vgpu_profile *profile, unsigned int starts)
{
	unsigned int used = profile_used(map), i, left, best = 0, most = 0;

	for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++) {
		if (!(starts & BIT(i)))
			continue;
		left = 1 + profile_count(map->region_gb, used | profile_range(profile, i));
		if (left > most) {
			most = left;
			best = i;
		}
	}
	return best;
}

/**
 * vgpu_profile_take() - give a partition its place
 * @map:     the GPU's partitions
 * @profile: the partition's profile
 * @start:   the eighth at which it is to start, or VGPU_PROFILE_ANYWHERE
 * @id:      number of the partition, not 0
 * @why:     set to the reason of a refusal, and what would fit, for the user
 * @size:    bytes of @why
 *
 * Return: the eighth at which the partition starts; or -EINVAL if the GPU has no such profile or
 * the profile no such place, -ENOSPC if the place is taken, or all are, and nothing has changed.
 */
int vgpu_profile_take(struct vgpu_profile_map *map, const struct vgpu_profile *profile,
		      unsigned int start, u32 id, char *why, size_t size)
{
	unsigned int starts = vgpu_profile_fits(map, profile), i;

	if (!vgpu_profile_size_gb(profile, map->region_gb))
		return profile_refuse_name(map, profile, why, size);
	if (start == VGPU_PROFILE_ANYWHERE) {
		if (!starts)
			return profile_refuse_place(map, profile, start, why, size);
		start = profile_choose(map, profile, starts);
	} else if (start >= VGPU_PROFILE_EIGHTHS || !(profile->starts & BIT(start))) {
		return profile_refuse_start(map, profile, start, why, size);
	} else if (!(starts & BIT(start))) {
		return profile_refuse_place(map, profile, start, why, size);
	}
	for (i = 0; i < profile->eighths; i++)
		map->owner[start + i] = id;
	return start;
}

/**
 * vgpu_profile_put() - take back the place of a partition
 * @map: the GPU's partitions
 * @id:  number of the partition
 */
void vgpu_profile_put(struct vgpu_profile_map *map, u32 id)
{
	unsigned int i;

	for (i = 0; i < VGPU_PROFILE_EIGHTHS; i++)
		if (map->owner[i] == id)
			map->owner[i] = 0;
}
