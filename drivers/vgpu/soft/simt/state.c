// SPDX-License-Identifier: GPL-2.0
/*
 * Saves and loads the state of a running dispatch: see state.h.
 *
 * Who loads a state need not trust it. What passes the checks here is in the bounds that the
 * interpreter relies on. That it is no state that the program can reach, harms nobody else: the
 * guest could write a program that reaches as bad a one.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define cpu_to_le32(x)	htole32(x)
#define cpu_to_le64(x)	htole64(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#endif

#include "reg.h"
#include "state.h"

/* Integer registers that a record may have: not x0, which is 0, nor SIMT_X_SINK. */
#define SIMT_STATE_X	0xfffffffeU

/* Each lane of a set, from the lowest on. */
#define simt_state_each(l, set)							\
	for (u32 rest_ = (set), l; rest_ && (l = __ffs(rest_), true); rest_ &= rest_ - 1)

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

/* Whether the next running group must be picked, and no group is kept by a barrier. */
static bool simt_state_parted(const struct simt_warp *w)
{
	return w->ip == SIMT_LEAVE && !w->met;
}

/* Lanes in struct simt_state_warp.active. If groups take turns, the last one goes to the end. */
static u32 simt_state_active(const struct simt_warp *w)
{
	if (simt_state_parted(w) && !w->fair)
		return 0;
	return w->active & w->live;
}

/* Lanes that have a pc of their own. */
static u32 simt_state_waiting(const struct simt_warp *w)
{
	if (simt_state_parted(w))
		return w->live;
	return w->met ? 0 : w->live & ~w->active;
}

/* Integer registers of the record. All others have the values of simt_warp_start(). */
static u32 simt_state_x(const struct simt_group *group)
{
	return group->dispatch->program->written & SIMT_STATE_X;
}

static s32 simt_state_depth(s32 depth)
{
	return clamp(depth, -SIMT_STATE_DEPTH_MAX, SIMT_STATE_DEPTH_MAX);
}

/**
 * simt_state_save_dispatch() - save how far a dispatch has come
 * @dispatch: the dispatch, which has begun and is not complete
 * @executed: instructions that warps of all groups have executed so far
 * @to: set to its record
 * Context: any.
 */
void simt_state_save_dispatch(const struct simt_dispatch *dispatch, u64 executed,
			      struct simt_state_dispatch *to)
{
	u32 next[3];
	unsigned int k;

	simt_dispatch_id(dispatch, min(dispatch->given, dispatch->left), next);
	to->executed = cpu_to_le64(executed);
	for (k = 0; k < 3; k++)
		to->next[k] = cpu_to_le32(next[k]);
	to->groups = cpu_to_le32(1);
}

/**
 * simt_state_save_group() - save the group in flight
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
	to->zero = 0;
}

/* Returns the bytes of the private memory of the group in flight. Context: any. */
size_t simt_state_private_bytes(const struct simt_group *group)
{
	return (size_t)group->nr_warps * SIMT_LANES * group->private_bytes;
}

/**
 * simt_state_save_private() - copy a part of the private memory of the group in flight
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
 * simt_state_save_warp() - save a warp of the group in flight
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

/* Whether a group can be the next one: another one is in flight, so it is not the first one. */
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
 *
 * This stands for simt_dispatch_begin(). The caller must load the group and all of its warps, too,
 * before it calls simt_group_run(). If a record is refused, it must not call that.
 *
 * Context: any.
 * Return: NULL, or which field is wrong.
 */
const char *simt_state_load_dispatch(struct simt_dispatch *dispatch,
				     const struct simt_state_dispatch *from)
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
	return from->groups == cpu_to_le32(1) ? NULL : "groups";
}

/* Sets the group's id to the one before the first group that is to be handed out. */
static void simt_state_last(struct simt_group *group)
{
	const struct simt_dispatch *dispatch = group->dispatch;
	unsigned int k;

	memcpy(group->group_id, dispatch->first, sizeof(group->group_id));
	for (k = 0; k < 2 && !group->group_id[k]; k++)
		group->group_id[k] = dispatch->groups[k] - 1;
	group->group_id[k]--;
}

/**
 * simt_state_load_group() - load the group in flight
 * @group: the group, after simt_group_init() with the dispatch that was loaded
 * @from: its record
 *
 * This stands for simt_dispatch_next(). Sets @group->nr_warps. The caller copies local and private
 * memory itself. As ever, warps point to @group, which stays where it is.
 *
 * Context: any.
 * Return: NULL, or which field is wrong.
 */
const char *simt_state_load_group(struct simt_group *group, const struct simt_state_group *from)
{
	u32 warp = le32_to_cpu(from->warp), waiting = le32_to_cpu(from->waiting);
	unsigned int k;

	simt_state_last(group);
	for (k = 0; k < 3; k++)
		if (le32_to_cpu(from->group_id[k]) != group->group_id[k])
			return "group_id";
	group->before = (u32)group->dispatch->executed;
	simt_lone_begin_group(group);
	simt_group_start(group);
	if (warp >= group->nr_warps)
		return "warp";
	warp = array_index_nospec(warp, group->nr_warps);
	if ((u64)waiting >> group->nr_warps || waiting >> warp & 1)
		return "waiting";
	group->warp = warp;
	group->waiting = waiting;
	return from->zero ? "zero" : NULL;
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
 * simt_state_load_warp() - load a warp of the group in flight
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
