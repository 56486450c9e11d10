// SPDX-License-Identifier: GPL-2.0
/* Hands out the work-groups of a dispatch, and executes them: the warps of a group in turns. */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "warp.h"

/* struct simt_group.waiting has a bit for each warp. */
static_assert(VGPU_HW_GROUP_MAX / SIMT_LANES <= 32);

/*
 * A warp has its turn for so many instructions, on the average; and while lanes wait for others of
 * their group. See simt_group_until().
 */
#define SIMT_TURN_BITS		13
#define SIMT_TURN_BITS_WAITS	11

static u32 simt_items(const u32 group[3])
{
	return group[0] * group[1] * group[2];
}

/* Returns the bytes of struct simt_group.warps for a valid size of groups. */
size_t simt_warps_bytes(const u32 group[3])
{
	return DIV_ROUND_UP(simt_items(group), SIMT_LANES) * sizeof(struct simt_warp);
}

/* Likewise, of struct simt_group.private. */
size_t simt_private_bytes(const u32 group[3], u32 private_bytes)
{
	return (size_t)DIV_ROUND_UP(simt_items(group), SIMT_LANES) * SIMT_LANES * private_bytes;
}

/**
 * simt_dispatch_from() - hand out groups from some group on
 * @dispatch: the dispatch, with its number of groups
 * @first: id of the group that is handed out next, or of the one that would follow the last one
 * Context: any.
 */
void simt_dispatch_from(struct simt_dispatch *dispatch, const u32 first[3])
{
	const u32 *groups = dispatch->groups;
	u64 rows = (u64)(groups[2] - first[2]) * groups[1] - first[1];

	memcpy(dispatch->first, first, sizeof(dispatch->first));
	dispatch->given = 0;
	dispatch->left = 0;
	if (rows && (check_mul_overflow(rows - 1, (u64)groups[0], &dispatch->left) ||
		     check_add_overflow(dispatch->left, (u64)(groups[0] - first[0]),
					&dispatch->left)))
		dispatch->left = SIMT_LEFT_MOST;
	dispatch->left = min(dispatch->left, SIMT_LEFT_MOST);
}

/**
 * simt_dispatch_id() - find the id of a group by how many were handed out before it
 * @dispatch: the dispatch
 * @nr: how many: at most struct simt_dispatch.left, for the id that would follow the last one
 * @id: set to the id
 * Context: any.
 */
void simt_dispatch_id(const struct simt_dispatch *dispatch, u64 nr, u32 id[3])
{
	u64 rest = dispatch->first[0] + nr;

	rest = dispatch->first[1] + div_u64_rem(rest, dispatch->groups[0], &id[0]);
	id[2] = dispatch->first[2] + div_u64_rem(rest, dispatch->groups[1], &id[1]);
}

/**
 * simt_dispatch_begin() - begin a dispatch
 * @dispatch: the dispatch; the caller has set the fields up to @alone
 * Context: any.
 */
void simt_dispatch_begin(struct simt_dispatch *dispatch)
{
	static const u32 first[3];
	unsigned int k;

	for (k = 0; k < 3; k++)
		dispatch->groups[k] = (dispatch->grid[k] - 1) / dispatch->group[k] + 1;
	dispatch->executed = 0;
	simt_dispatch_from(dispatch, first);
}

/* Starts the group whose id is set. */
void simt_group_start(struct simt_group *group)
{
	const struct simt_dispatch *dispatch = group->dispatch;
	unsigned int k;
	u32 index;

	for (k = 0; k < 3; k++)
		group->size[k] = min(dispatch->group[k], dispatch->grid[k] -
				     group->group_id[k] * dispatch->group[k]);
	group->nr_warps = DIV_ROUND_UP(simt_items(group->size), SIMT_LANES);
	group->warp = 0;
	group->waiting = 0;
	for (index = 0; index < group->nr_warps; index++)
		simt_warp_start(&group->warps[index], group, index);
}

/**
 * simt_group_init() - get ready to execute groups of a dispatch
 * @group: the caller has set the fields from @mem to @warps
 * @dispatch: has begun
 *
 * simt_dispatch_next() follows.
 *
 * Context: any.
 */
void simt_group_init(struct simt_group *group, struct simt_dispatch *dispatch)
{
	u32 index;

	group->dispatch = dispatch;
	group->local_bytes = dispatch->local_bytes;
	group->private_bytes = dispatch->private_bytes;
	for (index = 0; index < DIV_ROUND_UP(simt_items(dispatch->group), SIMT_LANES); index++) {
		struct simt_warp *w = &group->warps[index];

		memset(w->lid_size, 0, sizeof(w->lid_size));
		memset(w->base, 0, sizeof(w->base));
		memset(w->stride, 0, sizeof(w->stride));
	}
	group->nr = 0;
	group->executed = 0;
	group->before = 0;
	group->parted = 0;
	simt_lone_begin_group(group);
}

/* Sets the group's id to the next one. */
static void simt_group_step(struct simt_group *group)
{
	unsigned int k;

	for (k = 0; k < 3; k++) {
		if (++group->group_id[k] < group->dispatch->groups[k])
			return;
		group->group_id[k] = 0;
	}
}

/**
 * simt_dispatch_next() - hand out the next group of a dispatch, and start it
 * @dispatch: has begun
 * @group: of @dispatch; has no group in flight
 *
 * Any number of callers may be here at a time, each with a @group of its own.
 *
 * Context: any.
 * Return: false if there is none.
 */
bool simt_dispatch_next(struct simt_dispatch *dispatch, struct simt_group *group)
{
	u64 nr;

	/* So that the number does not grow for ever. */
	if (!simt_dispatch_left(dispatch))
		return false;
	nr = __atomic_fetch_add(&dispatch->given, 1, __ATOMIC_RELAXED);
	if (nr >= dispatch->left)
		return false;
	if (nr && nr == group->nr)
		simt_group_step(group);
	else
		simt_dispatch_id(dispatch, nr, group->group_id);
	group->nr = nr + 1;
	simt_group_start(group);
	return true;
}

/*
 * Releases the barrier after all warps have reached it or have ended. Returns false if all have
 * ended.
 */
static bool simt_group_release(struct simt_group *group)
{
	u32 index;

	group->waiting = 0;
	for (index = 0; index < group->nr_warps; index++) {
		struct simt_warp *w = &group->warps[index];

		if (w->live)
			simt_warp_release(w);
		else
			group->waiting |= 1U << index;
	}
	return hweight32(group->waiting) < group->nr_warps;
}

/* Gives the turn to the next warp that can run. Returns false if there is none. */
static bool simt_group_turn(struct simt_group *group)
{
	u32 others = ~group->waiting & (U32_MAX >> (32 - group->nr_warps));
	u32 above = others & U32_MAX << group->warp << 1;

	if (!others)
		return false;
	group->warp = __ffs(above ?: others);
	return true;
}

/*
 * Returns what simt_group_clock() will be when the warp's turn ends. Turns end where that is one of
 * a sequence: about every so many, but not periodically, so that warps cannot get into each other's
 * way in every turn alike.
 */
static u32 simt_group_until(const struct simt_group *group)
{
	unsigned int bits = group->waits ? SIMT_TURN_BITS_WAITS : SIMT_TURN_BITS;
	u32 clock = simt_group_clock(group), turn = clock & ~0U << bits, end;

	do {
		u32 mix = turn >> bits;

		mix = (mix ^ mix >> 16) * 0x85ebca6b;
		mix = (mix ^ mix >> 13) * 0xc2b2ae35;
		end = turn + ((mix ^ mix >> 16) & ((1U << bits) - 1));
		turn += 1U << bits;
	} while ((s32)(end - clock) <= 0);
	return end;
}

/*
 * The last of the @begun instructions of the warp's turn waits for memory. If it was the only one,
 * the warp keeps its turn. Otherwise the turn goes to the next warp: a warp whose pages the TLB may
 * not keep would wait again and again, and no other warp would run.
 */
static void simt_group_wait(struct simt_group *group, struct simt_warp *w, u32 begun)
{
	if (begun <= 1)
		return;
	simt_warp_suspend(w, w->ip);
	simt_group_turn(group);
}

/**
 * simt_group_run() - execute a group, and those that are handed out after it, for a while
 * @group: has begun and is not complete
 * @budget: maximum number of instructions of warps, at least 1; a slow one counts as several
 * Context: any; in the kernel between kernel_fpu_begin() and kernel_fpu_end().
 * Return: why it stopped. SIMT_DONE: there is no group to execute any more. After SIMT_FAULT the
 * group must not be continued.
 */
enum simt_end simt_group_run(struct simt_group *group, u32 budget)
{
	const bool shares = group->dispatch->program->shares;
	u32 left = budget, until = simt_group_clock(group);
	enum simt_end end;

	group->apart = 0;
	group->over = false;
	do {
		struct simt_warp *w = &group->warps[group->warp];
		u32 given, rest;

		if ((s32)(until - simt_group_clock(group)) <= 0)
			until = simt_group_until(group);
		given = min(left, until - simt_group_clock(group));
		rest = given;
		/* Lanes that agree, and share nothing, do not keep each other from going on. */
		if (unlikely(w->watch | shares | group->waits) &&
		    (group->waits || simt_lone_round_due(group)))
			simt_lone_watch(w, SIMT_WATCH_DUE);
		else if (simt_lone_round_due(group))
			group->round_at = simt_group_clock(group);	/* never far behind */
		group->idle = false;
		end = group->isa->run(w, &rest);
		left -= given - rest;
		group->executed += given - rest;
		if (end == SIMT_FAULT || end == SIMT_WAIT)
			group->executed--;	/* the last one had no effect */
		if (end == SIMT_FAULT)
			return end;
		if (end == SIMT_WAIT) {
			simt_group_wait(group, w, given - rest);
			return end;
		}
		if (end == SIMT_MORE && !group->idle && (s32)(until - simt_group_clock(group)) > 0)
			continue;
		if (end == SIMT_DONE)
			group->waiting |= 1U << group->warp;
		if (simt_group_turn(group))
			continue;
		if (simt_group_release(group))
			simt_group_turn(group);
		else if (!simt_dispatch_next(group->dispatch, group))
			return SIMT_DONE;
	} while (left && !group->over);
	return SIMT_MORE;
}
