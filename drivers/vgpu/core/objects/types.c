// SPDX-License-Identifier: GPL-2.0
/*
 * The catalogue of types. A series has a type for each size within its limits that divides the
 * GPU's framebuffer. Sizes, heads, resolutions, frame-rate limits and editions follow the type
 * tables that GPU vendors publish.
 */
#include <linux/kernel.h>
#include <linux/sprintf.h>

#include "placement.h"
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
 * vgpu_types_build() - list the types of a GPU
 * @board: first part of each type's name
 * @placement: placement of the GPU, with no instance placed
 * @channels: number of channels of the GPU
 * @types: filled in, or NULL if @room is 0
 * @room: number of elements of @types
 *
 * Return: the number of types of the GPU; the first @room of them are written.
 */
unsigned int vgpu_types_build(const char *board, const struct vgpu_placement *placement,
			      u32 channels, struct vgpu_type *types, unsigned int room)
{
	u32 region_gb = placement->region_gb;
	unsigned int nr = 0, i;
	u32 size_gb;

	for (i = 0; i < ARRAY_SIZE(type_series); i++) {
		const struct type_series *s = &type_series[i];

		for (size_gb = s->min_gb; size_gb <= region_gb && size_gb <= s->max_gb; size_gb++) {
			struct vgpu_type *t;

			if (region_gb % size_gb)
				continue;
			if (nr++ >= room)
				continue;
			t = &types[nr - 1];
			snprintf(t->name, sizeof(t->name), "%s-%u%c", board, size_gb, s->series);
			t->edition = s->edition;
			t->index = nr - 1;
			t->size_gb = size_gb;
			t->max_instances = vgpu_placement_count(placement, size_gb);
			t->channels = channels * size_gb / region_gb;
			t->num_heads = s->num_heads;
			t->max_width = s->max_width;
			t->max_height = s->max_height;
			t->frl_fps = s->frl_fps;
			t->vga = s->vga;
		}
	}
	return nr;
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
