// SPDX-License-Identifier: GPL-2.0
/* Is there room for all vGPUs, and for their guarantees? By the driver's own rules. */
#include <stdlib.h>

#include "core/objects/placement.h"
#include "core/objects/profile.h"
#include "core/settings/share_rules.h"

#include "ctl.h"
#include "message.h"
#include "plan.h"

/**
 * struct room - a partition when it has its vGPUs, or the whole GPU
 * @id:        its number; 0: the whole GPU, or one that is to be created
 * @slices:    of its profile; 0: the whole GPU
 * @start_gb:  where it starts in the GPU's framebuffer
 * @placement: what its vGPUs have
 * @before:    their guarantees when others are created
 * @after:     their guarantees at the end
 */
struct room {
	uint32_t id;
	uint32_t slices;
	uint32_t start_gb;
	struct vgpu_placement placement;
	u32 before;
	u32 after;
};

/**
 * struct rooms - those of a GPU
 * @gpu: the GPU
 * @at:  the rooms
 * @nr:  how many
 * @of:  the room of each vGPU of the plan that is on this GPU; allocated
 * @insts: number of vGPUs in all rooms
 */
struct rooms {
	const struct world_gpu *gpu;
	struct room at[2 * VGPU_PARTITION_EIGHTHS];
	size_t nr;
	struct room **of;
	unsigned int insts;
};

static u32 gpu_gb(const struct world_gpu *gpu)
{
	return (u32)(gpu->gpu.fb_bytes >> 30);
}

uint32_t plan_region_gb(const struct world_gpu *gpu, const struct vgpu_ctl_type *type)
{
	const struct vgpu_profile *profile;

	for (profile = vgpu_profiles; profile < vgpu_profiles + VGPU_PROFILES; profile++)
		if (type->slices && profile->slices == type->slices)
			return vgpu_profile_size_gb(profile, gpu_gb(gpu));
	return gpu_gb(gpu);
}

static void add_room(struct rooms *rooms, uint32_t id, uint32_t slices, uint32_t start_gb,
		     uint32_t size_gb)
{
	struct room *room = &rooms->at[rooms->nr++];

	*room = (struct room){ .id = id, .slices = slices, .start_gb = start_gb };
	vgpu_placement_init(&room->placement, size_gb,
			    rooms->gpu->gpu.placement == VGPU_PLACEMENT_HOMOGENEOUS);
}

/* The rooms as they are when all partitions have been created. */
static void make_rooms(struct rooms *rooms, const struct plan *plan)
{
	const struct world_gpu *gpu = rooms->gpu;
	const struct plan_gpu *planned = NULL;
	const struct vgpu_profile *profile;
	const struct plan_part *part;
	size_t i;

	for (i = 0; i < plan->nr_gpus; i++)
		if (plan->gpu[i].is == gpu && plan->gpu[i].want->divided)
			planned = &plan->gpu[i];
	if (!planned && !ctl_is_divided(&gpu->gpu))
		add_room(rooms, 0, 0, 0, gpu_gb(gpu));
	for (i = 0; i < gpu->nr_parts; i++)
		add_room(rooms, gpu->part[i].part.partition, gpu->part[i].part.slices,
			 (uint32_t)(gpu->part[i].part.fb_start >> 30),
			 (uint32_t)(gpu->part[i].part.fb_bytes >> 30));
	for (i = 0; planned && i < planned->nr_creates; i++) {
		part = &planned->part[planned->create[i]];
		profile = &vgpu_profiles[part->profile];
		/* One without a place is a fault that was found already. */
		if (part->start < VGPU_PROFILE_EIGHTHS)
			add_room(rooms, 0, profile->slices,
				 part->start * gpu_gb(gpu) / VGPU_PROFILE_EIGHTHS,
				 vgpu_profile_size_gb(profile, gpu_gb(gpu)));
	}
}

static struct room *room_of(struct rooms *rooms, const struct vgpu_ctl_instance *is)
{
	struct room *room;

	for (room = rooms->at; room < rooms->at + rooms->nr; room++)
		if (room->id == is->partition && !room->id == !room->slices)
			return room;
	return NULL;
}

static size_t planned(const struct plan *plan, const struct vgpu_ctl_instance *is)
{
	size_t i;

	for (i = 0; i < plan->nr_vgpus; i++)
		if (plan->vgpu[i].is == is && plan->vgpu[i].gpu)
			break;
	return i;
}

/* Puts the vGPUs that are there into the rooms. */
static void fill_rooms(struct rooms *rooms, const struct plan *plan, const struct world *world)
{
	const struct world_gpu *gpu = rooms->gpu;
	const struct plan_vgpu *vgpu;
	struct vgpu_placement *p;
	struct room *room;
	size_t i, k;

	for (i = 0; i < world->nr_insts; i++) {
		const struct vgpu_ctl_instance *is = &world->inst[i];

		room = is->gpu == gpu->gpu.gpu ? room_of(rooms, is) : NULL;
		if (!room || is->type_index >= gpu->gpu.types ||
		    room->placement.nr == VGPU_PLACEMENT_MAX)
			continue;
		p = &room->placement;
		p->used[p->nr].start_gb = is->placement_gb - room->start_gb;
		p->used[p->nr++].size_gb = gpu->type[is->type_index].placement_size_gb;
		rooms->insts++;
		k = planned(plan, is);
		vgpu = k < plan->nr_vgpus ? &plan->vgpu[k] : NULL;
		if (vgpu)
			rooms->of[k] = room;
		room->before += vgpu && plan_first(vgpu) ? vgpu->guarantee : is->guarantee;
		room->after += vgpu ? 0 : is->guarantee;
	}
}

/*
 * Of the rooms for a type, the one with the least free framebuffer that still has a place; or, if
 * none has, the one with the most. NULL: there is none for the type.
 */
static struct room *choose_room(struct rooms *rooms, const struct vgpu_ctl_type *type)
{
	struct room *room, *fullest = NULL, *emptiest = NULL;
	u32 least_gb = ~0u, most_gb = 0, free_gb;

	for (room = rooms->at; room < rooms->at + rooms->nr; room++) {
		if (room->slices != type->slices)
			continue;
		free_gb = vgpu_placement_free_gb(&room->placement);
		if (room->before <= VGPU_PER_MILLE && free_gb < least_gb &&
		    vgpu_share_room(room->before, type->placement_size_gb,
				    room->placement.region_gb,
				    vgpu_placement_available(&room->placement,
							     type->placement_size_gb))) {
			fullest = room;
			least_gb = free_gb;
		}
		if (!emptiest || free_gb > most_gb) {
			emptiest = room;
			most_gb = free_gb;
		}
	}
	return fullest ? fullest : emptiest;
}

/* Finds a place for the new vGPU @i of the plan, and room for the guarantee that it begins with. */
static bool place_vgpu(struct rooms *rooms, struct plan *plan, size_t i, struct faults *faults)
{
	static const char * const shorts[] = {
		[VGPU_SHORT_INSTANCES] = "the GPU can have no more vGPUs",
		[VGPU_SHORT_SIZE] = "vGPUs of this GPU must be of one size",
		[VGPU_SHORT_FRAMEBUFFER] = "too little framebuffer is free",
		[VGPU_SHORT_PLACEMENT] = "enough framebuffer is free, but not in one piece",
	};
	const struct vgpu_ctl_type *type = plan->vgpu[i].type;
	enum vgpu_short result = VGPU_SHORT_INSTANCES;
	struct room *room = choose_room(rooms, type);
	u32 start_gb, size_gb = type->placement_size_gb;
	struct vgpu_ctl_share settings;
	char why[VGPU_TEXT_LEN];

	if (!room) {
		fault_add(faults, type->slices ?
			  "vgpus[%zu]: no room for a %.*s on GPU %s: there is no partition for it" :
			  "vgpus[%zu]: no room for a %.*s on GPU %s: it is divided, only types of partitions fit",
			  i, TEXT(type->name), plan->vgpu[i].want->address);
		return false;
	}
	if (rooms->insts < VGPU_PLACEMENT_MAX)
		result = vgpu_placement_take(&room->placement, size_gb, &start_gb);
	if (result) {
		fault_add(faults, "vgpus[%zu]: no room for a %.*s of %u GiB on GPU %s: %s (%u GiB free of %u)",
			  i, TEXT(type->name), size_gb, plan->vgpu[i].want->address,
			  shorts[result], vgpu_placement_free_gb(&room->placement),
			  room->placement.region_gb);
		return false;
	}
	rooms->insts++;
	rooms->of[i] = room;
	vgpu_share_default(&settings, size_gb, room->placement.region_gb);
	if (vgpu_share_admit(room->before, settings.guarantee, why, sizeof(why)))
		fault_add(faults, "vgpus[%zu]: as a new vGPU has it, %s", i, why);
	else
		room->before += settings.guarantee;
	return true;
}

/* Checks what depends on all vGPUs of a GPU. */
static void check_gpu(struct plan *plan, const struct world *world, const struct world_gpu *gpu,
		      struct faults *faults)
{
	struct rooms rooms = { .gpu = gpu };
	const struct plan_vgpu *vgpu;
	char why[VGPU_TEXT_LEN];
	size_t i, k;

	rooms.of = need_zeroed(plan->nr_vgpus, sizeof(struct room *));
	make_rooms(&rooms, plan);
	fill_rooms(&rooms, plan, world);
	for (k = 0; k < plan->nr_creates; k++) {
		i = plan->create[k];
		if (plan->vgpu[i].gpu == gpu && !place_vgpu(&rooms, plan, i, faults))
			plan->vgpu[i].gpu = NULL;
	}
	for (i = 0; i < plan->nr_vgpus; i++) {
		vgpu = &plan->vgpu[i];
		if (vgpu->gpu != gpu || !rooms.of[i])
			continue;
		if (vgpu_share_admit(rooms.of[i]->after, vgpu->guarantee, why, sizeof(why)))
			fault_add(faults, "vgpus[%zu].guarantee_permille: %s", i, why);
		else
			rooms.of[i]->after += vgpu->guarantee;
	}
	free(rooms.of);
}

void plan_rooms(struct plan *plan, const struct world *world, struct faults *faults)
{
	size_t i;

	for (i = 0; i < world->nr_gpus; i++)
		check_gpu(plan, world, &world->gpu[i], faults);
}
