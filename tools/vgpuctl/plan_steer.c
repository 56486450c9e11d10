// SPDX-License-Identifier: GPL-2.0
/*
 * In which order vGPUs are created, and what guarantees they have meanwhile, so that the driver
 * puts each into the partition in which it is to be.
 *
 * Of the partitions of a profile the driver takes the one with the least free framebuffer in which
 * the vGPU and its first guarantee have room. So a vGPU that has just been created closes its
 * partition if it gets all that is left as its guarantee, and opens it again if it has none.
 */
#include "core/settings/share_rules.h"

#include "message.h"
#include "room.h"

u32 room_first_guarantee(const struct room *room, const struct vgpu_ctl_type *type)
{
	struct vgpu_ctl_share settings;

	vgpu_share_default(&settings, type->placement_size_gb, room->placement.region_gb);
	return settings.guarantee;
}

static void add_step(struct plan *plan, size_t vgpu, bool create, u32 guarantee)
{
	plan->step = reallocarray(plan->step, plan->nr_steps + 1, sizeof(*plan->step));
	need_memory(plan->step);
	plan->step[plan->nr_steps++] = (struct plan_step){
		.vgpu = vgpu, .create = create, .guarantee = guarantee,
	};
}

static bool is_new_in(const struct rooms *rooms, const struct plan *plan, size_t i,
		      const struct room *room)
{
	return rooms->of[i] == room && !plan->vgpu[i].is;
}

static void give(struct rooms *rooms, struct plan *plan, size_t i, u32 guarantee)
{
	if (rooms->has[i] == guarantee)
		return;
	rooms->of[i]->now += guarantee - rooms->has[i];
	rooms->has[i] = guarantee;
	plan->vgpu[i].led = true;
	add_step(plan, i, false, guarantee);
}

/* Takes guarantees of new vGPUs back until @guarantee fits. */
static void open_room(struct rooms *rooms, struct plan *plan, struct room *room, u32 guarantee)
{
	size_t i;

	for (i = 0; i < plan->nr_vgpus && room->now + guarantee > VGPU_PER_MILLE; i++)
		if (is_new_in(rooms, plan, i, room))
			give(rooms, plan, i, 0);
}

/* Has a new vGPU, which can take all guarantee that is left? Gives it, if @plan_it. */
static bool close_room(struct rooms *rooms, struct plan *plan, struct room *room, bool plan_it)
{
	size_t i;

	for (i = 0; i < plan->nr_vgpus; i++) {
		if (!is_new_in(rooms, plan, i, room))
			continue;
		if (plan_it)
			give(rooms, plan, i, rooms->has[i] + VGPU_PER_MILLE - room->now);
		return true;
	}
	return false;
}

static bool has_place(const struct room *room, const struct vgpu_ctl_type *type)
{
	return vgpu_placement_available(&room->placement, type->placement_size_gb);
}

/* Would the driver take @room rather than @to? */
static bool is_before(const struct rooms *rooms, const struct room *room, const struct room *to,
		      const struct vgpu_ctl_type *type)
{
	u32 free_gb = vgpu_placement_free_gb(&room->placement);
	u32 to_gb = vgpu_placement_free_gb(&to->placement);
	u32 first = room_first_guarantee(room, type);

	if (room == to || room->slices != to->slices || !has_place(room, type) ||
	    (first && room->now + first > VGPU_PER_MILLE))
		return false;
	return free_gb < to_gb || (free_gb == to_gb && room < to);
}

bool room_steer(struct rooms *rooms, struct plan *plan, size_t i, struct room *to, bool plan_it)
{
	const struct vgpu_ctl_type *type = plan->vgpu[i].type;
	u32 first = room_first_guarantee(to, type), start_gb;
	struct room *room;

	if (rooms->insts == VGPU_PLACEMENT_MAX || to->slices != type->slices ||
	    !has_place(to, type) || to->base + first > VGPU_PER_MILLE)
		return false;
	for (room = rooms->at; room < rooms->at + rooms->nr; room++) {
		if (!is_before(rooms, room, to, type))
			continue;
		if (!room_first_guarantee(room, type) || !close_room(rooms, plan, room, plan_it))
			return false;
	}
	if (!plan_it)
		return true;
	open_room(rooms, plan, to, first);
	vgpu_placement_take(&to->placement, type->placement_size_gb, &start_gb);
	to->now += first;
	rooms->has[i] = first;
	rooms->of[i] = to;
	rooms->insts++;
	add_step(plan, i, true, 0);
	return true;
}
