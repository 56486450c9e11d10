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

/* Where there is no doubt that lanes alone are faster, it is tried again once in so many times. */
#define SIMT_DOUBT		64

/* Lanes have parted soon after so many instructions. */
#define SIMT_EARLY		64

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
	alone->close = false;
	alone->apart = false;
	alone->ahead = false;
}

/* Whether runnable lanes are at different instructions. */
bool simt_lone_apart(const struct simt_warp *w, u32 lanes)
{
	unsigned int first = lanes ? __ffs(lanes) : 0;

	for (; lanes; lanes &= lanes - 1)
		if (w->pc[__ffs(lanes)] != w->pc[first] ||
		    w->depths[__ffs(lanes)] != w->depths[first])
			return true;
	return false;
}

u32 simt_lone_lowest(const struct simt_warp *w, u32 lanes)
{
	u32 lowest = U32_MAX;

	for (; lanes; lanes &= lanes - 1)
		lowest = min(lowest, w->pc[__ffs(lanes)]);
	return lowest;
}

/* A place in the program, as a bit of struct simt_group.apart_sites. */
static u64 simt_lone_site(u32 pc)
{
	return 1ULL << pc % 64;
}

/*
 * Lanes that ran alone have met. @paid: it was worth that; and would have been from the beginning,
 * if there was no doubt before.
 */
void simt_lone_learn(struct simt_warp *w, bool paid)
{
	struct simt_group *group = w->group;
	u64 site = simt_lone_site(w->alone.head);

	group->apart_paid = paid;
	if (paid && !w->alone.close) {
		group->apart_sites |= site;
		group->apart_head = w->alone.head;
	} else {
		group->apart_sites &= ~site;
		group->apart_head = U32_MAX;
	}
	w->alone.close = false;
	w->alone.apart = false;
}

/**
 * simt_lone_parted() - let lanes run alone at once if they have parted where that was worth it
 * @w: the warp, whose lanes each have a pc
 * @instructions: that the running group has executed before
 *
 * Where each has other work to do, they do not do any of it together. They begin before they part
 * if they would soon.
 *
 * Context: any.
 */
void simt_lone_parted(struct simt_warp *w, u32 instructions)
{
	struct simt_group *group = w->group;
	u32 lanes = w->live & ~w->barrier, lowest;
	bool apart, soon = !w->partial && instructions <= SIMT_EARLY;

	if (!group->dispatch->native || group->dispatch->alone || w->met || !lanes ||
	    (w->watch && w->alone.on))
		return;
	lowest = simt_lone_lowest(w, lanes);
	if (!(group->apart_sites & simt_lone_site(lowest)))
		return;
	apart = simt_lone_apart(w, lanes);
	if (lowest == group->apart_head && apart && !w->partial)
		group->apart_early = soon;
	/* Of those who were together for long most may stay so for long. */
	if (apart ? !soon : lowest != group->apart_head || !group->apart_early || lanes != w->live)
		return;
	/* Two in a row: before they part, and when they have. */
	if (++group->apart_doubt % SIMT_DOUBT < 2)
		return;
	simt_lone_watch(w, SIMT_WATCH_DUE);
	w->alone.loss = SIMT_NS_MOST;
	w->alone.ahead = !apart;
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
	s32 n = min_t(u32, instructions, 4096), lanes = hweight32(w->active);
	s32 ns = n * SIMT_WHOLE_NS, lone = n * SIMT_LONE_NS * lanes;

	if (native)
		lone = n * lanes * (s32)native->ps / 1000;
	simt_lone_watch(w, 0);
	if (!n)
		return;
	alone->since += n;
	if (w->partial) {
		w->group->parted += n * lanes;
		ns = n * SIMT_PARTED_NS + SIMT_PICK_NS;
		ns += min_t(u32, alone->hosts, 4096) * SIMT_HOSTS_NS;
		alone->close |= ns < lone;
		alone->apart = true;
	} else if (alone->apart) {
		/* They have met again without having been alone. */
		alone->close = true;
	}
	ns -= lone;
	alone->hosts = 0;
	if (ns < 0)
		alone->gain = min(alone->gain - ns, SIMT_NS_MOST);
	alone->loss = clamp(alone->loss + ns, 0, SIMT_NS_MOST);
	if (simt_lone_lost(w) || w->group->waits)
		w->watch |= SIMT_WATCH_DUE;
	else if (!w->partial && !alone->loss && alone->gain >= SIMT_STAY_NS)
		simt_lone_unwatch(w);
}
