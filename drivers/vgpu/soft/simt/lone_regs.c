// SPDX-License-Identifier: GPL-2.0
/* Registers of lanes that run alone (lone.c), from those of the warp and back; and their memory. */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "access.h"
#include "reg.h"

/* What it costs to look for the simplest forms, in instructions. */
#define SIMT_PACK_EXTRA	8

/*
 * Whether the warp's lanes could run alone: float registers that the program does not write are 0,
 * as lanes that run alone have them. If it reads one, the warp has an array of zeros.
 */
bool simt_lone_able(const struct simt_warp *w)
{
	u32 others = w->known & ~w->group->dispatch->program->floats, rest;
	u64 any = others & ~w->wide;

	for (; others; others &= others - 1)
		for (rest = w->live; rest; rest &= rest - 1)
			any |= w->f[__ffs(others)].d[__ffs(rest)];
	return !any;
}

/* Makes registers that the program writes arrays of 64-bit lanes, for lanes that run alone. */
void simt_lone_spread(struct simt_warp *w)
{
	const struct simt_program *program = w->group->dispatch->program;
	u64 x = simt_lone_written(program) & ~(w->vec & ~w->narrow), rest = x;
	u32 f = program->floats & ~(w->known & w->wide);

	if (x | f)
		w->watch |= SIMT_WATCH_RAGGED;
	for (; rest; rest &= rest - 1)
		memcpy(w->x[__ffs64(rest)].d, simt_widened(w, __ffs64(rest), 0),
		       sizeof(w->x[0].d));
	w->vec |= x;
	w->narrow &= ~x;
	for (; f; f &= f - 1) {
		simt_boxed(w, __ffs(f), 0);
		if (!(w->wide >> __ffs(f) & 1))
			memcpy(w->f[__ffs(f)].d, w->tmp[0], sizeof(w->f[0].d));
		w->wide |= 1U << __ffs(f);
	}
}

/* Sets what is the same for all lanes, one after the other. */
void simt_lone_begin_regs(struct simt_lone *s)
{
	const struct simt_warp *w = s->w;
	u64 written = simt_lone_written(w->group->dispatch->program);
	unsigned int r;

	s->varying = 0;
	for (r = 0; r < SIMT_X_SINK; r++) {
		s->x[r] = w->base[r];
		if (w->stride[r])
			s->varying |= 1U << r;
	}
	s->varying &= ~(u32)written;
	s->x[SIMT_X_SINK] = 0;
	memset(s->f, 0, sizeof(s->f));
}

/* Its registers are those of its lane of the warp, which simt_lone_spread() has spread. */
void simt_lone_take_regs(struct simt_lone *s)
{
	struct simt_warp *w = s->w;
	unsigned int r;
	u64 rest;

	for (rest = s->varying; rest; rest &= rest - 1) {
		r = __ffs64(rest);
		s->x[r] = w->base[r] + w->stride[r] * s->lane;
	}
	s->home = &w->x[0].d[s->lane];
	s->regs = s->home;
}

/* Sets them, unless that was done. */
void simt_lone_get_regs(struct simt_lone *s)
{
	const struct simt_program *program = s->w->group->dispatch->program;
	const struct simt_warp *w = s->w;
	unsigned int l = s->lane;
	u64 rest;

	if (!s->regs)
		return;
	s->regs = NULL;
	for (rest = simt_lone_written(program); rest; rest &= rest - 1)
		s->x[__ffs64(rest)] = w->x[__ffs64(rest)].d[l];
	for (rest = program->floats; rest; rest &= rest - 1)
		s->f[__ffs64(rest)] = w->f[__ffs64(rest)].d[l];
}

/* Sets those of its lane of the warp, unless they are the same. */
void simt_lone_put_regs(struct simt_lone *s)
{
	const struct simt_program *program = s->w->group->dispatch->program;
	struct simt_warp *w = s->w;
	unsigned int l = s->lane;
	u64 rest;

	if (s->regs)
		return;
	for (rest = simt_lone_written(program); rest; rest &= rest - 1)
		w->x[__ffs64(rest)].d[l] = s->x[__ffs64(rest)];
	for (rest = program->floats; rest; rest &= rest - 1)
		w->f[__ffs64(rest)].d[l] = s->f[__ffs64(rest)];
}

/* The forms that the lanes of a register allow. */
struct simt_lone_forms {
	u64 base;
	u64 stride;
	bool affine;
	bool narrow;
};

/* Likewise, of an array of which all lanes are live. */
static struct simt_lone_forms simt_lone_forms_all(const u64 *d)
{
	u64 value = d[0], stride = d[1] - d[0], apart = 0, wide = 0;
	unsigned int l;

	for (l = 0; l < SIMT_LANES; l++, value += stride) {
		apart |= d[l] ^ value;
		wide |= d[l] ^ (u64)(s64)(s32)d[l];
		if (l % 8 == 7 && apart && wide)
			break;
	}
	return (struct simt_lone_forms){ d[0], stride, !apart, !wide };
}

static struct simt_lone_forms simt_lone_forms(const struct simt_warp *w, unsigned int r)
{
	unsigned int a = __ffs(w->live), b;
	u32 others = w->live & (w->live - 1), rest;
	u64 first = simt_lane_x(w, r, a), stride = 0;
	bool affine = true, fits = true;

	b = others ? __ffs(others) : a;
	if (b == a + 1)
		stride = simt_lane_x(w, r, b) - first;
	for (rest = w->live; rest && (affine || fits); rest &= rest - 1) {
		unsigned int l = __ffs(rest);
		u64 value = simt_lane_x(w, r, l);

		affine = affine && value == first + stride * (l - a);
		fits = fits && value == (u64)(s64)(s32)value;
	}
	return (struct simt_lone_forms){ first - stride * a, stride, affine, fits };
}

static void simt_lone_pack_x(struct simt_warp *w, unsigned int r)
{
	struct simt_lone_forms forms;
	unsigned int l;

	if (w->live == U32_MAX && !simt_is_narrow(w, r))
		forms = simt_lone_forms_all(w->x[r].d);
	else
		forms = simt_lone_forms(w, r);
	if (forms.affine) {
		w->base[r] = forms.base;
		w->stride[r] = forms.stride;
		w->vec &= ~(1ULL << r);
		w->narrow &= ~(1ULL << r);
	} else if (forms.narrow && !simt_is_narrow(w, r)) {
		for (l = 0; l < SIMT_LANES; l++)
			w->x[r].n[l] = (s32)w->x[r].d[l];
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

/**
 * simt_lone_pack() - give each register the simplest form that its values allow
 * @w: the warp, whose lanes run together again
 * @most: instructions that are left
 * Context: any.
 * Return: what that has cost, in instructions, at most @most.
 */
u32 simt_lone_pack(struct simt_warp *w, u32 most)
{
	u64 x = w->vec & w->group->dispatch->program->written & ~(1ULL << SIMT_X_SINK);
	u32 f = w->known & w->wide & w->group->dispatch->program->floats;

	w->watch &= ~SIMT_WATCH_RAGGED;
	for (; x; x &= x - 1)
		simt_lone_pack_x(w, __ffs64(x));
	for (; f; f &= f - 1)
		simt_lone_pack_f(w, __ffs(f));
	return simt_warp_charge(w, SIMT_PACK_EXTRA, most);
}

/* Finds the memory of an access that the TLB has not, or that is in two pieces. */
static enum simt_hosts simt_lone_far(struct simt_lone *s, const struct simt_insn *i, u64 va,
				     unsigned int bytes, bool write)
{
	struct simt_warp *w = s->w;
	enum simt_hosts hosts;

	w->active = 1U << s->lane;
	w->extra = 0;
	hosts = simt_access_host(w, i, va, s->lane, bytes, write);
	s->cost = min_t(u32, w->extra, 1 << 16) * SIMT_LONE_UNITS;
	s->unused += s->cost;
	s->cost += SIMT_LONE_UNITS;
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
	*value = simt_access_load_lane(w, s->lane, bytes);
	return true;
}

/* Stores the low @bytes of @value. Returns false if there was an event. */
bool simt_lone_store(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		     u64 value)
{
	struct simt_warp *w = s->w;

	if (simt_lone_far(s, i, va, bytes, true) == SIMT_HOSTS_FAIL)
		return false;
	simt_access_store_lane(w, s->lane, bytes, value);
	s->changed = 1;
	return true;
}
