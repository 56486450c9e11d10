// SPDX-License-Identifier: GPL-2.0
/*
 * A DISPATCH of a paused vGPU: saved as records, and built from records. What the interpreter has
 * of it are records of simt/state.h, which any interpreter continues; around them are the packet,
 * the head of the program as it was when the dispatch began, the program, and the memory of the
 * groups in flight. Contexts that are idle, and what was made for a dispatch that has
 * not begun, are made again.
 */
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "../queue/queues.h"
#include "../simt/state.h"
#include "../state/records.h"
#include "context_record.h"
#include "flight.h"
#include "packet_types.h"
#include "work.h"

/**
 * soft_context_begun() - struct soft_packet_desc.begun of DISPATCH
 * @ch: of a paused vGPU
 * Context: any.
 * Return: whether the channel has a dispatch that has executed an instruction. One that has not
 * begins anew, with the head and the text as they are then, as if it had waited until then.
 */
bool soft_context_begun(const struct soft_channel *ch)
{
	const struct soft_context *context = soft_context(ch);

	return context && context->program && soft_context_executed(context);
}

static void soft_context_save_head(const struct soft_channel *ch, struct vgpu_records *to)
{
	const struct soft_program_head *head =
		soft_exec_work(&ch->exec, const struct soft_program_head);
	struct soft_context_record *record;

	record = vgpu_record_add(to, SOFT_RECORD_CONTEXT, sizeof(*record));
	if (!record)
		return;
	record->program = cpu_to_le32(soft_context(ch)->program->number);
	record->head = (struct vgpu_hw_program) {
		.magic = cpu_to_le32(VGPU_HW_PROGRAM_MAGIC),
		.image_bytes = cpu_to_le32(head->image_bytes),
		.text_bytes = cpu_to_le32(head->text_bytes),
		.entry = cpu_to_le32(head->entry),
		.image = cpu_to_le64(head->image),
		.private_bytes = cpu_to_le32(head->private_bytes),
	};
}

static void soft_context_save_memory(const struct simt_group *group, struct vgpu_records *to)
{
	size_t bytes = simt_state_private_bytes(group), at, part;
	void *data;

	vgpu_record_add_bytes(to, SOFT_RECORD_LOCAL, group->local, group->local_bytes);
	for (at = 0; at < bytes; at += part) {
		part = min_t(size_t, bytes - at, VGPU_RECORD_MAX);
		data = vgpu_record_add(to, SOFT_RECORD_PRIVATE, part);
		if (!data)
			return;
		simt_state_save_private(group, at, data, part);
		cond_resched();
	}
}

static void soft_context_save_warps(const struct simt_group *group, struct vgpu_records *to)
{
	void *warp = kvmalloc(SIMT_STATE_WARP_MAX, VGPU_RECORD_GFP);
	u32 i;

	if (!warp && !to->error)
		to->error = -ENOMEM;
	for (i = 0; warp && i < group->nr_warps; i++) {
		vgpu_record_add_bytes(to, SOFT_RECORD_WARP, warp,
				      simt_state_save_warp(group, i, warp));
		cond_resched();
	}
	kvfree(warp);
}

static void soft_context_save_group(const struct simt_group *group, struct vgpu_records *to)
{
	struct simt_state_group *record;

	record = vgpu_record_add(to, SOFT_RECORD_GROUP, sizeof(*record));
	if (record)
		simt_state_save_group(group, record);
	soft_context_save_memory(group, to);
	soft_context_save_warps(group, to);
}

/* Finds the groups in flight, in the order of their ids. Returns their number. */
static u32 soft_context_groups(const struct soft_context *context,
			       const struct simt_group *groups[SIMT_FLIGHTS])
{
	const struct soft_flight *flight;
	u32 nr = 0, i;

	list_for_each_entry(flight, &context->flights.all, all) {
		const struct simt_group *group = &flight->group;

		if (!flight->begun)
			continue;
		for (i = nr++; i && simt_id_before(group->group_id, groups[i - 1]->group_id); i--)
			groups[i] = groups[i - 1];
		groups[i] = group;
	}
	return nr;
}

/**
 * soft_context_put_aside() - struct soft_packet_desc.put_aside of DISPATCH
 * @ch: of a paused vGPU, with a dispatch that has begun, whose program has been saved
 * @answered: not used: a dispatch makes no request to guest memory
 * @to: add the records there
 * Context: sleeps.
 */
void soft_context_put_aside(const struct soft_channel *ch, bool answered, struct vgpu_records *to)
{
	const struct soft_context *context = soft_context(ch);
	const struct simt_group *groups[SIMT_FLIGHTS];
	u32 nr = soft_context_groups(context, groups), i;
	struct simt_state_dispatch *position;

	soft_context_save_head(ch, to);
	position = vgpu_record_add(to, SOFT_RECORD_DISPATCH, sizeof(*position));
	if (position)
		simt_state_save_dispatch(&context->dispatch, soft_context_executed(context), nr,
					 position);
	for (i = 0; i < nr; i++)
		soft_context_save_group(groups[i], to);
}

/* Reads the head and gives the channel a context with the program. */
static int soft_context_load_head(struct soft_channel *ch, struct vgpu_record_reader *from)
{
	struct soft_program_head *head = soft_context_head(&ch->exec);
	struct soft_compute *compute = soft_compute(ch);
	struct soft_context_record record;
	struct soft_context_size size;
	struct soft_context *context;
	struct soft_program *program;
	struct soft_limits limits;
	const char *field;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_CONTEXT, "dispatch", &record, pad);
	if (ret)
		return ret;
	soft_channel_limits(ch, &limits);
	field = soft_context_record_check(&record, &limits,
					  soft_dispatch_operands(&ch->exec.packet),
					  compute->nr_loaded, head);
	if (field)
		return vgpu_record_refuse(from, "dispatch", field);
	program = compute->loaded[array_index_nospec(le32_to_cpu(record.program) - 1,
						     compute->nr_loaded)];
	if (program->text.nr != head->text_bytes / 4)
		return vgpu_record_refuse(from, "dispatch", "text_bytes");
	size = soft_context_size(&ch->exec);
	context = soft_context_alloc(compute, &size, &ret);
	if (!context)
		return ret == -EBUSY ? vgpu_record_refuse(from, "dispatch", "too many bytes") : ret;
	soft_contexts(ch)->used = context;
	soft_programs_use(&compute->programs, program);
	soft_context_set(ch, program);
	return 0;
}

/* Begins the dispatch where it was. Sets @nr to the number of groups in flight. */
static int soft_context_load_position(struct soft_context *context, struct vgpu_record_reader *from,
				      u32 *nr)
{
	struct simt_state_dispatch position;
	const char *field;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_DISPATCH, "position", &position, groups);
	if (ret)
		return ret;
	field = simt_state_load_dispatch(&context->dispatch, &position, nr);
	/* What groups execute is added to it: the sum must never be 0, which is "not begun". */
	if (!field && (!context->dispatch.executed || context->dispatch.executed > S64_MAX))
		field = "executed";
	return field ? vgpu_record_refuse(from, "position", field) : 0;
}

static int soft_context_load_warps(struct simt_group *group, struct vgpu_record_reader *from)
{
	const char *field;
	const void *data;
	size_t bytes;
	int ret;
	u32 i;

	for (i = 0; i < group->nr_warps; i++) {
		bytes = from->length;
		ret = vgpu_record_take(from, SOFT_RECORD_WARP, "warp", bytes, &data);
		if (ret)
			return ret;
		field = simt_state_load_warp(group, i, data, bytes);
		if (field)
			return vgpu_record_refuse(from, "warp", field);
		cond_resched();
	}
	return 0;
}

static int soft_context_load_group(struct simt_group *group, const struct simt_group *before,
				   struct vgpu_record_reader *from)
{
	struct simt_state_group record;
	const char *field;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_GROUP, "group", &record, clock);
	if (ret)
		return ret;
	field = simt_state_load_group(group, before, &record);
	if (field)
		return vgpu_record_refuse(from, "group", field);
	ret = vgpu_record_take_bytes(from, SOFT_RECORD_LOCAL, "local memory", group->local,
				     group->local_bytes);
	if (!ret)
		ret = vgpu_record_take_bytes(from, SOFT_RECORD_PRIVATE, "private memory",
					     group->private, simt_state_private_bytes(group));
	return ret ?: soft_context_load_warps(group, from);
}

/* A flight for one more group. NULL: see @ret. */
static struct soft_flight *soft_context_load_flight(struct soft_context *context,
						    struct vgpu_record_reader *from, int *ret)
{
	struct soft_flight *flight = &context->own;

	if (context->flights.nr) {
		flight = soft_flight_alloc(context->compute, &context->own.size, false, ret);
		if (flight)
			context->made++;
		if (*ret == -EBUSY)
			*ret = vgpu_record_refuse(from, "position", "too many bytes");
	}
	if (flight) {
		soft_flight_set(flight, context);
		simt_group_init(&flight->group, &context->dispatch);
		soft_flights_add(&context->flights, flight, true);
	}
	return flight;
}

/**
 * soft_context_bring_back() - struct soft_packet_desc.bring_back of DISPATCH
 * @ch: of a paused vGPU, with the packet and without a context; the programs have been loaded
 * @from: the records come next
 * Context: sleeps.
 * Return: 0; -EINVAL with the reason in @from, or -ENOMEM. Then the dispatch must not go on; what
 * the channel has is freed when it is disabled.
 */
int soft_context_bring_back(struct soft_channel *ch, struct vgpu_record_reader *from)
{
	const struct simt_group *before = NULL;
	struct soft_context *context;
	struct soft_flight *flight;
	u32 nr = 0;
	int ret;

	ret = soft_context_load_head(ch, from);
	if (ret)
		return ret;
	context = soft_context(ch);
	ret = soft_context_load_position(context, from, &nr);
	while (!ret && nr--) {
		flight = soft_context_load_flight(context, from, &ret);
		if (!flight)
			break;
		ret = soft_context_load_group(&flight->group, before, from);
		before = &flight->group;
	}
	if (!ret)
		soft_context_fill_up(context, soft_context_flights(ch));
	return ret;
}
