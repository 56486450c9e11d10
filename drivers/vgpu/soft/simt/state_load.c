// SPDX-License-Identifier: GPL-2.0
/*
 * Loads the state of a running dispatch: see state.h.
 *
 * Who loads a state need not trust it. What passes the checks here is in the bounds that the
 * interpreter relies on. That it is no state that the program can reach, harms nobody else: the
 * guest could write a program that reaches as bad a one.
 */
#include <linux/nospec.h>
#include <linux/string.h>

#include "state_warp.h"

static u8 simt_state_get8(const u8 **at)
{
	u8 value = **at;

	*at += 1;
	return value;
}

static u32 simt_state_get32(const u8 **at)
{
	__le32 raw;

	memcpy(&raw, *at, sizeof(raw));
	*at += sizeof(raw);
	return le32_to_cpu(raw);
}

static u64 simt_state_get64(const u8 **at)
{
	__le64 raw;

	memcpy(&raw, *at, sizeof(raw));
	*at += sizeof(raw);
	return le64_to_cpu(raw);
}

/* Whether a group can be the next one: others are in flight, so it is not the first one. */
static bool simt_state_next(const struct simt_dispatch *dispatch, const u32 next[3])
{
	const u32 *groups = dispatch->groups;

	if (!next[0] && !next[1] && (!next[2] || next[2] == groups[2]))
		return next[2];
	return next[0] < groups[0] && next[1] < groups[1] && next[2] < groups[2];
}

/**
 * simt_state_load_dispatch() - begin a dispatch that goes on from a saved state
 * @dispatch: the dispatch, set up as for simt_dispatch_begin()
 * @from: its record
 * @groups: set to the number of groups in flight
 *
 * This stands for simt_dispatch_begin(). The caller must load all groups in flight and all of their
 * warps, too, before it calls simt_group_run(). If a record is refused, it must not call that.
 *
 * Context: any.
 * Return: NULL, or which field is wrong.
 */
const char *simt_state_load_dispatch(struct simt_dispatch *dispatch,
				     const struct simt_state_dispatch *from, u32 *groups)
{
	u32 next[3];
	unsigned int k;

	simt_dispatch_begin(dispatch);
	for (k = 0; k < 3; k++)
		next[k] = le32_to_cpu(from->next[k]);
	if (!simt_state_next(dispatch, next))
		return "next";
	simt_dispatch_from(dispatch, next);
	dispatch->executed = le64_to_cpu(from->executed);
	*groups = le32_to_cpu(from->groups);
	return *groups && *groups <= SIMT_FLIGHTS ? NULL : "groups";
}

/* Whether it is the id of a group that has begun, after the one of the record before. */
static bool simt_state_begun(const struct simt_group *group, const struct simt_group *before)
{
	const struct simt_dispatch *dispatch = group->dispatch;
	unsigned int k;

	for (k = 0; k < 3; k++)
		if (group->group_id[k] >= dispatch->groups[k])
			return false;
	if (before && !simt_id_before(before->group_id, group->group_id))
		return false;
	return simt_id_before(group->group_id, dispatch->first);
}

/**
 * simt_state_load_group() - load a group in flight
 * @group: the group, after simt_group_init() with the dispatch that was loaded
 * @before: the group whose record was the one before; NULL: this is the first one
 * @from: its record
 *
 * This stands for simt_dispatch_next(). Sets @group->nr_warps. The caller copies local and private
 * memory itself. As ever, warps point to @group, which stays where it is.
 *
 * Context: any.
 * Return: NULL, or which field is wrong.
 */
const char *simt_state_load_group(struct simt_group *group, const struct simt_group *before,
				  const struct simt_state_group *from)
{
	u32 warp = le32_to_cpu(from->warp), waiting = le32_to_cpu(from->waiting);
	unsigned int k;

	for (k = 0; k < 3; k++)
		group->group_id[k] = le32_to_cpu(from->group_id[k]);
	if (!simt_state_begun(group, before))
		return "group_id";
	group->before = le32_to_cpu(from->clock);
	simt_lone_begin_group(group);
	simt_group_start(group);
	if (warp >= group->nr_warps)
		return "warp";
	warp = array_index_nospec(warp, group->nr_warps);
	if ((u64)waiting >> group->nr_warps || waiting >> warp & 1)
		return "waiting";
	group->warp = warp;
	group->waiting = waiting;
	return NULL;
}

/* Checks the place of the running group, against the lanes. */
static const char *simt_state_check_place(const struct simt_warp *w, u32 ip, u32 met)
{
	bool waiting = w->group->waiting >> w->index & 1;

	if ((ip != SIMT_STATE_NONE && ip > w->nr) || (waiting && ip != SIMT_STATE_NONE))
		return "ip";
	if (met != SIMT_STATE_NONE && (met >= w->nr || ip != SIMT_STATE_NONE))
		return "met";
	if (waiting && w->live & ~w->barrier)
		return "barrier";
	if (ip != SIMT_STATE_NONE)
		return w->active && !(w->active & w->barrier) ? NULL : "active";
	if (w->extra && (waiting || met != SIMT_STATE_NONE))
		return "extra";
	if (met == SIMT_STATE_NONE)
		return w->active && !w->fair ? "active" : w->depth ? "depth" : NULL;
	if (w->active != w->live)
		return "active";
	return w->barrier && w->barrier != w->live ? "barrier" : NULL;
}

static const char *simt_state_check_regs(const struct simt_warp *w)
{
	if (w->vec & ~(u64)simt_state_x(w->group))
		return "vec";
	if (w->narrow & ~w->vec)
		return "narrow";
	return w->wide & ~w->known ? "wide" : NULL;
}

static bool simt_state_too_deep(s32 depth)
{
	return depth != simt_state_depth(depth);
}

/* Whether the warp has ended, with nothing else in its record. */
static bool simt_state_ended(const struct simt_state_warp *from)
{
	const struct simt_state_warp ended = {
		.ip = cpu_to_le32(SIMT_STATE_NONE), .met = cpu_to_le32(SIMT_STATE_NONE),
	};

	return !memcmp(from, &ended, sizeof(ended));
}

/* Loads the first part of the record into a warp that has been started. */
static const char *simt_state_get_head(struct simt_warp *w, const struct simt_state_warp *from)
{
	u32 ip = le32_to_cpu(from->ip), met = le32_to_cpu(from->met);
	u32 live = le32_to_cpu(from->live), barrier = le32_to_cpu(from->barrier);
	const char *wrong;

	if (live & ~w->live || (!live && !simt_state_ended(from)) ||
	    (!live && !(w->group->waiting >> w->index & 1)))
		return "live";
	w->live = live;
	w->active = le32_to_cpu(from->active);
	w->barrier = barrier;
	w->reserved = le32_to_cpu(from->reserved);
	w->tried = live;
	w->again = live;
	w->extra = le32_to_cpu(from->extra);
	w->depth = le32_to_cpu(from->depth);
	w->vec = le32_to_cpu(from->vec);
	w->narrow = le32_to_cpu(from->narrow);
	w->known = le32_to_cpu(from->known);
	w->wide = le32_to_cpu(from->wide);
	w->fair = from->fair;
	w->turns = from->turns;
	w->last = from->last;
	if (w->active & ~live)
		return "active";
	if (barrier & ~live)
		return "barrier";
	if (w->reserved & ~live)
		return "reserved";
	if (simt_state_too_deep(w->depth))
		return "depth";
	if (from->fair > 1)
		return "fair";
	if (from->turns >= SIMT_FAIR_TURNS)
		return "turns";
	if (from->last >= SIMT_LANES)
		return "last";
	if (from->zero)
		return "zero";
	wrong = simt_state_check_place(w, ip, met);
	if (wrong)
		return wrong;
	w->ip = ip == SIMT_STATE_NONE ? SIMT_LEAVE :
		w->text + array_index_nospec((u64)ip, (u64)w->nr + 1);
	w->met = met == SIMT_STATE_NONE ? NULL :
		 w->text + array_index_nospec((u64)met, (u64)w->nr);
	return simt_state_check_regs(w);
}

/* Returns the bytes that follow the first part of the record. */
static size_t simt_state_rest(const struct simt_warp *w)
{
	const struct simt_program *program = w->group->dispatch->program;
	size_t live = hweight32(w->live), n = 0;

	if (!live)
		return 0;
	simt_state_each(r, simt_state_x(w->group))
		n += !simt_is_vec(w, r) ? 16 : (simt_is_narrow(w, r) ? 4 : 8) * live;
	n += live * (4 * hweight32(w->known) + 4 * hweight32(w->wide));
	n += 8 * hweight32(simt_state_waiting(w));
	n += live * (program->frm + program->exact);
	return n + 16 * hweight32(w->reserved);
}

static void simt_state_get_x(struct simt_warp *w, unsigned int r, const u8 **at)
{
	if (!simt_is_vec(w, r)) {
		w->base[r] = simt_state_get64(at);
		w->stride[r] = simt_state_get64(at);
		return;
	}
	memset(&w->x[r], 0, sizeof(w->x[r]));
	simt_state_each(l, w->live) {
		if (simt_is_narrow(w, r))
			w->x[r].n[l] = simt_state_get32(at);
		else
			w->x[r].d[l] = simt_state_get64(at);
	}
}

static void simt_state_get_f(struct simt_warp *w, unsigned int r, const u8 **at)
{
	memset(&w->f[r], 0, sizeof(w->f[r]));
	simt_state_each(l, w->live) {
		if (w->wide >> r & 1)
			w->f[r].d[l] = simt_state_get64(at);
		else
			w->f[r].s[l] = simt_state_get32(at);
	}
}

static const char *simt_state_get_pcs(struct simt_warp *w, const u8 **at)
{
	simt_state_each(l, simt_state_waiting(w)) {
		u32 pc = simt_state_get32(at);

		if (pc > w->nr)
			return "pc";
		w->pc[l] = array_index_nospec((u64)pc, (u64)w->nr + 1);
		w->depths[l] = simt_state_get32(at);
		if (simt_state_too_deep(w->depths[l]))
			return "depths";
	}
	return NULL;
}

/* LR has read an aligned address, and sign-extended what it has read. */
static bool simt_state_reservation(u64 va, u64 value)
{
	return va & 1 ? !(va & 6) : !(va & 2) && value == (u64)(s64)(s32)value;
}

static const char *simt_state_get_lanes(struct simt_warp *w, const u8 **at)
{
	const struct simt_program *program = w->group->dispatch->program;
	const char *wrong = simt_state_get_pcs(w, at);

	if (wrong)
		return wrong;
	if (program->frm) {
		simt_state_each(l, w->live) {
			w->frm[l] = simt_state_get8(at);
			if (w->frm[l] > 7)
				return "frm";
		}
	}
	if (program->exact) {
		simt_state_each(l, w->live) {
			w->fflags[l] = simt_state_get8(at);
			if (w->fflags[l] > 0x1f)
				return "fflags";
		}
	}
	simt_state_each(l, w->reserved) {
		w->reserved_va[l] = simt_state_get64(at);
		w->reserved_value[l] = simt_state_get64(at);
		if (!simt_state_reservation(w->reserved_va[l], w->reserved_value[l]))
			return "reservation";
	}
	return NULL;
}

/* Computes what is not in the record: as simt_warp_form() has left it, but for the cost. */
static void simt_state_derive(struct simt_warp *w)
{
	u32 join = w->nr;

	if (simt_state_parted(w) || w->met)
		return;
	w->partial = w->live & ~w->active;
	if (w->partial)
		simt_warp_mask(w);
	if (!w->fair)
		simt_state_each(l, w->partial & ~w->barrier)
			if (w->depths[l] == w->depth)
				join = min(join, w->pc[l]);
	/* An instruction that costs more makes the warp leave the running group. */
	w->join = w->text + (w->extra ? 0 : join);
}

/**
 * simt_state_load_warp() - load a warp of a group in flight
 * @group: the group, after simt_state_load_group()
 * @index: index of the warp, below @group->nr_warps
 * @from: its record
 * @bytes: the bytes of the record; may be wrong
 * Context: any.
 * Return: NULL, or which field is wrong.
 */
const char *simt_state_load_warp(struct simt_group *group, u32 index, const void *from,
				 size_t bytes)
{
	struct simt_warp *w = &group->warps[index];
	const u8 *at = (const u8 *)from + sizeof(struct simt_state_warp);
	struct simt_state_warp head;
	const char *wrong;

	if (bytes < sizeof(head))
		return "length";
	memcpy(&head, from, sizeof(head));
	wrong = simt_state_get_head(w, &head);
	if (wrong)
		return wrong;
	if (bytes != sizeof(head) + simt_state_rest(w))
		return "length";
	if (!w->live)
		return NULL;
	simt_state_each(r, simt_state_x(group))
		simt_state_get_x(w, r, &at);
	simt_state_each(r, w->known)
		simt_state_get_f(w, r, &at);
	if (!simt_lone_able(w))
		return "known";
	wrong = simt_state_get_lanes(w, &at);
	if (wrong)
		return wrong;
	simt_state_derive(w);
	return NULL;
}
