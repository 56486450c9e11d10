// SPDX-License-Identifier: GPL-2.0
/* Executes a dispatch: its work-groups one after the other, the warps of a group in turns. */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "warp.h"

/* struct simt_dispatch.waiting has a bit for each warp. */
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

/* Returns the bytes of struct simt_dispatch.warps for a valid size of groups. */
size_t simt_warps_bytes(const u32 group[3])
{
	return DIV_ROUND_UP(simt_items(group), SIMT_LANES) * sizeof(struct simt_warp);
}

/* Likewise, of struct simt_dispatch.private. */
size_t simt_private_bytes(const u32 group[3], u32 private_bytes)
{
	return (size_t)DIV_ROUND_UP(simt_items(group), SIMT_LANES) * SIMT_LANES * private_bytes;
}

/* Starts the group whose id is set. */
void simt_group_start(struct simt_dispatch *dispatch)
{
	unsigned int k;
	u32 index;

	for (k = 0; k < 3; k++)
		dispatch->size[k] = min(dispatch->group[k], dispatch->grid[k] -
					dispatch->group_id[k] * dispatch->group[k]);
	dispatch->nr_warps = DIV_ROUND_UP(simt_items(dispatch->size), SIMT_LANES);
	dispatch->warp = 0;
	dispatch->waiting = 0;
	for (index = 0; index < dispatch->nr_warps; index++)
		simt_warp_start(&dispatch->warps[index], dispatch, index);
}

/**
 * simt_dispatch_begin() - begin a dispatch
 * @dispatch: the dispatch; the caller has set the fields up to @warps
 * Context: any.
 */
void simt_dispatch_begin(struct simt_dispatch *dispatch)
{
	unsigned int k;
	u32 index;

	for (index = 0; index < DIV_ROUND_UP(simt_items(dispatch->group), SIMT_LANES); index++) {
		struct simt_warp *w = &dispatch->warps[index];

		memset(w->lid_size, 0, sizeof(w->lid_size));
		memset(w->base, 0, sizeof(w->base));
		memset(w->stride, 0, sizeof(w->stride));
		w->nowhere = 0;
	}
	for (k = 0; k < 3; k++) {
		dispatch->groups[k] = (dispatch->grid[k] - 1) / dispatch->group[k] + 1;
		dispatch->group_id[k] = 0;
	}
	dispatch->executed = 0;
	simt_lone_begin_dispatch(dispatch);
	simt_group_start(dispatch);
}

/*
 * Releases the barrier after all warps have reached it or have ended. Returns false if all have
 * ended.
 */
static bool simt_group_release(struct simt_dispatch *dispatch)
{
	u32 index;

	dispatch->waiting = 0;
	for (index = 0; index < dispatch->nr_warps; index++) {
		struct simt_warp *w = &dispatch->warps[index];

		if (w->live)
			simt_warp_release(w);
		else
			dispatch->waiting |= 1U << index;
	}
	return hweight32(dispatch->waiting) < dispatch->nr_warps;
}

/* Starts the next group. Returns false if there is none. */
static bool simt_group_next(struct simt_dispatch *dispatch)
{
	unsigned int k;

	for (k = 0; k < 3; k++) {
		if (++dispatch->group_id[k] < dispatch->groups[k]) {
			simt_group_start(dispatch);
			return true;
		}
		dispatch->group_id[k] = 0;
	}
	return false;
}

/* Gives the turn to the next warp that can run. Returns false if there is none. */
static bool simt_group_turn(struct simt_dispatch *dispatch)
{
	u32 nr = dispatch->nr_warps, tries;

	for (tries = 0; tries < nr; tries++) {
		dispatch->warp = dispatch->warp + 1 < nr ? dispatch->warp + 1 : 0;
		if (!(dispatch->waiting >> dispatch->warp & 1))
			return true;
	}
	return false;
}

/*
 * Returns how many instructions the dispatch will have executed when the warp's turn ends. Turns
 * end where that number is one of a sequence: about every so many, but not periodically, so that
 * warps cannot get into each other's way in every turn alike.
 */
static u64 simt_group_until(const struct simt_dispatch *dispatch)
{
	unsigned int bits = dispatch->waits ? SIMT_TURN_BITS_WAITS : SIMT_TURN_BITS;
	u64 turn = dispatch->executed >> bits, end;

	do {
		u32 mix = turn;

		mix = (mix ^ mix >> 16) * 0x85ebca6b;
		mix = (mix ^ mix >> 13) * 0xc2b2ae35;
		end = (turn++ << bits) + ((mix ^ mix >> 16) & ((1U << bits) - 1));
	} while ((s64)(end - dispatch->executed) <= 0);	/* a record may say any number */
	return end;
}

/*
 * The last of the @begun instructions of the warp's turn waits for memory. If it was the only one,
 * the warp keeps its turn. Otherwise the turn goes to the next warp: a warp whose pages the TLB may
 * not keep would wait again and again, and no other warp would run.
 */
static void simt_group_wait(struct simt_dispatch *dispatch, struct simt_warp *w, u32 begun)
{
	if (begun <= 1)
		return;
	simt_warp_suspend(w, w->ip);
	simt_group_turn(dispatch);
}

/**
 * simt_dispatch_run() - execute a part of a dispatch
 * @dispatch: the dispatch, which has begun and is not complete
 * @budget: maximum number of instructions of warps, at least 1; a slow one counts as several
 * Context: any; in the kernel between kernel_fpu_begin() and kernel_fpu_end().
 * Return: why it stopped. After SIMT_FAULT the dispatch must not be continued.
 */
enum simt_end simt_dispatch_run(struct simt_dispatch *dispatch, u32 budget)
{
	u32 left = budget;
	enum simt_end end;
	u64 until = dispatch->executed;

	dispatch->apart = 0;
	dispatch->over = false;
	do {
		struct simt_warp *w = &dispatch->warps[dispatch->warp];
		u32 given, rest;

		if ((s64)(until - dispatch->executed) <= 0)
			until = simt_group_until(dispatch);
		given = min_t(u64, left, until - dispatch->executed);
		rest = given;
		if (unlikely(dispatch->waits || simt_lone_round_due(dispatch)))
			simt_lone_watch(w, SIMT_WATCH_DUE);
		dispatch->idle = false;
		end = dispatch->isa->run(w, &rest);
		left -= given - rest;
		dispatch->executed += given - rest;
		if (end == SIMT_FAULT || end == SIMT_WAIT)
			dispatch->executed--;	/* the last one had no effect */
		if (end == SIMT_FAULT)
			return end;
		if (end == SIMT_WAIT) {
			simt_group_wait(dispatch, w, given - rest);
			return end;
		}
		if (end == SIMT_MORE && !dispatch->idle &&
		    (s64)(until - dispatch->executed) > 0)
			continue;
		if (end == SIMT_DONE)
			dispatch->waiting |= 1U << dispatch->warp;
		if (simt_group_turn(dispatch))
			continue;
		if (simt_group_release(dispatch))
			simt_group_turn(dispatch);
		else if (!simt_group_next(dispatch))
			return SIMT_DONE;
	} while (left && !dispatch->over);
	return SIMT_MORE;
}
