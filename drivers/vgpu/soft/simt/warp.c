// SPDX-License-Identifier: GPL-2.0
/* Start and end of a warp, and the choice of the lanes that run. */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "reg.h"

/* Computes local ids: the first dimension varies fastest, then the second, then the third. */
static void simt_warp_lay_out(struct simt_warp *w, const struct simt_group *group)
{
	const u32 *size = group->size;
	u32 item = w->index * SIMT_LANES;
	u32 x = item % size[0], y = item / size[0] % size[1], z = item / size[0] / size[1];

	for (unsigned int l = 0; l < SIMT_LANES; l++) {
		w->lid[0][l] = x;
		w->lid[1][l] = y;
		w->lid[2][l] = z;
		if (++x < size[0])
			continue;
		x = 0;
		if (++y < size[1])
			continue;
		y = 0;
		z++;
	}
	memcpy(w->lid_size, size, sizeof(w->lid_size));
}

/**
 * simt_warp_start() - begin a warp of a group
 * @w: the warp, set up by simt_group_init() or used by an earlier group of the dispatch
 * @group: the group, with its size set
 * @index: number of the warp in the group
 * Context: any.
 */
void simt_warp_start(struct simt_warp *w, struct simt_group *group, u32 index)
{
	const struct simt_dispatch *dispatch = group->dispatch;
	u32 items = group->size[0] * group->size[1] * group->size[2];
	u32 left = items - index * SIMT_LANES;
	u64 rest;

	w->group = group;
	w->text = dispatch->program->insn;
	w->nr = dispatch->program->nr;
	w->index = index;
	w->private = group->private + (size_t)index * SIMT_LANES * dispatch->private_bytes;
	if (memcmp(w->lid_size, group->size, sizeof(w->lid_size)))
		simt_warp_lay_out(w, group);

	w->live = left < SIMT_LANES ? (1U << left) - 1 : U32_MAX;
	w->active = w->live;
	w->partial = 0;
	w->barrier = 0;
	w->depth = 0;
	w->fair = false;
	w->turns = 0;
	w->lead = 0;
	w->last = 0;
	w->event = SIMT_EVENT_PICK;
	w->extra = 0;
	w->watch = 0;
	w->ip = w->text + dispatch->entry;
	/* It looks there whether lanes are to run alone from then on. */
	w->join = w->text + min(w->nr, group->apart_head);
	w->met = NULL;

	w->vec = 0;
	w->narrow = 0;
	w->wide = 0;
	w->known = 0;
	w->reserved = 0;
	w->tried = 0;
	w->again = 0;
	memset(w->frm, 0, sizeof(w->frm));
	memset(w->fflags, 0, sizeof(w->fflags));
	for (rest = dispatch->program->written; rest; rest &= rest - 1) {
		w->base[__ffs64(rest)] = 0;
		w->stride[__ffs64(rest)] = 0;
	}
	w->base[1] = VGPU_HW_VA_IMAGE + 4 * (u64)w->nr;
	w->base[2] = VGPU_HW_VA_PRIVATE + dispatch->private_bytes;
	w->base[10] = dispatch->args;
}

/* Returns the address of an instruction, as the program sees it. */
u64 simt_warp_va(const struct simt_warp *w, const struct simt_insn *i)
{
	return VGPU_HW_VA_IMAGE + 4 * (u64)(i - w->text);
}

/*
 * Returns @extra, at most @most. The caller takes it off the budget, but it does not count as
 * executed instructions.
 */
u32 simt_warp_charge(struct simt_warp *w, u32 extra, u32 most)
{
	extra = min(extra, most);
	w->group->executed -= extra;
	return extra;
}

/* Likewise, of the cost of the last instruction beyond 1. */
u32 simt_warp_extra(struct simt_warp *w, u32 most)
{
	u32 extra = w->extra;

	w->extra = 0;
	return simt_warp_charge(w, extra, most);
}

/* Makes the lanes of the running group wait; they continue at @ip later. */
void simt_warp_park(struct simt_warp *w, const struct simt_insn *ip)
{
	u32 pc = ip - w->text;

	for (unsigned int l = 0; l < SIMT_LANES; l++) {
		if (simt_active(w, l)) {
			w->pc[l] = pc;
			w->depths[l] = w->depth;
		}
	}
	w->event = SIMT_EVENT_PICK;
}

/* The running group has reached @ip, which is at or beyond waiting lanes or the program's end. */
void simt_warp_arrive(struct simt_warp *w, const struct simt_insn *ip)
{
	if (ip < w->text + w->nr) {
		simt_warp_park(w, ip);
		return;
	}
	w->live &= ~w->active;
	w->event = SIMT_EVENT_PICK;
}

/* Splits the running group: lanes in @taken continue at @target, the others after @i. */
const struct simt_insn *simt_warp_split(struct simt_warp *w, const struct simt_insn *i,
					u32 taken, u32 target)
{
	simt_warp_park(w, i + 1);
	for (; taken; taken &= taken - 1)
		w->pc[__ffs(taken)] = target;
	return SIMT_LEAVE;
}

/*
 * Returns the lane in the deepest call; of several such lanes one with the lowest pc. Lanes that
 * have come to the end of the program end.
 */
static unsigned int simt_warp_lowest(struct simt_warp *w, u32 runnable)
{
	unsigned int lead = 0;
	s64 highest = S64_MIN;

	for (; runnable; runnable &= runnable - 1) {
		unsigned int l = __ffs(runnable);
		s64 order = w->depths[l] * (1LL << 32) + (U32_MAX - w->pc[l]);

		if (w->pc[l] >= w->nr) {
			w->live &= ~(1U << l);
		} else if (order > highest) {
			highest = order;
			lead = l;
		}
	}
	return lead;
}

/*
 * Returns the next lane in turn that is not in the group that ran last. Only turns change @w->last.
 * If the groups that simt_warp_lowest() picks between turns changed it, too, each turn would go to
 * the same group, the one after the lowest.
 */
static unsigned int simt_warp_next(struct simt_warp *w, u32 runnable)
{
	u32 others = runnable & ~w->active ?: runnable;
	u32 above = w->last + 1 < SIMT_LANES ? others & U32_MAX << (w->last + 1) : 0;

	w->last = __ffs(above ?: others);
	return w->last;
}

/* Forms the running group of those @runnable lanes that are at the lead's instruction. */
static void simt_warp_form(struct simt_warp *w, u32 runnable)
{
	u32 pc = w->pc[w->lead], join = w->nr, active = 0;
	s32 depth = w->depths[w->lead];

	for (; runnable; runnable &= runnable - 1) {
		unsigned int l = __ffs(runnable);

		if (w->depths[l] != depth)
			continue;
		if (w->pc[l] == pc)
			active |= 1U << l;
		else if (w->pc[l] > pc && w->pc[l] < join)
			join = w->pc[l];
	}
	w->active = active;
	w->partial = w->live & ~active;
	w->depth = depth;
	w->ip = w->text + pc;
	w->join = w->text + (w->fair ? w->nr : join);
}

/* Computes the masks from the lanes of the running group. */
void simt_warp_mask(struct simt_warp *w)
{
	simt_each(l) {
		w->mask32[l] = -(w->active >> l & 1);
		w->mask64[l] = -(u64)(w->active >> l & 1);
	}
}

/**
 * simt_warp_pick() - form the next running group
 * @w: the warp; either each live lane has a pc, or @w->met is set
 * Context: any.
 * Return: true if there is one; false if all lanes have ended or wait at a barrier.
 */
bool simt_warp_pick(struct simt_warp *w)
{
	u32 runnable = w->live & ~w->barrier;
	unsigned int lowest;

	if (w->met && runnable) {	/* the group that reached the barrier is unchanged */
		w->ip = w->met;
		w->met = NULL;
		return true;
	}
	lowest = simt_warp_lowest(w, runnable);
	runnable &= w->live;
	if (!runnable) {
		w->ip = SIMT_LEAVE;
		return false;
	}

	w->lead = w->fair ? simt_warp_next(w, runnable) : lowest;
	simt_warp_form(w, runnable);
	if (w->partial)
		simt_warp_mask(w);
	return true;
}

/**
 * simt_warp_suspend() - leave the warp before the instruction at @ip
 * @w: the warp
 * @ip: the instruction; SIMT_LEAVE: the next running group must be picked first
 *
 * A lane may wait in a loop for another lane of its warp. The other lane may be at a higher pc, so
 * by pc alone it would never run. Therefore groups take turns from time to time.
 *
 * Context: any.
 */
void simt_warp_suspend(struct simt_warp *w, const struct simt_insn *ip)
{
	bool fair = w->partial && ++w->turns % SIMT_FAIR_TURNS == 0;

	if (fair != w->fair && ip != SIMT_LEAVE) {
		simt_warp_park(w, ip);
		ip = SIMT_LEAVE;
	}
	w->fair = fair;
	w->ip = ip;
}

/* Lets lanes that wait at a barrier continue. */
void simt_warp_release(struct simt_warp *w)
{
	w->barrier = 0;
	w->event = SIMT_EVENT_PICK;
}

/* Records the fault of @i. @lane is the lowest lane that cannot execute it. */
const struct simt_insn *simt_warp_fault(struct simt_warp *w, const struct simt_insn *i,
					enum vgpu_hw_fault code, u64 addr, unsigned int lane)
{
	struct simt_group *group = w->group;
	unsigned int k;

	group->fault.code = code;
	group->fault.pc = simt_warp_va(w, i);
	group->fault.addr = addr;
	for (k = 0; k < 3; k++)
		group->fault.id[k] = group->group_id[k] * group->dispatch->group[k] +
				     w->lid[k][lane];
	w->ip = i;
	w->event = SIMT_EVENT_FAULT;
	return SIMT_LEAVE;
}
