// SPDX-License-Identifier: GPL-2.0
/*
 * In which order vGPUs are created, and what guarantees they have meanwhile, so that the driver
 * puts each into the partition in which it is to be.
 *
 * The driver takes a partition only if the vGPU's first guarantee has room there, too. So a vGPU
 * that has just been created closes its partition if it gets all that is left as its guarantee, and
 * opens it again if it has none.
 */
#include "core/objects/place_rules.h"
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

/* The room that the driver would take, if @to were open and those of a mask closed; NULL: none. */
static struct room *choose_room(struct rooms *rooms, const struct vgpu_ctl_type *type,
				const struct room *to, u32 closed)
{
	struct vgpu_place_choice choice = {};
	struct room *room, *best = NULL;

	for (room = rooms->at; room < rooms->at + rooms->nr; room++)
		if (room->slices == type->slices && !(closed >> (room - rooms->at) & 1) &&
		    vgpu_place_offer(&choice, &room->placement,
				     room == to ? room->base : room->now, type->placement_size_gb))
			best = room;
	return choice.room ? best : NULL;
}

bool room_steer(struct rooms *rooms, struct plan *plan, size_t i, struct room *to, bool plan_it)
{
	const struct vgpu_ctl_type *type = plan->vgpu[i].type;
	u32 first = room_first_guarantee(to, type), start_gb, closed = 0;
	struct room *room;

	if (rooms->insts == VGPU_PLACEMENT_MAX)
		return false;
	while ((room = choose_room(rooms, type, to, closed)) != to) {
		if (!room || !room_first_guarantee(room, type) ||
		    !close_room(rooms, plan, room, plan_it))
			return false;
		closed |= 1u << (room - rooms->at);
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
