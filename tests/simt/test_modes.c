// SPDX-License-Identifier: GPL-2.0
/*
 * Rounding modes in frm that are none: an operation that would round by frm is illegal then, in the
 * lanes that have such a mode, and all others are not.
 */
#include "vgpu_test.h"

#include "simt_host.h"

#include "rv.h"

#define FRM		2
#define DYN		7
#define LANE		17	/* has another mode than the others */

/* Of singles; doubles have 1 in @f7. */
struct op {
	const char *name;
	u32 opcode;
	u32 f7;
	u32 rs2;
};

/* With a field for the rounding mode. */
static const struct op rounding[] = {
	{ "fadd", 0x53, 0x00, 2 }, { "fsub", 0x53, 0x04, 2 }, { "fmul", 0x53, 0x08, 2 },
	{ "fdiv", 0x53, 0x0c, 2 }, { "fsqrt", 0x53, 0x2c, 0 }, { "fcvt.w", 0x53, 0x60, 0 },
	{ "fcvt.wu", 0x53, 0x60, 1 }, { "fcvt.l", 0x53, 0x60, 2 }, { "fcvt.lu", 0x53, 0x60, 3 },
	{ "fcvt.s.w", 0x53, 0x68, 0 }, { "fcvt.s.wu", 0x53, 0x68, 1 },
	{ "fcvt.s.l", 0x53, 0x68, 2 }, { "fcvt.s.lu", 0x53, 0x68, 3 },
	{ "fmadd", 0x43, 0x0c, 2 }, { "fmsub", 0x47, 0x0c, 2 }, { "fnmsub", 0x4b, 0x0c, 2 },
	{ "fnmadd", 0x4f, 0x0c, 2 },
};

/* With another instruction in its place. */
static const struct op others[] = {
	{ "fsgnj", 0x53, 0x10, 2 }, { "fmin", 0x53, 0x14, 2 }, { "feq", 0x53, 0x50, 2 },
	{ "fmv.x", 0x53, 0x70, 0 }, { "fmv.s.x", 0x53, 0x78, 0 },
};

/* frm is @mode, but @lane_mode in LANE; the instruction follows, in all lanes or in LANE only. */
static enum simt_end run(const struct simt_isa *isa, u32 word, u32 mode, u32 lane_mode, bool all,
			 struct simt_fault *fault)
{
	const u32 words[] = {
		RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID),
		RV_ADDI(RV_T0, RV_T0, -LANE),
		RV_I(FRM, mode, 5, 0, 0x73),		/* csrwi frm, mode */
		RV_BNE(RV_T0, RV_ZERO, all ? 8 : 12),
		RV_I(FRM, lane_mode, 5, 0, 0x73),
		word,
		RV_RET,
	};
	const u32 nr = ARRAY_SIZE(words);
	struct simt_program *program = calloc(1, simt_program_bytes(nr));
	struct simt_mem mem = {};
	struct simt_tlb tlb;
	struct simt_dispatch dispatch = {
		.program = program,
		.grid = { SIMT_LANES, 1, 1 }, .group = { SIMT_LANES, 1, 1 },
	};
	struct simt_group group = { .isa = isa, .mem = &mem, .tlb = &tlb };
	enum simt_end end;

	simt_program_init(program, nr);
	simt_program_decode(program, 0, (const __le32 *)words, nr);
	simt_program_finish(program);
	group.warps = aligned_alloc(64, simt_warps_bytes(dispatch.group));
	memset(group.warps, 0, simt_warps_bytes(dispatch.group));
	simt_tlb_flush(&tlb);
	state_begin(&dispatch, &group);
	end = simt_group_run(&group, 10000);
	*fault = group.fault;
	free(group.warps);
	free(program);
	return end;
}

static void check_legal(const struct simt_isa *isa, const char *name, u32 word, u32 mode, u32 lane)
{
	struct simt_fault fault;

	check_that(run(isa, word, mode, lane, true, &fault) == SIMT_DONE,
		   "%s: %s (%#x), frm %u and %u: fault %u at %#llx", isa->name, name, word, mode,
		   lane, fault.code, (unsigned long long)fault.pc);
}

static void check_illegal(const struct simt_isa *isa, const char *name, u32 word, u32 mode,
			  u32 lane_mode, bool all, u32 lane)
{
	struct simt_fault fault;
	enum simt_end end = run(isa, word, mode, lane_mode, all, &fault);

	check_that(end == SIMT_FAULT && fault.code == VGPU_HW_FAULT_ILLEGAL &&
		   fault.pc == VGPU_HW_VA_IMAGE + 4 * 5 && fault.id[0] == lane,
		   "%s: %s (%#x), frm %u and %u: end %d, fault %u at %#llx of item %u, not %u",
		   isa->name, name, word, mode, lane_mode, end, fault.code,
		   (unsigned long long)fault.pc, fault.id[0], lane);
}

static void check_rounding(const struct simt_isa *isa, const struct op *op, u32 f7)
{
	u32 word = RV_R(f7, op->rs2, 1, DYN, 3, op->opcode), mode;

	for (mode = 0; mode <= 7; mode++) {
		if (mode <= 4) {
			check_legal(isa, op->name, word, mode, 4 - mode);
			continue;
		}
		check_illegal(isa, op->name, word, mode, mode, true, 0);
		check_illegal(isa, op->name, word, mode, 0, true, 0);
		check_illegal(isa, op->name, word, 0, mode, true, LANE);
		check_illegal(isa, op->name, word, mode, mode, false, LANE);
		/* Where the instruction says how, frm does not matter. */
		check_legal(isa, op->name, word & ~(7U << 12), mode, mode);
		check_legal(isa, op->name, word & ~(3U << 12), mode, 0);
	}
}

static void test_modes(void **state)
{
	const struct simt_isa *isa;
	u32 i, k, mode, f7;

	for (k = 0; (isa = simt_host_isa(k)); k++) {
		for (i = 0; i < 2 * ARRAY_SIZE(rounding); i++)
			check_rounding(isa, &rounding[i / 2], rounding[i / 2].f7 | (i & 1));
		check_rounding(isa, &(struct op){ "fcvt.s.d", 0x53, 0x20, 1 }, 0x20);
		check_rounding(isa, &(struct op){ "fcvt.d.s", 0x53, 0x21, 0 }, 0x21);
		for (i = 0; i < 2 * ARRAY_SIZE(others); i++) {
			f7 = others[i / 2].f7 | (i & 1);
			for (mode = 5; mode <= 7; mode++)
				check_legal(isa, others[i / 2].name,
					    RV_R(f7, others[i / 2].rs2, 1, 0, 3, 0x53), mode, mode);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
