// SPDX-License-Identifier: GPL-2.0
/*
 * When lanes of a warp begin to run alone: when what was executed apart has cost so much more than
 * alone that the change would have been paid for. Both costs are estimates, because no clock is
 * read here. And in rounds: see lone.c.
 *
 * While lanes agree nothing of this is executed: see struct simt_warp.watch.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>

#include "warp.h"

/*
 * Estimates in ns: an instruction of some live lanes, of all, and of one alone; more for an access
 * whose lanes' memory is found by lane; and the choice of a group.
 */
#define SIMT_PARTED_NS	10
#define SIMT_WHOLE_NS	8
#define SIMT_LONE_NS	2
#define SIMT_HOSTS_NS	80
#define SIMT_PICK_NS	150

/* Less is lost if lanes are likely to be apart for long. */
#define SIMT_AGAIN_NS	2000
#define SIMT_NATIVE_NS	1000	/* if there is code of the CPU */
#define SIMT_NATIVE_AGAIN_NS	100	/* and it was worth that before */

/* No estimate is above this. */
#define SIMT_NS_MOST	1000000

/* If a round has found a lane that waits, another warp has one after so many instructions. */
#define SIMT_ROUND_WAIT		2048

/**
 * simt_lone_watch() - note from now on what the warp costs
 * @w: the warp
 * @due: SIMT_WATCH_DUE: its lanes may have to run alone; or 0
 *
 * While lanes agree nothing is noted. So a warp begins, and it does so again after it has saved
 * enough.
 *
 * Context: any.
 */
void simt_lone_watch(struct simt_warp *w, u8 due)
{
	struct simt_alone *alone = &w->alone;
	bool known = w->watch;

	w->watch |= SIMT_WATCH | due;
	if (known)
		return;
	alone->on = false;
	alone->since = 0;
	alone->hosts = 0;
	alone->loss = 0;
	alone->gain = SIMT_CHANGE_NS;
}

/* Whether what lanes did apart has cost so much more than alone that they are to run alone. */
static bool simt_lone_lost(const struct simt_warp *w)
{
	const struct simt_group *group = w->group;
	u32 most = group->apart_long ? SIMT_AGAIN_NS : SIMT_CHANGE_NS;

	if (group->dispatch->native)
		most = group->apart_paid ? SIMT_NATIVE_AGAIN_NS : SIMT_NATIVE_NS;
	return (u32)w->alone.loss >= (group->dispatch->alone ?: most);
}

/* Whether a warp of the group is to begin a round: see lone.c. */
bool simt_lone_round_due(const struct simt_group *group)
{
	return (s32)(simt_group_clock(group) - group->round_at) >= 0;
}

bool simt_lone_round_wanted(const struct simt_warp *w)
{
	return simt_lone_round_due(w->group) ||
	       (w->group->waits && w->alone.since >= SIMT_ROUND_WAIT);
}

/**
 * simt_lone_due() - return whether lanes of the warp run alone, or should from now on
 * @w: the warp, which is watched; clears SIMT_WATCH_DUE if not
 * Context: any.
 * Return: true or false.
 */
bool simt_lone_due(struct simt_warp *w)
{
	if (w->alone.on)
		return true;
	if (w->met)	/* not yet */
		return false;
	if (simt_lone_lost(w) || simt_lone_round_wanted(w))
		return true;
	w->watch &= ~SIMT_WATCH_DUE;
	return false;
}

/* Lanes agree, and have saved enough since they met. */
static void simt_lone_unwatch(struct simt_warp *w)
{
	struct simt_group *group = w->group;

	if (group->waits || w->watch != SIMT_WATCH)
		return;
	if (group->apart_level)
		group->apart_level--;
	w->watch = 0;
}

/**
 * simt_lone_note() - note what the running group has cost
 * @w: the warp
 * @instructions: that it has executed
 * Context: any.
 */
void simt_lone_note(struct simt_warp *w, u32 instructions)
{
	const struct simt_native *native = w->group->dispatch->native;
	struct simt_alone *alone = &w->alone;
	s32 n = min_t(u32, instructions, 4096);
	s32 lanes = hweight32(w->active), ns = -n * SIMT_LONE_NS * lanes;

	if (native)
		ns = -n * lanes * (s32)native->ps / 1000;
	simt_lone_watch(w, 0);
	if (!n)
		return;
	alone->since += n;
	if (w->partial) {
		w->group->parted += n * lanes;
		ns += n * SIMT_PARTED_NS + SIMT_PICK_NS;
		ns += min_t(u32, alone->hosts, 4096) * SIMT_HOSTS_NS;
	} else {
		ns += n * SIMT_WHOLE_NS;
	}
	alone->hosts = 0;
	if (ns < 0)
		alone->gain = min(alone->gain - ns, SIMT_NS_MOST);
	alone->loss = clamp(alone->loss + ns, 0, SIMT_NS_MOST);
	if (simt_lone_lost(w) || w->group->waits)
		w->watch |= SIMT_WATCH_DUE;
	else if (!w->partial && !alone->loss && alone->gain >= SIMT_STAY_NS)
		simt_lone_unwatch(w);
}
