// SPDX-License-Identifier: GPL-2.0
/*
 * Where lanes of a warp meet again. Compilers lay out code so that what a branch skips, and the
 * body of a loop, are sections of the text. The smallest section that has the lanes in it, and that
 * no branch leaves but to its end, ends where all lanes come by, unless they return from the
 * function before.
 *
 * That is a guess, which need not be right: it affects only speed. Lanes that do not come by run
 * alone until they leave the function or end.
 */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "reg.h"

/* At most so many instructions are looked at. */
#define SIMT_REGION_MOST	2048

/**
 * struct simt_region - a section of the text
 * @w:    the warp
 * @lo:   its first instruction
 * @hi:   the first one after it
 * @left: instructions that may still be looked at
 */
struct simt_region {
	const struct simt_warp *w;
	u32 lo;
	u32 hi;
	u32 left;
};

/* Whether instruction @at may go to @target, which is in this function then. */
static bool simt_region_jumps(const struct simt_warp *w, u32 at, u32 *target)
{
	const struct simt_insn *i = &w->text[at];

	if (!(i->op >= SIMT_BEQ && i->op <= SIMT_BGEU) &&
	    !(i->op == SIMT_JAL && i->rd == SIMT_X_SINK))
		return false;
	*target = at + (u32)i->imm;
	return *target <= w->nr;
}

/* Makes it larger until no branch leaves it but to its end. Returns false if it gives up. */
static bool simt_region_close(struct simt_region *region)
{
	u32 first = region->lo, end = region->lo, at, target;

	while (end < region->hi || first > region->lo) {
		if (!region->left)
			return false;
		region->left--;
		at = end < region->hi ? end++ : --first;
		if (!simt_region_jumps(region->w, at, &target))
			continue;
		region->lo = min(region->lo, target);
		region->hi = max(region->hi, target);
	}
	return true;
}

/* Whether the function may end with instruction @at. */
static bool simt_region_last(const struct simt_warp *w, u32 at)
{
	const struct simt_insn *i = &w->text[at];

	return (i->op == SIMT_JALR || i->op == SIMT_JAL) && i->rd == SIMT_X_SINK;
}

/* Makes it the innermost loop around it. Returns false if there is none in the function. */
static bool simt_region_loop(struct simt_region *region)
{
	const struct simt_warp *w = region->w;
	u32 far = region->hi, at, target;

	for (at = region->hi; at < w->nr; at++) {
		if (!region->left)
			return false;
		region->left--;
		if (simt_region_jumps(w, at, &target)) {
			if (target < region->hi) {
				region->lo = min(region->lo, target);
				region->hi = at + 1;
				return simt_region_close(region);
			}
			far = max(far, target);
		}
		if (at >= far && simt_region_last(w, at))
			return false;
	}
	return false;
}

/**
 * simt_region_meet() - find where lanes meet
 * @w: the warp
 * @lanes: the lanes, each with a pc
 * @level: 0: as soon as they can; else so many loops farther on; after the last loop of the
 *         function where they leave it, and then nowhere
 * @meet: set to the instruction; NULL: none
 * @depth: set to the depth of calls in which it is, where they meet when they leave that call, too
 * Context: any.
 * Return: the number of instructions that were looked at.
 */
u32 simt_region_meet(const struct simt_warp *w, u32 lanes, u32 level,
		     const struct simt_insn **meet, s32 *depth)
{
	struct simt_region region = { .w = w, .lo = w->nr, .left = SIMT_REGION_MOST };
	u32 rest;

	*meet = NULL;
	*depth = S32_MAX;
	for (rest = lanes; rest; rest &= rest - 1)
		*depth = min(*depth, w->depths[__ffs(rest)]);
	for (rest = lanes; rest; rest &= rest - 1) {
		unsigned int l = __ffs(rest);

		if (w->depths[l] == *depth) {
			region.lo = min(region.lo, w->pc[l]);
			region.hi = max(region.hi, w->pc[l]);
		}
	}
	if (level < SIMT_LEVEL_NEVER && simt_region_close(&region)) {
		while (level && simt_region_loop(&region))
			level--;
		if (!level)
			*meet = region.hi < w->nr ? w->text + region.hi : NULL;
		if (level <= 1)
			return SIMT_REGION_MOST - region.left;
	}
	*depth = S32_MIN;
	return SIMT_REGION_MOST - region.left;
}
