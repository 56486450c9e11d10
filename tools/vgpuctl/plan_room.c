// SPDX-License-Identifier: GPL-2.0
/* Is there room for all vGPUs, and for their guarantees? By the driver's own rules. */
#include <stdlib.h>

#include "core/objects/place_rules.h"
#include "core/objects/profile.h"
#include "core/settings/share_rules.h"

#include "ctl.h"
#include "message.h"
#include "room.h"

#define IN_ROOM	80

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

static void add_room(struct rooms *rooms, uint32_t id, uint32_t slices, uint32_t start,
		     uint32_t size_gb)
{
	struct room *room = &rooms->at[rooms->nr++];

	*room = (struct room){
		.id = id,
		.slices = slices,
		.start = start,
		.start_gb = start * gpu_gb(rooms->gpu) / VGPU_PROFILE_EIGHTHS,
	};
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
			 gpu->part[i].part.start,
			 (uint32_t)(gpu->part[i].part.fb_bytes >> 30));
	for (i = 0; planned && i < planned->nr_creates; i++) {
		part = &planned->part[planned->create[i]];
		profile = &vgpu_profiles[part->profile];
		/* One without a place is a fault that was found already. */
		if (part->start < VGPU_PROFILE_EIGHTHS)
			add_room(rooms, 0, profile->slices, part->start,
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
		room->base += vgpu && plan_first(vgpu) ? vgpu->guarantee : is->guarantee;
		room->now = room->base;
		room->after += vgpu ? 0 : is->guarantee;
	}
}

/* A room in which the vGPU and the guarantee that it will have find place, and can be led to. */
static struct room *find_room(struct rooms *rooms, struct plan *plan, size_t i)
{
	u32 size_gb = plan->vgpu[i].type->placement_size_gb;
	struct vgpu_place_choice choice = {};
	struct room *room, *best = NULL;

	for (room = rooms->at; room < rooms->at + rooms->nr; room++)
		if (room->after + plan->vgpu[i].guarantee <= VGPU_PER_MILLE &&
		    room_steer(rooms, plan, i, room, false) &&
		    vgpu_place_offer(&choice, &room->placement, 0, size_gb))
			best = room;
	return best;
}

/* The room that the file names for the vGPU; NULL: none. */
static struct room *wanted_room(struct rooms *rooms, const struct plan_vgpu *vgpu)
{
	struct room *room;

	for (room = rooms->at; room < rooms->at + rooms->nr; room++)
		if (room->slices && room->slices == vgpu->type->slices &&
		    room->start == vgpu->want->start)
			return room;
	return NULL;
}

/*
 * Puts the new vGPU @i of the plan into the room that the file names, where its guarantee has been
 * counted already, or if none is named, or @anywhere, into another one.
 */
static bool place_vgpu(struct rooms *rooms, struct plan *plan, size_t i, bool anywhere)
{
	struct plan_vgpu *vgpu = &plan->vgpu[i];
	struct room *wanted = wanted_room(rooms, vgpu), *room = wanted;

	if (!wanted || anywhere)
		room = find_room(rooms, plan, i);
	if (!room || !room_steer(rooms, plan, i, room, false) ||
	    !room_steer(rooms, plan, i, room, true))
		return false;
	if (room == wanted)
		return true;
	room->after += vgpu->guarantee;
	if (wanted)
		wanted->after -= vgpu->guarantee;
	return true;
}

/*
 * The room that a vGPU is refused in, as if guarantees did not matter: whether they fit is told of
 * the one where it has a place. NULL: there is none for the type.
 */
static struct room *refusing_room(struct rooms *rooms, const struct vgpu_ctl_type *type)
{
	struct vgpu_place_choice choice = {};
	struct room *room, *best = NULL;

	for (room = rooms->at; room < rooms->at + rooms->nr; room++)
		if (room->slices == type->slices &&
		    vgpu_place_offer(&choice, &room->placement, 0, type->placement_size_gb))
			best = room;
	return best;
}

/* What follows a message about a room: the partition, if it is one. */
static const char *in_room(const struct plan *plan, const struct rooms *rooms,
			   const struct room *room, char *text)
{
	const struct plan_gpu *gpu;
	size_t i, k;

	*text = 0;
	if (room->id)
		snprintf(text, IN_ROOM, " (in partition %u)", room->id);
	for (i = 0; i < plan->nr_gpus && !room->id && room->slices; i++) {
		gpu = &plan->gpu[i];
		for (k = 0; gpu->is == rooms->gpu && k < gpu->nr_parts; k++)
			if (!gpu->part[k].is && gpu->part[k].start == room->start)
				snprintf(text, IN_ROOM, " (in gpus[%zu].partitions[%zu])", i, k);
	}
	return text;
}

/* Says why neither the guarantee that a new vGPU has nor that of the file fits. */
static void refuse_guarantee(const struct plan *plan, const struct rooms *rooms, size_t i,
			     const struct room *room, bool counted, struct faults *faults)
{
	const struct plan_vgpu *vgpu = &plan->vgpu[i];
	u32 others = room->after - (counted ? vgpu->guarantee : 0);
	u32 first = room_first_guarantee(room, vgpu->type);
	char why[VGPU_TEXT_LEN], in[IN_ROOM];
	bool said = false;

	in_room(plan, rooms, room, in);
	if (vgpu_share_admit(room->base, first, why, sizeof(why))) {
		fault_add(faults, "vgpus[%zu]: as a new vGPU has it, %s%s", i, why, in);
		said = true;
	}
	if (vgpu_share_admit(others, vgpu->guarantee, why, sizeof(why))) {
		fault_add(faults, "vgpus[%zu].guarantee_permille: %s%s", i, why, in);
		said = true;
	}
	if (!said)
		fault_add(faults, "vgpus[%zu]: the driver would put it into another partition, where its guarantee does not fit%s",
			  i, in);
}

/* Says why there is no room for the new vGPU @i of the plan. */
static void refuse_vgpu(struct rooms *rooms, const struct plan *plan, size_t i,
			struct faults *faults)
{
	static const char * const shorts[] = {
		[VGPU_SHORT_INSTANCES] = "the GPU can have no more vGPUs",
		[VGPU_SHORT_SIZE] = "vGPUs of this GPU must be of one size",
		[VGPU_SHORT_FRAMEBUFFER] = "too little framebuffer is free",
		[VGPU_SHORT_PLACEMENT] = "enough framebuffer is free, but not in one piece",
	};
	const struct vgpu_ctl_type *type = plan->vgpu[i].type;
	struct room *wanted = wanted_room(rooms, &plan->vgpu[i]);
	struct room *room = wanted ? wanted : refusing_room(rooms, type);
	enum vgpu_short result = VGPU_SHORT_INSTANCES;
	u32 start_gb, size_gb = type->placement_size_gb;
	struct vgpu_placement placement;
	char in[IN_ROOM];

	if (!room) {
		fault_add(faults, type->slices ?
			  "vgpus[%zu]: no room for a %.*s on GPU %s: there is no partition for it" :
			  "vgpus[%zu]: no room for a %.*s on GPU %s: it is divided, only types of partitions fit",
			  i, TEXT(type->name), plan->vgpu[i].want->address);
		return;
	}
	placement = room->placement;
	if (rooms->insts < VGPU_PLACEMENT_MAX)
		result = vgpu_placement_take(&placement, size_gb, &start_gb);
	if (result)
		fault_add(faults, "vgpus[%zu]: no room for a %.*s of %u GiB on GPU %s: %s (%u GiB free of %u)%s",
			  i, TEXT(type->name), size_gb, plan->vgpu[i].want->address,
			  shorts[result], vgpu_placement_free_gb(&room->placement),
			  room->placement.region_gb, in_room(plan, rooms, room, in));
	else
		refuse_guarantee(plan, rooms, i, room, room == wanted, faults);
}

/* Creates, in the order of the plan, what goes where it is to be; then what does not, elsewhere. */
static void create_vgpus(struct rooms *rooms, struct plan *plan, struct faults *faults)
{
	bool anywhere = false;
	size_t i, k = 0;

	while (k < plan->nr_creates || !anywhere) {
		if (k == plan->nr_creates) {
			anywhere = true;
			k = 0;
			continue;
		}
		i = plan->create[k++];
		if (plan->vgpu[i].gpu != rooms->gpu || rooms->of[i])
			continue;
		if (place_vgpu(rooms, plan, i, anywhere)) {
			/* One that could not go where it is to be may do so now. */
			anywhere = false;
			k = 0;
		} else if (anywhere) {
			refuse_vgpu(rooms, plan, i, faults);
			plan->vgpu[i].gpu = NULL;
		}
	}
}

/* Counts the guarantees of vGPUs whose rooms are known: those that are there or named. */
static void count_known(struct rooms *rooms, struct plan *plan, struct faults *faults)
{
	char why[VGPU_TEXT_LEN], in[IN_ROOM];
	struct plan_vgpu *vgpu;
	struct room *room;
	size_t i;

	for (i = 0; i < plan->nr_vgpus; i++) {
		vgpu = &plan->vgpu[i];
		if (vgpu->gpu != rooms->gpu)
			continue;
		room = wanted_room(rooms, vgpu);
		if (!room && vgpu->want->start != VGPU_PARTITION_ANYWHERE) {
			fault_add(faults, "vgpus[%zu].partition_start_eighth: GPU %s has no partition for a %.*s at eighth %u",
				  i, vgpu->want->address, TEXT(vgpu->type->name),
				  vgpu->want->start);
			vgpu->gpu = NULL;
			continue;
		}
		room = vgpu->is ? rooms->of[i] : room;
		if (!room)
			continue;
		if (!vgpu_share_admit(room->after, vgpu->guarantee, why, sizeof(why))) {
			room->after += vgpu->guarantee;
			continue;
		}
		fault_add(faults, "vgpus[%zu].guarantee_permille: %s%s", i, why,
			  in_room(plan, rooms, room, in));
		vgpu->gpu = NULL;
	}
}

/* Notes where vGPUs will be, and tells those that will not be where the file says. */
static void note_rooms(struct rooms *rooms, struct plan *plan, struct faults *faults)
{
	struct plan_vgpu *vgpu;
	struct room *room;
	size_t i;

	for (i = 0; i < plan->nr_vgpus; i++) {
		vgpu = &plan->vgpu[i];
		room = rooms->of[i];
		if (vgpu->gpu != rooms->gpu || !room || !room->slices)
			continue;
		vgpu->start = room->start;
		vgpu->elsewhere = vgpu->want->start != VGPU_PARTITION_ANYWHERE &&
				  vgpu->want->start != room->start;
		if (vgpu->elsewhere)
			fault_warn(faults, "vgpus[%zu].partition_start_eighth: %s the partition at eighth %u, not at %u",
				   i, vgpu->is ? "it is there, and stays in" :
				   "the driver would put it into", room->start, vgpu->want->start);
	}
}

/* Checks what depends on all vGPUs of a GPU. */
static void check_gpu(struct plan *plan, const struct world *world, const struct world_gpu *gpu,
		      struct faults *faults)
{
	struct rooms rooms = { .gpu = gpu };

	rooms.of = need_zeroed(plan->nr_vgpus, sizeof(*rooms.of));
	rooms.has = need_zeroed(plan->nr_vgpus, sizeof(*rooms.has));
	make_rooms(&rooms, plan);
	fill_rooms(&rooms, plan, world);
	count_known(&rooms, plan, faults);
	create_vgpus(&rooms, plan, faults);
	note_rooms(&rooms, plan, faults);
	free(rooms.of);
	free(rooms.has);
}

void plan_rooms(struct plan *plan, const struct world *world, struct faults *faults)
{
	size_t i;

	for (i = 0; i < world->nr_gpus; i++)
		check_gpu(plan, world, &world->gpu[i], faults);
}
