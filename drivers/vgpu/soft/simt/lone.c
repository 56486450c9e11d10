// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes that run alone. An instruction of a group of few lanes takes about as long as one of all.
 * So when lanes of a warp have been apart for a while, they run one after the other, each for many
 * instructions, on registers of its own (lone.h), until all have come to where they meet (region.c)
 * or wait at a barrier. Then the warp goes on together.
 *
 * When that begins lone_when.c says. If the warp saves less after the lanes have met than the
 * change costs, they meet farther away the next time.
 *
 * Forward progress. Now and then there is a round, in which each lane has a turn alone, whether or
 * not lanes are apart; but if they are not, only if the program has what they can get into each
 * other's way by: see struct simt_program.shares. In a turn the lane runs for a lap: to where it
 * is. If that has changed neither registers nor memory, the lane waits for another one. While lanes
 * wait so, rounds follow each other, with short turns for those lanes; if all do, the turn goes to
 * another warp.
 *
 * Only a lane that runs has registers of its own: they are those of the warp again when the lane's
 * turn, or the time of the dispatch, is over. So a warp whose lanes run alone is as one with as
 * many groups, and that it is so need not be saved.
 */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "access.h"
#include "reg.h"

/* A lane has run for long after so many units. */
#define SIMT_LONG_UNITS		16384

/* A lane runs for so many units at first. */
#define SIMT_TRY_UNITS		1024

/* Then it shows whether it waits for others, in at most so many; and has its turn for so many. */
#define SIMT_TRIAL_UNITS	256
#define SIMT_TURN_UNITS		8192

/*
 * Both are longer, by this power of two, if the program has no atomic instructions nor fences: then
 * few lanes wait for each other, and a trial is slow.
 */
#define SIMT_UNSHARED_BITS	2

/* After so many units in which none has met the others, lanes do not wait for each other there. */
#define SIMT_MEET_UNITS		1000000
#define SIMT_NOWHERE_UNITS	4000000

/* An atomic instruction counts for so many of these. */
#define SIMT_ATOMIC_UNITS	256

/* A lap of a round has at most so many units, several of them so many; and as many there are. */
#define SIMT_ROUND_UNITS	2048
#define SIMT_ROUND_UNITS_MOST	65536
#define SIMT_ROUND_LAPS_BITS	9

/*
 * In half of the rounds turns end by instructions that others may see, after so many at most, or so
 * many units; while lanes wait, in one of so many, as laps bring those on who wait for nobody.
 */
#define SIMT_SHOWN_MOST		8
#define SIMT_SHOWN_UNITS	16384
#define SIMT_SHOWN_WAITS	8

/*
 * A round begins when warps of the group have executed so many instructions, and again after so
 * many for each instruction that it has cost, at least and at most so many.
 */
#define SIMT_ROUND_FIRST	131072
#define SIMT_ROUND_SHARE	128
#define SIMT_ROUND_AGAIN	4096
#define SIMT_ROUND_MOST		524288

/* struct simt_mem.over is asked after so many units, of which one access costs SIMT_LONE_APART. */
#define SIMT_OVER_UNITS		(SIMT_APART_MOST * SIMT_LANES * SIMT_LONE_APART)

/* No cost of a round is above this, in units. */
#define SIMT_COST_MOST		1048576

/* What it costs that a lane begins and ends its turn, in units. */
#define SIMT_TAKE_UNITS		64

/* If lanes have done more than that together, it was worth the change. */
#define SIMT_PAID_UNITS		4096

/* So many steps of the search for the place to meet cost an instruction of warps. */
#define SIMT_STEPS		128

/*
 * The first group begins, or one has been loaded from a record. One that is moved again and again
 * has its rounds nevertheless, as they are due at fixed counts.
 */
void simt_lone_begin_group(struct simt_group *group)
{
	u32 clock = simt_group_clock(group);

	group->apart_level = 0;
	group->apart_long = false;
	group->apart_paid = false;
	group->apart_sites = 0;
	group->apart_head = U32_MAX;
	group->apart_early = false;
	group->apart_doubt = 0;
	group->round_at = clock - clock % SIMT_ROUND_FIRST + SIMT_ROUND_FIRST;
	group->rounds = clock;
	group->waits = false;
}

/* A number that has nothing to do with @n: rounds of one warp may have numbers of one kind. */
static u32 simt_lone_mix(u32 n)
{
	n = (n ^ n >> 16) * 0x7feb352d;
	n = (n ^ n >> 15) * 0x846ca68b;
	return n ^ n >> 16;
}

/*
 * A round: each lane has a turn in which no other lane of the warp runs, until it comes where it is
 * for the first time, or eighth, or 64th, and so on; or see simt_lone_show(). So lanes that do the
 * same at the same time, and get into each other's way, do not for ever, and lanes that are
 * together stay so.
 */
static void simt_lone_round(struct simt_warp *w, u32 lanes)
{
	struct simt_group *group = w->group;
	struct simt_alone *alone = &w->alone;
	u32 mix = simt_lone_mix(++group->rounds);

	alone->round = true;
	alone->left = lanes;
	/* Who does not execute atomic instructions again and again has no locks to give back. */
	alone->shows = mix % (group->waits ? SIMT_SHOWN_WAITS : 2) ? 0 : w->again;
	w->tried = 0;
	w->again = 0;
	alone->laps = 1U << min_t(u32, 3 * __ffs(mix / SIMT_SHOWN_WAITS | 1U << 31),
				  SIMT_ROUND_LAPS_BITS);
	alone->met = 0;
	alone->meet = NULL;
	alone->meet_depth = S32_MIN;
	alone->units = 0;
	alone->turn = 0;
	alone->lap = false;
	alone->lane = SIMT_LANES - 1;
	group->round_at = simt_group_clock(group) + SIMT_ROUND_FIRST;
	alone->since = 0;
	alone->cost = 0;
}

/* Finds where lanes meet. Returns what that costs, in instructions. */
static u32 simt_lone_meet(struct simt_warp *w, u32 rest)
{
	struct simt_alone *alone = &w->alone;
	/* Those who are still together are where a loop begins. */
	u32 level = min(w->group->apart_level + alone->ahead, SIMT_LEVEL_NEVER);
	u32 steps = simt_region_meet(w, rest, level, &alone->meet, &alone->meet_depth);

	for (; alone->meet && rest; rest &= rest - 1) {
		unsigned int l = __ffs(rest);

		if (w->text + w->pc[l] == alone->meet && w->depths[l] == alone->meet_depth)
			alone->met |= 1U << l;
	}
	return steps / SIMT_STEPS;
}

/**
 * simt_lone_start() - let lanes of a warp run alone, if that is due
 * @w: the warp
 * @most: instructions that are left, at least 1
 * Context: any.
 * Return: what that has cost, in instructions, at most @most - 1.
 */
u32 simt_lone_start(struct simt_warp *w, u32 most)
{
	struct simt_group *group = w->group;
	struct simt_alone *alone = &w->alone;
	u32 lanes = w->live & ~w->barrier, steps;

	if (alone->on || !lanes)
		return 0;
	alone->spin = 0;
	alone->idle = 0;
	if (simt_lone_round_wanted(w)) {
		alone->loss = 0;
		alone->ahead = false;
		alone->on = true;
		w->fair = false;
		simt_lone_round(w, lanes);
		return 0;
	}
	alone->loss = 0;
	if (!alone->ahead && !simt_lone_apart(w, lanes))
		return 0;
	if (alone->gain < SIMT_CHANGE_NS && group->apart_level < SIMT_LEVEL_NEVER)
		group->apart_level++;
	else if (alone->gain >= SIMT_STAY_NS && group->apart_level)
		group->apart_level--;
	alone->on = true;
	w->fair = false;
	group->apart_long = false;
	alone->gain = 0;
	alone->units = 0;
	alone->begun = group->parted;
	alone->head = simt_lone_lowest(w, lanes);
	alone->round = false;
	alone->turn = 0;
	alone->lap = false;
	alone->lane = SIMT_LANES - 1;
	alone->met = 0;
	steps = simt_lone_meet(w, lanes);
	alone->ahead = false;
	return simt_warp_charge(w, steps, most - 1);
}

/* Begins or continues to execute lanes alone, for at most @budget instructions of warps. */
void simt_lone_begin(struct simt_lone *s, struct simt_warp *w, u32 budget)
{
	simt_lone_spread(w);
	s->w = w;
	simt_lone_begin_regs(s);
	s->private_bytes = w->group->private_bytes;
	s->units = min_t(u32, budget, 1 << 16) * SIMT_LONE_UNITS;
	s->given = s->units;
	s->unused = 0;
	s->atomics = 0;
	s->end = SIMT_DONE;
}

static s32 simt_lone_long(const struct simt_warp *w, s32 units)
{
	return w->group->dispatch->program->shares ? units : units << SIMT_UNSHARED_BITS;
}

/* Gives the turn to the next lane. One that has waited only shows whether it still does. */
static void simt_lone_next(struct simt_warp *w, u32 lanes)
{
	struct simt_alone *alone = &w->alone;
	u32 above = alone->lane + 1 < SIMT_LANES ? lanes & U32_MAX << (alone->lane + 1) : 0;

	alone->lane = __ffs(above ?: lanes);
	alone->turn = alone->round || alone->spin >> alone->lane & 1 ? 0 :
		      simt_lone_long(w, SIMT_TRY_UNITS);
	alone->lap = false;
	alone->lap_changed = false;
	alone->shown = 0;
	alone->stage = SIMT_STAGE_TRY;
}

/* A lap begins. */
static void simt_lone_keep(struct simt_lone *s)
{
	struct simt_warp *w = s->w;

	simt_lone_get_regs(s);
	w->alone.lap_changed = false;
	s->changed = 0;
	memcpy(w->lap_x, s->x, sizeof(w->lap_x));
	memcpy(w->lap_f, s->f, sizeof(w->lap_f));
}

/* The lane runs until it has come here again. */
static void simt_lone_lap(struct simt_lone *s, u32 laps, s32 units)
{
	struct simt_alone *alone = &s->w->alone;

	alone->turn = units;
	alone->lap = true;
	alone->lap_at = s->ip;
	alone->lap_depth = s->depth;
	alone->lap_laps = laps;
	s->meet = alone->lap_at;
	s->meet_depth = alone->lap_depth;
	simt_lone_keep(s);
}

/*
 * The lane runs for some instructions that others may see, a number that does not repeat. If it
 * was left between two locks, it may be left where it has none of them: a lap ends where it began.
 */
static void simt_lone_show(struct simt_lone *s)
{
	struct simt_alone *alone = &s->w->alone;

	alone->shown = 1 + simt_lone_mix(s->w->group->rounds * SIMT_LANES + s->lane) %
			   SIMT_SHOWN_MOST;
	alone->turn = SIMT_SHOWN_UNITS;
	alone->lap = false;
	s->meet = NULL;
	s->meet_depth = S32_MIN;
}

/* Begins the next stage of the lane's turn, if there is one. */
static void simt_lone_stage(struct simt_lone *s)
{
	struct simt_alone *alone = &s->w->alone;
	u32 lane = 1U << s->lane;

	switch (alone->stage) {
	case SIMT_STAGE_TRY:
		/* What it reads may have changed before: then two laps differ, but not three. */
		alone->stage = SIMT_STAGE_TRIAL;
		simt_lone_lap(s, 2, SIMT_TRIAL_UNITS);
		return;
	case SIMT_STAGE_TRIAL:
		if (alone->idle & lane)
			return;
		alone->spin &= ~lane;
		alone->idle = 0;
		alone->stage = SIMT_STAGE_REST;
		if (alone->round && alone->shows & lane) {
			simt_lone_show(s);
			return;
		}
		if (alone->round) {
			simt_lone_lap(s, alone->laps, min(alone->laps * SIMT_ROUND_UNITS,
							  SIMT_ROUND_UNITS_MOST));
			return;
		}
		alone->turn = simt_lone_long(s->w, SIMT_TURN_UNITS);
		alone->lap = false;
		s->meet = alone->meet;
		s->meet_depth = alone->meet_depth;
		return;
	default:
		return;
	}
}

/* All lanes of a round have had their turn. Returns whether another one begins. */
static bool simt_lone_again(struct simt_lone *s, u32 lanes)
{
	struct simt_group *group = s->w->group;
	struct simt_alone *alone = &s->w->alone;
	s32 instructions;

	if (!lanes)
		return false;
	group->waits = alone->spin & lanes;
	if (group->waits) {
		simt_lone_round(s->w, lanes);
		return true;
	}
	instructions = alone->cost / SIMT_LONE_UNITS;
	group->round_at = simt_group_clock(group) + instructions +
			  clamp(instructions * SIMT_ROUND_SHARE, SIMT_ROUND_AGAIN,
				SIMT_ROUND_MOST);
	return false;
}

/*
 * Returns the lanes that can run: 0 if there are none now. Lanes that wait where they are to meet
 * do not if no other one gets there. If all wait for another warp, the turn is over.
 */
static u32 simt_lone_lanes(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	struct simt_alone *alone = &w->alone;
	u32 lanes = w->live & ~w->barrier, most = alone->met ? SIMT_MEET_UNITS : SIMT_NOWHERE_UNITS;

	if (lanes && !(lanes & ~alone->idle)) {
		alone->idle = 0;
		w->group->waits = true;
		w->group->idle = true;
		s->end = SIMT_MORE;
		return 0;
	}
	if (!alone->round && lanes & ~alone->met &&
	    (alone->units > most || !(lanes & ~alone->met & ~alone->idle))) {
		if (w->group->apart_level && !alone->met)
			w->group->apart_level--;
		alone->gain = SIMT_CHANGE_NS;
		simt_lone_round(w, lanes);
	}
	if (!alone->round)
		return lanes & ~alone->met;
	alone->left &= lanes;
	if (!alone->left && !simt_lone_again(s, lanes))
		return 0;
	return alone->left;
}

/**
 * simt_lone_take() - give a lane its turn
 * @s: set to the lane, whose registers are those of the warp until simt_lone_get_regs(), or code of
 *     the CPU, gets them
 * Context: any.
 * Return: false if no lane can run, or not now: see simt_lone_end().
 */
bool simt_lone_take(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	struct simt_alone *alone = &w->alone;
	u32 lanes;

	if (s->end != SIMT_DONE)
		return false;
	lanes = simt_lone_lanes(s);
	if (!lanes)
		return false;
	if (s->units <= 0) {
		s->end = SIMT_MORE;
		return false;
	}
	if (alone->turn <= 0 || !(lanes >> alone->lane & 1))
		simt_lone_next(w, lanes);
	s->lane = alone->lane;
	s->ip = w->text + w->pc[s->lane];
	s->depth = w->depths[s->lane];
	s->meet = alone->lap ? alone->lap_at : alone->meet;
	s->meet_depth = alone->lap ? alone->lap_depth : alone->meet_depth;
	s->private = w->private + 8 * s->lane;
	s->units -= SIMT_TAKE_UNITS;
	alone->cost += SIMT_TAKE_UNITS;
	s->unused += SIMT_TAKE_UNITS;
	s->changed = 0;
	simt_lone_take_regs(s);
	if (alone->turn <= 0)
		simt_lone_stage(s);
	s->left = clamp(min(s->units, alone->turn), SIMT_LONE_UNITS, SIMT_OVER_UNITS);
	s->chunk = s->left;
	return true;
}

/* The lane is where its lap began, or has left the function. Returns whether it goes on. */
static bool simt_lone_lapped(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	struct simt_alone *alone = &w->alone;

	s->stop = SIMT_LONE_LEFT;
	if (s->ip != alone->lap_at || s->depth != alone->lap_depth) {
		alone->lap_at = NULL;
		alone->lap_depth = S32_MIN;
		s->meet = NULL;
		s->meet_depth = S32_MIN;
		return true;
	}
	if (!alone->lap_changed && !s->changed &&
	    !memcmp(w->lap_x, s->x, sizeof(w->lap_x)) &&
	    !memcmp(w->lap_f, s->f, sizeof(w->lap_f))) {
		alone->spin |= 1U << s->lane;
		alone->idle |= 1U << s->lane;
		alone->turn = 0;
		return false;
	}
	simt_lone_keep(s);
	if (!--alone->lap_laps)
		alone->turn = 0;
	return true;
}

/* The lane has stopped: counts what it has cost. Returns whether it goes on. */
bool simt_lone_more(struct simt_lone *s)
{
	struct simt_group *group = s->w->group;
	struct simt_alone *alone = &s->w->alone;
	s32 used = s->chunk - s->left, bounded = min(used, SIMT_OVER_UNITS);

	s->units -= used;
	alone->turn -= used;
	alone->cost = min(alone->cost + bounded, SIMT_COST_MOST);
	group->parted += bounded;
	alone->units += bounded + s->atomics * SIMT_ATOMIC_UNITS;
	s->atomics = 0;
	if (group->over ||
	    simt_access_over(group, DIV_ROUND_UP(bounded, SIMT_OVER_UNITS / SIMT_APART_MOST))) {
		s->unused += max(s->units, 0);
		s->units = 0;
	}
	if (s->stop == SIMT_LONE_MET && alone->lap && !simt_lone_lapped(s))
		return false;
	if (s->stop == SIMT_LONE_LEFT && alone->turn <= 0)
		simt_lone_stage(s);
	s->left = min3(s->units, alone->turn, SIMT_OVER_UNITS);
	s->chunk = s->left;
	return s->stop == SIMT_LONE_LEFT && s->left > 0;
}

/* The lane's turn is over, unless it has to wait for memory. */
static void simt_lone_done(struct simt_lone *s)
{
	struct simt_alone *alone = &s->w->alone;
	u32 lane = 1U << s->lane;

	if (s->stop == SIMT_LONE_EVENT)
		return;
	alone->turn = 0;
	alone->left &= ~lane;
	if (alone->idle & lane)
		return;
	alone->spin &= ~lane;
	alone->idle = 0;
}

/* The lane's registers are those of the warp again. */
void simt_lone_put(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	struct simt_alone *alone = &w->alone;
	unsigned int l = s->lane;

	if (s->stop != SIMT_LONE_END)
		simt_lone_put_regs(s);
	w->pc[l] = s->ip - w->text;
	w->depths[l] = s->depth;
	alone->lap_changed |= !!s->changed;
	if (s->stop != SIMT_LONE_LEFT || alone->turn <= 0)
		simt_lone_done(s);
	if (alone->units > SIMT_LONG_UNITS)
		w->group->apart_long = true;
	switch (s->stop) {
	case SIMT_LONE_LEFT:
		return;
	case SIMT_LONE_EVENT:
		s->end = w->event == SIMT_EVENT_FAULT ? SIMT_FAULT : SIMT_WAIT;
		return;
	case SIMT_LONE_MET:
		alone->met |= 1U << l;
		break;
	case SIMT_LONE_END:
		w->live &= ~(1U << l);
		break;
	case SIMT_LONE_BARRIER:
		w->barrier |= 1U << l;
		break;
	}
	alone->units = 0;
}

/**
 * simt_lone_end() - end what simt_lone_begin() has begun
 * @s: the lanes
 * @budget: instructions of warps; reduced
 * Context: any.
 * Return: SIMT_DONE: all lanes that can run have met; else why the warp is left.
 */
enum simt_end simt_lone_end(struct simt_lone *s, u32 *budget)
{
	struct simt_warp *w = s->w;
	u32 used = DIV_ROUND_UP(max(s->given - s->units, 1), SIMT_LONE_UNITS);

	used = min(*budget, used);
	*budget -= used;
	/* At least one counts, or a dispatch that has begun looks as if it had not. */
	w->group->executed -= min_t(u32, s->unused / SIMT_LONE_UNITS, used - 1);
	w->alone.hosts = 0;
	w->ip = SIMT_LEAVE;
	w->event = SIMT_EVENT_PICK;
	if (s->end == SIMT_DONE) {
		w->alone.on = false;
		if (!w->alone.round)
			simt_lone_learn(w, w->group->parted - w->alone.begun > SIMT_PAID_UNITS);
	}
	return s->end;
}
