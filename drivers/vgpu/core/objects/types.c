// SPDX-License-Identifier: GPL-2.0
/*
 * The catalogue of types. A series has a type for each size within its limits that divides the
 * GPU's framebuffer. Sizes, heads, resolutions, frame-rate limits and editions follow the type
 * tables that GPU vendors publish.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sprintf.h>

#include "placement.h"
#include "profile.h"
#include "types.h"

struct type_series {
	char series;
	const char *edition;
	u32 min_gb;
	u32 max_gb;
	u32 num_heads;
	u32 max_width;
	u32 max_height;
	u32 frl_fps;
	bool vga;
};

/* Rows of one series are adjacent, and their ranges of sizes do not overlap. */
static const struct type_series type_series[] = {
	{ 'Q', "vWS", 1, 1, 4, 5120, 2880, 60 },
	{ 'Q', "vWS", 2, ~0U, 4, 7680, 4320, 60 },
	{ 'B', "vPC", 1, 2, 4, 5120, 2880, 45, .vga = true },
	{ 'A', "vApps", 1, ~0U, 1, 1280, 1024, 60 },
	{ 'C', "vCS", 4, ~0U, 1, 4096, 2160, 60 },
};

/**
 * struct type_list - a catalogue that is being made
 * @board:     first part of each type's name
 * @region_gb: framebuffer of the GPU in GiB
 * @channels:  number of channels of the GPU
 * @types:     the first @room of them are written
 * @room:      number of elements of @types
 * @nr:        number of types
 */
struct type_list {
	const char *board;
	u32 region_gb;
	u32 channels;
	struct vgpu_type *types;
	unsigned int room;
	unsigned int nr;
};

static void type_add(struct type_list *list, const struct type_series *s,
		     const struct vgpu_profile *profile, u32 size_gb, u32 max_instances)
{
	unsigned int index = list->nr++;
	struct vgpu_type *t;

	if (index >= list->room)
		return;
	t = &list->types[index];
	if (profile)
		snprintf(t->name, sizeof(t->name), "%s-%u-%u%c", list->board, profile->slices,
			 size_gb, s->series);
	else
		snprintf(t->name, sizeof(t->name), "%s-%u%c", list->board, size_gb, s->series);
	t->edition = s->edition;
	t->index = index;
	t->profile = profile;
	t->size_gb = size_gb;
	t->max_instances = max_instances;
	t->channels = list->channels * size_gb / list->region_gb;
	t->num_heads = s->num_heads;
	t->max_width = s->max_width;
	t->max_height = s->max_height;
	t->frl_fps = s->frl_fps;
	t->vga = s->vga;
}

/*
 * The types of partitions: of the series without a display, a whole partition, and the sizes of the
 * series that divide it.
 */
static void types_of_partitions(struct type_list *list, const struct type_series *s,
				bool homogeneous)
{
	const struct vgpu_profile *profile;
	struct vgpu_placement p;
	u32 size_gb, part_gb;
	unsigned int places;

	for (profile = vgpu_profiles; profile < vgpu_profiles + VGPU_PROFILES; profile++) {
		part_gb = vgpu_profile_size_gb(profile, list->region_gb);
		places = hweight32(profile->starts);
		vgpu_placement_init(&p, part_gb, homogeneous);
		for (size_gb = min(s->min_gb, part_gb); size_gb && size_gb <= part_gb; size_gb++)
			if (part_gb % size_gb == 0)
				type_add(list, s, profile, size_gb,
					 min(places * vgpu_placement_count(&p, size_gb),
					     VGPU_PLACEMENT_MAX));
	}
}

/**
 * vgpu_types_build() - list the types of a GPU
 * @board: first part of each type's name
 * @placement: placement of the GPU, with no instance placed
 * @channels: number of channels of the GPU
 * @divisible: the GPU can have partitions, and so has types for them
 * @types: filled in, or NULL if @room is 0
 * @room: number of elements of @types
 *
 * Return: the number of types of the GPU; the first @room of them are written.
 */
unsigned int vgpu_types_build(const char *board, const struct vgpu_placement *placement,
			      u32 channels, bool divisible, struct vgpu_type *types,
			      unsigned int room)
{
	u32 region_gb = placement->region_gb;
	struct type_list list = {
		.board = board,
		.region_gb = region_gb,
		.channels = channels,
		.types = types,
		.room = room,
	};
	const struct type_series *s;
	unsigned int i;
	u32 size_gb;

	for (i = 0; i < ARRAY_SIZE(type_series); i++) {
		s = &type_series[i];
		for (size_gb = s->min_gb; size_gb <= region_gb && size_gb <= s->max_gb; size_gb++)
			if (region_gb % size_gb == 0)
				type_add(&list, s, NULL, size_gb,
					 vgpu_placement_count(placement, size_gb));
	}
	for (i = 0; divisible && i < ARRAY_SIZE(type_series); i++)
		if (type_series[i].series == 'C')
			types_of_partitions(&list, &type_series[i], placement->homogeneous);
	return list.nr;
}

/**
 * vgpu_type_describe() - write the description of a type for sysfs
 * @type: a type of a catalogue
 * @moves: its vGPUs can move while their guests work
 * @buf: set to the line, with a newline and a NUL
 * @size: bytes of @buf; VGPU_TYPE_DESCRIPTION_LEN is enough
 *
 * Return: the length of the line, without the NUL.
 */
int vgpu_type_describe(const struct vgpu_type *type, bool moves, char *buf, size_t size)
{
	return snprintf(buf, size,
			"num_heads=%u, frl_config=%u, framebuffer=%uM, max_resolution=%ux%u, live_migration=%u, max_instance=%u\n",
			type->num_heads, type->frl_fps, type->size_gb * 1024, type->max_width,
			type->max_height, moves, type->max_instances);
}
