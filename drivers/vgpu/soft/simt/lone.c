// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes that run alone. An instruction of a group of few lanes takes about as long as one of all.
 * So when lanes of a warp have been apart for a while, they run one after the other, each for many
 * instructions, on registers of its own (lone.h), until all have come to where they meet (region.c)
 * or wait at a barrier. Then the warp goes on together.
 *
 * When: what was executed apart has cost so much more than alone that the change would have been
 * paid for. Both costs are estimates, because no clock is read here. If the warp saves less after
 * the lanes have met than the change costs, they meet farther away the next time.
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

#include "reg.h"

/*
 * Estimates in ns: an instruction of some live lanes, of all, and of one alone; more for an access
 * whose lanes' memory is found by lane; and the choice of a group.
 */
#define SIMT_PARTED_NS	15
#define SIMT_WHOLE_NS	8
#define SIMT_LONE_NS	2
#define SIMT_HOSTS_NS	60
#define SIMT_PICK_NS	150

/* What the change and the way back cost; less is lost if lanes are likely to be apart for long. */
#define SIMT_CHANGE_NS	8000
#define SIMT_AGAIN_NS	2000

/* No estimate is above this. */
#define SIMT_NS_MOST	1000000

/* A lane has its turn for so many units; and has run for long after so many. */
#define SIMT_TURN_UNITS		8192
#define SIMT_LONG_UNITS		16384

/* After so many units in which no lane has met the others, none waits for them any more. */
#define SIMT_MEET_UNITS		1000000

/* struct simt_mem.over is asked after so many units, of which one access costs SIMT_LONE_APART. */
#define SIMT_OVER_UNITS		(SIMT_APART_MOST * SIMT_LANES * SIMT_LONE_APART)

/* What it costs that a lane begins and ends its turn. */
#define SIMT_TAKE_UNITS		64

/* The warp begins: lanes run together. How far away they meet was learned in earlier groups. */
void simt_lone_reset(struct simt_warp *w)
{
	struct simt_alone *alone = &w->alone;

	alone->on = false;
	alone->ragged = false;
	alone->hosts = 0;
	alone->loss = 0;
	alone->gain = SIMT_NS_MOST;
}

/**
 * simt_lone_note() - note what the running group has cost
 * @w: the warp
 * @instructions: that it has executed
 * Context: any.
 */
void simt_lone_note(struct simt_warp *w, u32 instructions)
{
	struct simt_alone *alone = &w->alone;
	s32 n = min_t(u32, instructions, 4096);
	s32 ns = -n * SIMT_LONE_NS * (s32)hweight32(w->active);

	if (!n)
		return;
	ns += w->partial ? n * SIMT_PARTED_NS + SIMT_PICK_NS : n * SIMT_WHOLE_NS;
	ns += min_t(u32, alone->hosts, 4096) * SIMT_HOSTS_NS;
	alone->hosts = 0;
	if (ns < 0)
		alone->gain = min(alone->gain - ns, SIMT_NS_MOST);
	alone->loss = clamp(alone->loss + ns, 0, SIMT_NS_MOST);
}

/* Whether lanes of the warp run alone, or should begin to, when the next group would be picked. */
bool simt_lone_due(struct simt_warp *w)
{
	const struct simt_alone *alone = &w->alone;
	u32 most = w->dispatch->alone ?: w->dispatch->apart_long ? SIMT_AGAIN_NS : SIMT_CHANGE_NS;

	return alone->on || ((u32)alone->loss >= most && !w->met);
}

/* Lanes that run alone from now on. */
static void simt_lone_start(struct simt_warp *w)
{
	struct simt_dispatch *dispatch = w->dispatch;
	struct simt_alone *alone = &w->alone;
	u32 rest = w->live & ~w->barrier;

	if (alone->gain < SIMT_CHANGE_NS && dispatch->apart_level < SIMT_LEVEL_NEVER)
		dispatch->apart_level++;
	alone->on = true;
	dispatch->apart_long = false;
	alone->loss = 0;
	alone->gain = 0;
	alone->turn = SIMT_TURN_UNITS;
	alone->units = 0;
	alone->lane = SIMT_LANES - 1;
	alone->met = 0;
	simt_region_meet(w, rest, dispatch->apart_level, &alone->meet, &alone->meet_depth);
	for (; alone->meet && rest; rest &= rest - 1) {
		unsigned int l = __ffs(rest);

		if (w->text + w->pc[l] == alone->meet && w->depths[l] == alone->meet_depth)
			alone->met |= 1U << l;
	}
	w->fair = false;
}

/* Begins or continues to execute lanes alone, for at most @budget instructions of warps. */
void simt_lone_begin(struct simt_lone *s, struct simt_warp *w, u32 budget)
{
	if (!w->alone.on)
		simt_lone_start(w);
	memset(s->f, 0, sizeof(s->f));
	s->x[SIMT_X_SINK] = 0;
	s->w = w;
	s->private_bytes = w->dispatch->private_bytes;
	s->units = min_t(u32, budget, 1 << 16) * SIMT_LONE_UNITS;
	s->given = s->units;
	s->end = SIMT_DONE;
}

/* Returns the lane whose turn it is: the same one until its turn is over. */
static unsigned int simt_lone_next(struct simt_alone *alone, u32 lanes)
{
	u32 above;

	if (alone->turn > 0 && lanes >> alone->lane & 1)
		return alone->lane;
	above = alone->lane + 1 < SIMT_LANES ? lanes & U32_MAX << (alone->lane + 1) : 0;
	alone->turn = SIMT_TURN_UNITS;
	alone->lane = __ffs(above ?: lanes);
	return alone->lane;
}

static void simt_lone_get(struct simt_lone *s)
{
	const struct simt_warp *w = s->w;
	unsigned int l = s->lane, r;
	u64 vec = w->vec & ~(1ULL << SIMT_X_SINK);
	u32 rest;

	for (r = 0; r < SIMT_X_SINK; r++)
		s->x[r] = w->base[r] + w->stride[r] * l;
	for (; vec; vec &= vec - 1) {
		r = __ffs64(vec);
		s->x[r] = w->narrow >> r & 1 ? (u64)(s64)w->x[r].n[l] : w->x[r].d[l];
	}
	for (rest = w->dispatch->program->floats & w->known; rest; rest &= rest - 1) {
		r = __ffs(rest);
		s->f[r] = w->wide >> r & 1 ? w->f[r].d[l] : simt_box(w->f[r].s[l]);
	}
	for (rest = w->dispatch->program->floats & ~w->known; rest; rest &= rest - 1)
		s->f[__ffs(rest)] = 0;
}

static void simt_lone_put_x(struct simt_warp *w, unsigned int r, unsigned int l, u64 value)
{
	bool fits = value == (u64)(s64)(s32)value;

	if (!simt_is_vec(w, r)) {
		if (w->base[r] + w->stride[r] * l == value)
			return;
		w->alone.ragged = true;
		if (fits && simt_fits(w, r)) {
			memcpy(w->x[r].n, simt_low(w, r, 0), sizeof(w->x[r].n));
			w->narrow |= 1ULL << r;
		} else {
			simt_expand(w->x[r].d, w->base[r], w->stride[r]);
		}
		w->vec |= 1ULL << r;
	} else if (simt_is_narrow(w, r) && !fits) {
		w->alone.ragged = true;
		memcpy(w->x[r].d, simt_x(w, r, 0), sizeof(w->x[r].d));
		w->narrow &= ~(1ULL << r);
	}
	if (simt_is_narrow(w, r))
		w->x[r].n[l] = (s32)value;
	else
		w->x[r].d[l] = value;
}

static void simt_lone_put_f(struct simt_warp *w, unsigned int r, unsigned int l, u64 value)
{
	if (!(w->known >> r & 1)) {
		if (!value)
			return;
		w->alone.ragged = true;
		simt_know(w, r);
	} else if (!(w->wide >> r & 1)) {
		if (value == simt_box((u32)value)) {
			w->f[r].s[l] = (u32)value;
			return;
		}
		w->alone.ragged = true;
		memcpy(w->f[r].d, simt_d(w, r, 0), sizeof(w->f[r].d));
		w->wide |= 1U << r;
	}
	w->f[r].d[l] = value;
}

/**
 * simt_lone_take() - give a lane registers of its own
 * @s: set to the lane
 * Context: any.
 * Return: false if no lane can run, or not now: see simt_lone_end().
 */
bool simt_lone_take(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	struct simt_alone *alone = &w->alone;
	u32 lanes = w->live & ~w->barrier & ~alone->met;

	if (s->end != SIMT_DONE || !lanes)
		return false;
	if (s->units <= 0) {
		s->end = SIMT_MORE;
		return false;
	}
	if (alone->units > SIMT_MEET_UNITS) {
		w->dispatch->apart_level = SIMT_LEVEL_NEVER;
		alone->meet = NULL;
		alone->meet_depth = S32_MIN;
		alone->met = 0;
		alone->units = 0;
		lanes = w->live & ~w->barrier;
	}
	s->lane = simt_lone_next(alone, lanes);
	s->ip = w->text + w->pc[s->lane];
	s->depth = w->depths[s->lane];
	s->meet = alone->meet;
	s->meet_depth = alone->meet_depth;
	s->private = w->private + 8 * s->lane;
	s->units -= SIMT_TAKE_UNITS;
	s->left = clamp(min(s->units, alone->turn), SIMT_LONE_UNITS, SIMT_OVER_UNITS);
	s->chunk = s->left;
	simt_lone_get(s);
	return true;
}

/* The lane has stopped: counts what it has cost. Returns whether it goes on. */
bool simt_lone_more(struct simt_lone *s)
{
	struct simt_dispatch *dispatch = s->w->dispatch;
	struct simt_alone *alone = &s->w->alone;
	s32 used = s->chunk - s->left;

	s->units -= used;
	alone->turn -= used;
	alone->units += min(used, SIMT_OVER_UNITS);
	dispatch->apart += DIV_ROUND_UP(min(used, SIMT_OVER_UNITS),
					SIMT_OVER_UNITS / SIMT_APART_MOST);
	if (dispatch->apart >= SIMT_APART_MOST) {
		dispatch->apart = 0;
		if (dispatch->mem->over && dispatch->mem->over(dispatch->mem))
			s->units = 0;
	}
	s->left = min3(s->units, alone->turn, SIMT_OVER_UNITS);
	s->chunk = s->left;
	return s->stop == SIMT_LONE_LEFT && s->left > 0;
}

/* The lane's registers are those of the warp again. */
void simt_lone_put(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	struct simt_alone *alone = &w->alone;
	unsigned int l = s->lane;
	u64 rest;

	if (s->stop != SIMT_LONE_END) {
		rest = w->dispatch->program->written & ~(1ULL | 1ULL << SIMT_X_SINK);
		for (; rest; rest &= rest - 1)
			simt_lone_put_x(w, __ffs64(rest), l, s->x[__ffs64(rest)]);
		for (rest = w->dispatch->program->floats; rest; rest &= rest - 1)
			simt_lone_put_f(w, __ffs64(rest), l, s->f[__ffs64(rest)]);
	}
	w->pc[l] = s->ip - w->text;
	w->depths[l] = s->depth;
	if (alone->units > SIMT_LONG_UNITS)
		w->dispatch->apart_long = true;
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

	*budget -= min(*budget, used);
	w->ip = SIMT_LEAVE;
	w->event = SIMT_EVENT_PICK;
	if (s->end == SIMT_DONE)
		w->alone.on = false;
	return s->end;
}

static void simt_lone_pack_x(struct simt_warp *w, unsigned int r)
{
	unsigned int a = __ffs(w->live), b;
	u32 others = w->live & (w->live - 1), rest;
	u64 first = simt_lane_x(w, r, a), stride = 0;
	bool affine = true, fits = true;

	b = others ? __ffs(others) : a;
	if (b == a + 1)
		stride = simt_lane_x(w, r, b) - first;
	for (rest = w->live; rest; rest &= rest - 1) {
		unsigned int l = __ffs(rest);
		u64 value = simt_lane_x(w, r, l);

		affine = affine && value == first + stride * (l - a);
		fits = fits && value == (u64)(s64)(s32)value;
		if (!affine && !fits)
			return;
	}
	if (affine) {
		w->base[r] = first - stride * a;
		w->stride[r] = stride;
		w->vec &= ~(1ULL << r);
		w->narrow &= ~(1ULL << r);
	} else if (!simt_is_narrow(w, r)) {
		for (b = 0; b < SIMT_LANES; b++)
			w->x[r].n[b] = (s32)w->x[r].d[b];
		w->narrow |= 1ULL << r;
	}
}

static void simt_lone_pack_f(struct simt_warp *w, unsigned int r)
{
	unsigned int l;
	u32 rest;

	for (rest = w->live; rest; rest &= rest - 1) {
		l = __ffs(rest);
		if (w->f[r].d[l] != simt_box((u32)w->f[r].d[l]))
			return;
	}
	for (l = 0; l < SIMT_LANES; l++)
		w->f[r].s[l] = (u32)w->f[r].d[l];
	w->wide &= ~(1U << r);
}

/* Lanes run together again: gives each register the simplest form that its values allow. */
void simt_lone_pack(struct simt_warp *w)
{
	u64 x = w->vec & w->dispatch->program->written & ~(1ULL << SIMT_X_SINK);
	u32 f = w->known & w->wide & w->dispatch->program->floats;

	w->alone.ragged = false;
	for (; x; x &= x - 1)
		simt_lone_pack_x(w, __ffs64(x));
	for (; f; f &= f - 1)
		simt_lone_pack_f(w, __ffs(f));
}

/* Finds the memory of an access that the TLB has not, or that is in two pieces. */
static enum simt_hosts simt_lone_far(struct simt_lone *s, const struct simt_insn *i, u64 va,
				     unsigned int bytes, bool write)
{
	struct simt_warp *w = s->w;
	enum simt_hosts hosts;

	w->active = 1U << s->lane;
	w->extra = 0;
	w->tmp[0][s->lane] = va;
	hosts = simt_access_hosts(w, i, w->tmp[0], bytes, write);
	s->cost = min_t(u32, w->extra, 1 << 16) * SIMT_LONE_UNITS + SIMT_LONE_UNITS;
	w->extra = 0;
	return hosts;
}

/**
 * simt_lone_host() - find the memory of an access in one piece
 * @s: the lane
 * @i: the instruction
 * @va: an address that is a multiple of @bytes
 * @bytes: length of the access
 * @write: the instruction writes memory
 *
 * Sets the warp's host of the lane, and @s->cost.
 *
 * Context: any.
 * Return: false if there was an event.
 */
bool simt_lone_host(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		    bool write)
{
	return simt_lone_far(s, i, va, bytes, write) != SIMT_HOSTS_FAIL;
}

/* Loads, zero-extended. Returns false if there was an event. */
bool simt_lone_load(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		    u64 *value)
{
	struct simt_warp *w = s->w;

	if (simt_lone_far(s, i, va, bytes, false) == SIMT_HOSTS_FAIL)
		return false;
	simt_access_load(w, bytes, w->tmp[1]);
	*value = w->tmp[1][s->lane];
	return true;
}

/* Stores the low @bytes of @value. Returns false if there was an event. */
bool simt_lone_store(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		     u64 value)
{
	struct simt_warp *w = s->w;

	if (simt_lone_far(s, i, va, bytes, true) == SIMT_HOSTS_FAIL)
		return false;
	w->tmp[1][s->lane] = value;
	simt_access_store(w, bytes, w->tmp[1]);
	return true;
}
