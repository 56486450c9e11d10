// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes that run alone (lone.c). Registers of random forms stay what they are when lanes get
 * registers of their own and give them back, changed or not; and when the warp looks for simpler
 * forms, which it then has.
 */
#include "vgpu_test.h"

#include <linux/bitops.h>
#include <linux/limits.h>

#include "simt_host.h"
#include "soft/simt/warp.h"

#define ROUNDS	2000
#define PRIVATE	256

static u64 seed;

/* What the registers are to be, by lane. */
static u64 want_x[32][SIMT_LANES], want_f[32][SIMT_LANES];

static struct simt_program *program;
static struct simt_tlb tlb;
static u8 private[SIMT_LANES * PRIVATE];

static enum simt_end no_map(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			    enum vgpu_hw_fault *code)
{
	*code = VGPU_HW_FAULT_ADDRESS;
	return SIMT_FAULT;
}

/* Whether values have 32 bits, in this round. */
static bool small;

static u64 random_value(void)
{
	u64 value = random_next(&seed) >> random_range(&seed, small ? 33 : 0, 63);

	return random_one_in(&seed, 2) ? -value : value;
}

static void random_x(struct simt_warp *w, unsigned int r)
{
	u64 base = random_value(), stride = random_one_in(&seed, 2) ? 0 : random_range(&seed, 0, 9);
	unsigned int form = random_range(&seed, 0, 2), l;
	bool plain = random_one_in(&seed, 3);

	w->vec = (w->vec & ~(1ULL << r)) | (u64)(form > 0) << r;
	w->narrow = (w->narrow & ~(1ULL << r)) | (u64)(form > 1) << r;
	w->base[r] = base;
	w->stride[r] = stride;
	for (l = 0; l < SIMT_LANES; l++) {
		u64 value = form && !plain ? random_value() : base + stride * l;

		if (form > 1) {
			w->x[r].n[l] = (s32)value;
			value = (u64)(s64)(s32)value;
		} else if (form) {
			w->x[r].d[l] = value;
		}
		want_x[r][l] = value;
	}
}

static void random_f(struct simt_warp *w, unsigned int r)
{
	unsigned int form = random_range(&seed, 0, 2), l;
	bool boxed = random_one_in(&seed, 2);

	w->known = (w->known & ~(1U << r)) | (u32)(form > 0) << r;
	w->wide = (w->wide & ~(1U << r)) | (u32)(form > 1) << r;
	for (l = 0; l < SIMT_LANES; l++) {
		u64 value = form ? random_next(&seed) : 0;

		if (form && (form == 1 || boxed))
			value |= 0xffffffffULL << 32;
		if (form == 1)
			w->f[r].s[l] = (u32)value;
		else
			w->f[r].d[l] = form ? value : random_next(&seed);
		want_f[r][l] = value;
	}
}

static u64 has_x(const struct simt_warp *w, unsigned int r, unsigned int l)
{
	if (!(w->vec >> r & 1))
		return w->base[r] + w->stride[r] * l;
	return w->narrow >> r & 1 ? (u64)(s64)w->x[r].n[l] : w->x[r].d[l];
}

static u64 has_f(const struct simt_warp *w, unsigned int r, unsigned int l)
{
	if (!(w->known >> r & 1))
		return 0;
	return w->wide >> r & 1 ? w->f[r].d[l] : 0xffffffffULL << 32 | w->f[r].s[l];
}

static void check_registers(const struct simt_warp *w, const char *when)
{
	unsigned int r, l;

	for (r = 1; r < 32; r++)
		for (l = 0; l < SIMT_LANES; l++)
			check_that(!(w->live >> l & 1) || has_x(w, r, l) == want_x[r][l],
				   "%s: x%u of lane %u", when, r, l);
	for (r = 0; r < 32; r++)
		for (l = 0; l < SIMT_LANES; l++)
			check_that(!(w->live >> l & 1) || has_f(w, r, l) == want_f[r][l],
				   "%s: f%u of lane %u", when, r, l);
}

/* Every lane gets registers, which some change, and gives them back. */
static void run_lanes(struct simt_warp *w, bool change)
{
	struct simt_lone s;
	u32 budget = 1000;
	unsigned int n, r;

	simt_lone_watch(w, SIMT_WATCH_DUE);
	w->alone.loss = 1000000;
	w->alone.gain = 0;
	simt_lone_start(w, budget);
	assert_true(w->alone.on);
	simt_lone_begin(&s, w, budget);
	for (n = 0; n < hweight32(w->live); n++) {
		assert_true(simt_lone_take(&s));
		simt_lone_get_regs(&s);
		for (r = 1; r < 32; r++)
			assert_true(s.x[r] == want_x[r][s.lane]);
		for (r = 0; r < 32; r++)
			assert_true(s.f[r] == want_f[r][s.lane]);
		for (r = 0; change && r < 32; r++) {
			if (r && random_one_in(&seed, 3))
				want_x[r][s.lane] = random_value();
			if (random_one_in(&seed, 3))
				want_f[r][s.lane] = random_next(&seed) |
					(random_one_in(&seed, 2) ? 0xffffffffULL << 32 : 0);
			s.x[r] = r ? want_x[r][s.lane] : 0;
			s.f[r] = want_f[r][s.lane];
		}
		s.stop = SIMT_LONE_MET;
		s.left = s.chunk;
		simt_lone_more(&s);
		simt_lone_put(&s);
	}
	assert_false(simt_lone_take(&s));
	assert_int_equal(simt_lone_end(&s, &budget), SIMT_DONE);
}

/* No register that could be had for less is an array of 64 bits. */
static void check_packed(const struct simt_warp *w)
{
	unsigned int r, l;
	bool same, fits;

	for (r = 1; r < 32; r++) {
		same = true;
		fits = true;
		for (l = 0; l < SIMT_LANES; l++) {
			u64 value = want_x[r][l];

			same = same && value == want_x[r][0] + l * (want_x[r][1] - want_x[r][0]);
			fits = fits && value == (u64)(s64)(s32)value;
		}
		check_that(!same || !(w->vec >> r & 1), "x%u is affine, but an array", r);
		check_that(!fits || !(w->vec >> r & 1) || w->narrow >> r & 1, "x%u is wide", r);
	}
}

static void test_registers(void **state)
{
	struct simt_mem mem = { .map = no_map };
	struct simt_warp *w = aligned_alloc(64, sizeof(*w));
	struct simt_dispatch dispatch = {
		.program = program, .grid = { 32, 1, 1 }, .group = { 32, 1, 1 },
		.private_bytes = PRIVATE,
	};
	struct simt_group group = {
		.isa = &simt_isa_scalar, .mem = &mem, .tlb = &tlb, .private = private, .warps = w,
	};
	unsigned int r;
	int n;

	for (n = 0; n < ROUNDS; n++) {
		small = random_one_in(&seed, 2);
		memset(w, 0x5a, sizeof(*w));
		state_begin(&dispatch, &group);
		memset(w->pc, 0, sizeof(w->pc));
		w->pc[0] = 1;
		memset(w->depths, 0, sizeof(w->depths));
		group.apart_level = SIMT_LEVEL_NEVER;
		for (r = 1; r < 32; r++)
			random_x(w, r);
		for (r = 0; r < 32; r++)
			random_f(w, r);
		check_registers(w, "at first");
		run_lanes(w, false);
		check_registers(w, "unchanged");
		run_lanes(w, true);
		check_registers(w, "changed");
		if (random_one_in(&seed, 2))
			w->live = (u32)random_next(&seed) | 1U << random_range(&seed, 0, 31);
		simt_lone_pack(w, 100);
		check_registers(w, "packed");
		if (w->live == U32_MAX)
			check_packed(w);
	}
	free(w);
}

/* A program that writes all registers; it is not executed. */
static void make_program(void)
{
	u32 words[64], r;

	for (r = 0; r < 32; r++) {
		words[r] = 0x00000013 | r << 7;			/* addi rd, zero, 0 */
		words[32 + r] = 0xf2000053 | r << 7;		/* fmv.d.x rd, zero */
	}
	program = malloc(simt_program_bytes(64));
	simt_program_init(program, 64);
	simt_program_decode(program, 0, (const __le32 *)words, 64);
	simt_program_finish(program);
	assert_true(program->floats == U32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
	};
	int ret;

	seed = test_seed();
	make_program();
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	free(program);
	return ret;
}
