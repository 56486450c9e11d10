// SPDX-License-Identifier: GPL-2.0
/* Saves the state of a running dispatch: see state.h. */
#include <linux/string.h>

#include "state_warp.h"

static void simt_state_put8(u8 **at, u8 value)
{
	**at = value;
	*at += 1;
}

static void simt_state_put32(u8 **at, u32 value)
{
	__le32 raw = cpu_to_le32(value);

	memcpy(*at, &raw, sizeof(raw));
	*at += sizeof(raw);
}

static void simt_state_put64(u8 **at, u64 value)
{
	__le64 raw = cpu_to_le64(value);

	memcpy(*at, &raw, sizeof(raw));
	*at += sizeof(raw);
}

/* Lanes in struct simt_state_warp.active. If groups take turns, the last one goes to the end. */
static u32 simt_state_active(const struct simt_warp *w)
{
	if (simt_state_parted(w) && !w->fair)
		return 0;
	return w->active & w->live;
}

/**
 * simt_state_save_dispatch() - save how far a dispatch has come
 * @dispatch: the dispatch, which has begun and is not complete
 * @executed: instructions that warps of all groups have executed so far
 * @groups: number of groups in flight, at least 1, at most SIMT_FLIGHTS
 * @to: set to its record
 * Context: any.
 */
void simt_state_save_dispatch(const struct simt_dispatch *dispatch, u64 executed, u32 groups,
			      struct simt_state_dispatch *to)
{
	u32 next[3];
	unsigned int k;

	simt_dispatch_id(dispatch, min(dispatch->given, dispatch->left), next);
	to->executed = cpu_to_le64(executed);
	for (k = 0; k < 3; k++)
		to->next[k] = cpu_to_le32(next[k]);
	to->groups = cpu_to_le32(groups);
}

/**
 * simt_state_save_group() - save a group in flight
 * @group: the group
 * @to: set to its record
 * Context: any.
 */
void simt_state_save_group(const struct simt_group *group, struct simt_state_group *to)
{
	unsigned int k;

	for (k = 0; k < 3; k++)
		to->group_id[k] = cpu_to_le32(group->group_id[k]);
	to->warp = cpu_to_le32(group->warp);
	to->waiting = cpu_to_le32(group->waiting);
	to->clock = cpu_to_le32(simt_group_clock(group));
}

/* Returns the bytes of the private memory of a group in flight. Context: any. */
size_t simt_state_private_bytes(const struct simt_group *group)
{
	return (size_t)group->nr_warps * SIMT_LANES * group->private_bytes;
}

/**
 * simt_state_save_private() - copy a part of the private memory of a group in flight
 * @group: the group
 * @offset: of the first byte, a multiple of 8
 * @to: set to the memory's bytes; to 0 where it belongs to a lane that has ended
 * @bytes: number of bytes, a multiple of 8; @offset + @bytes is at most simt_state_private_bytes()
 * Context: any.
 */
void simt_state_save_private(const struct simt_group *group, size_t offset, void *to, size_t bytes)
{
	size_t row = SIMT_LANES * (size_t)group->private_bytes, at;

	memcpy(to, group->private + offset, bytes);
	for (at = 0; at < bytes; at += 8) {
		u32 live = group->warps[(offset + at) / row].live;

		if (!(live >> ((offset + at) / 8 % SIMT_LANES) & 1))
			memset((u8 *)to + at, 0, 8);
	}
}

static void simt_state_put_head(const struct simt_warp *w, struct simt_state_warp *to)
{
	u32 x = simt_state_x(w->group);

	memset(to, 0, sizeof(*to));
	to->ip = cpu_to_le32(w->ip == SIMT_LEAVE ? SIMT_STATE_NONE : (u32)(w->ip - w->text));
	to->met = cpu_to_le32(w->met ? (u32)(w->met - w->text) : SIMT_STATE_NONE);
	if (!w->live)
		return;
	to->live = cpu_to_le32(w->live);
	to->active = cpu_to_le32(simt_state_active(w));
	to->barrier = cpu_to_le32(w->barrier);
	to->reserved = cpu_to_le32(w->reserved & w->live);
	to->extra = cpu_to_le32(w->extra);
	to->depth = cpu_to_le32(simt_state_parted(w) ? 0 : simt_state_depth(w->depth));
	to->vec = cpu_to_le32((u32)w->vec & x);
	to->narrow = cpu_to_le32((u32)w->narrow & x);
	to->known = cpu_to_le32(w->known);
	to->wide = cpu_to_le32(w->wide);
	to->fair = w->fair;
	to->turns = w->turns % SIMT_FAIR_TURNS;
	to->last = w->last;
}

static void simt_state_put_x(const struct simt_warp *w, unsigned int r, u8 **at)
{
	if (!simt_is_vec(w, r)) {
		simt_state_put64(at, w->base[r]);
		simt_state_put64(at, w->stride[r]);
	} else if (simt_is_narrow(w, r)) {
		simt_state_each(l, w->live)
			simt_state_put32(at, w->x[r].n[l]);
	} else {
		simt_state_each(l, w->live)
			simt_state_put64(at, w->x[r].d[l]);
	}
}

static void simt_state_put_f(const struct simt_warp *w, unsigned int r, u8 **at)
{
	simt_state_each(l, w->live) {
		if (w->wide >> r & 1)
			simt_state_put64(at, w->f[r].d[l]);
		else
			simt_state_put32(at, w->f[r].s[l]);
	}
}

static void simt_state_put_lanes(const struct simt_warp *w, u8 **at)
{
	const struct simt_program *program = w->group->dispatch->program;

	simt_state_each(l, simt_state_waiting(w)) {
		simt_state_put32(at, w->pc[l]);
		simt_state_put32(at, simt_state_depth(w->depths[l]));
	}
	if (program->frm)
		simt_state_each(l, w->live)
			simt_state_put8(at, w->frm[l]);
	if (program->exact)
		simt_state_each(l, w->live)
			simt_state_put8(at, w->fflags[l]);
	simt_state_each(l, w->reserved & w->live) {
		simt_state_put64(at, w->reserved_va[l]);
		simt_state_put64(at, w->reserved_value[l]);
	}
}

/**
 * simt_state_save_warp() - save a warp of a group in flight
 * @group: the group
 * @index: index of the warp, below @group->nr_warps
 * @to: set to its record; has room for SIMT_STATE_WARP_MAX bytes
 * Context: any.
 * Return: the bytes of the record.
 */
size_t simt_state_save_warp(const struct simt_group *group, u32 index, void *to)
{
	const struct simt_warp *w = &group->warps[index];
	struct simt_state_warp head;
	u8 *at = to;

	simt_state_put_head(w, &head);
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	if (!w->live)
		return sizeof(head);
	simt_state_each(r, simt_state_x(group))
		simt_state_put_x(w, r, &at);
	simt_state_each(r, w->known)
		simt_state_put_f(w, r, &at);
	simt_state_put_lanes(w, &at);
	return at - (u8 *)to;
}
