// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "core/objects/place_rules.h"
#include "core/objects/profile.h"

#include "ctl.h"
#include "room.h"

/**
 * struct place - a partition, or the whole GPU, with its vGPUs
 * @id:         number of the partition; 0: the whole GPU
 * @guarantees: of its vGPUs, per mille
 * @placement:  what its vGPUs have of its framebuffer
 */
struct place {
	uint32_t id;
	u32 guarantees;
	struct vgpu_placement placement;
};

static u32 gib(uint64_t bytes)
{
	return (u32)(bytes >> 30);
}

static const struct vgpu_ctl_type *find_type(const struct room_gpu *gpu, const char *id)
{
	uint32_t i;

	for (i = 0; i < gpu->gpu.types; i++)
		if (ctl_text_is(gpu->type[i].id, sizeof(gpu->type[i].id), id))
			return &gpu->type[i];
	return NULL;
}

/* The profile of the partitions that the type is for; NULL: it is for the whole GPU. */
static const struct vgpu_profile *find_profile(const struct vgpu_ctl_type *type)
{
	unsigned int i;

	for (i = 0; i < VGPU_PROFILES; i++)
		if (vgpu_profiles[i].slices == type->slices)
			return &vgpu_profiles[i];
	return NULL;
}

/* Sets @place to a partition, or without @part to the whole GPU. */
static void fill(struct place *place, const struct room_gpu *gpu,
		 const struct vgpu_ctl_partition *part)
{
	struct vgpu_placement *p = &place->placement;
	const struct vgpu_ctl_instance *inst;

	place->id = part ? part->partition : 0;
	place->guarantees = part ? part->guarantee_sum : gpu->gpu.guarantee_sum;
	vgpu_placement_init(p, gib(part ? part->fb_bytes : gpu->gpu.fb_bytes),
			    gpu->gpu.placement == VGPU_PLACEMENT_HOMOGENEOUS);
	for (inst = gpu->inst; inst < gpu->inst + gpu->nr_insts; inst++) {
		if (inst->partition != place->id || inst->type_index >= gpu->gpu.types ||
		    p->nr == VGPU_PLACEMENT_MAX)
			continue;
		p->used[p->nr].start_gb = inst->placement_gb - (part ? gib(part->fb_start) : 0);
		p->used[p->nr++].size_gb = gpu->type[inst->type_index].placement_size_gb;
	}
}

/* Finds the place that the driver takes. Returns false if there is none for the type. */
static bool choose(const struct room_gpu *gpu, const struct vgpu_ctl_type *type,
		   struct place *chosen)
{
	struct vgpu_place_choice choice = {};
	struct place place;
	uint32_t i;

	if (!type->slices) {
		fill(chosen, gpu, NULL);
		return !ctl_is_divided(&gpu->gpu);
	}
	for (i = 0; i < gpu->nr_parts; i++) {
		if (gpu->part[i].slices != type->slices)
			continue;
		fill(&place, gpu, &gpu->part[i]);
		if (vgpu_place_offer(&choice, &place.placement, place.guarantees,
				     type->placement_size_gb))
			*chosen = place;
	}
	return choice.offered;
}

bool room_find(const struct room_gpu *gpu, const char *id, struct attrs_room *room)
{
	const struct vgpu_ctl_type *type = find_type(gpu, id);
	const struct vgpu_profile *profile;
	struct place place;

	if (!type)
		return false;
	memset(room, 0, sizeof(*room));
	profile = find_profile(type);
	room->size_gb = type->placement_size_gb;
	room->region_gb = gib(gpu->gpu.fb_bytes);
	if (profile)
		room->region_gb = vgpu_profile_size_gb(profile, room->region_gb);
	snprintf(room->name, sizeof(room->name), "%.*s", TEXT(gpu->gpu.address));
	if (!choose(gpu, type, &place)) {
		if (profile)
			snprintf(room->none, sizeof(room->none),
				 "%.*s: partition: there is no %s on %s", TEXT(type->name),
				 profile->name, room->name);
		else
			snprintf(room->none, sizeof(room->none),
				 "%.*s: partition: %s is divided, only types of partitions fit",
				 TEXT(type->name), room->name);
		return true;
	}
	room->guarantees = place.guarantees;
	if (place.id)
		snprintf(room->name + strlen(room->name), sizeof(room->name) - strlen(room->name),
			 ".%u", place.id);
	if (gpu->nr_insts >= VGPU_PLACEMENT_MAX ||
	    !vgpu_placement_available(&place.placement, room->size_gb))
		snprintf(room->none, sizeof(room->none),
			 "%.*s: no room for its %u GiB: %u of %u GiB are free on %s",
			 TEXT(type->name), room->size_gb,
			 vgpu_placement_free_gb(&place.placement), place.placement.region_gb,
			 room->name);
	return true;
}
