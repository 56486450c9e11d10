/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of several groups: of units_test, and some of the unit test of what groups may wait for
 * (isa.rst). These have groups of GROUPS_ITEMS, and memory at a0 that is 0 but for what is said.
 */
#ifndef GROUPS_H
#define GROUPS_H

#include "rv.h"

#define GROUPS_ITEMS	40u
#define GROUPS_ROUNDS	20u
#define UNITS_ROUNDS	3000u

/*
 * Each work-item waits for that of the group before, and adds 1 to its word. a0: as many words of 1
 * as a group has work-items, then those of work-items.
 */
static const uint32_t groups_chain[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 3),
	RV_ADD(RV_T0, RV_T0, RV_A0),
	RV_LD(RV_T1, 0, RV_T0), RV_BEQ(RV_T1, RV_ZERO, -4),
	RV_ADDI(RV_T1, RV_T1, 1), RV_SD(RV_T1, GROUPS_ITEMS * 8, RV_T0), RV_RET,
};

/* All take one lock, and add to one word while they have it. a0: the lock, then the word. */
static const uint32_t groups_lock[] = {
	RV_LI(RV_T0, 1), RV_AMOSWAP_W(RV_T1, RV_T0, RV_A0), RV_BNE(RV_T1, RV_ZERO, -4), RV_FENCE,
	RV_LI(RV_A3, GROUPS_ROUNDS),
	RV_LD(RV_T2, 8, RV_A0), RV_ADDI(RV_T2, RV_T2, 1), RV_SD(RV_T2, 8, RV_A0),
	RV_ADDI(RV_A3, RV_A3, -1), RV_BNE(RV_A3, RV_ZERO, -16),
	RV_FENCE, RV_SW(RV_ZERO, 0, RV_A0), RV_RET,
};

/*
 * Each work-item says that it has begun, and looks for that of the next group for a while. If this
 * has begun, it waits until this is over. a0: two words for each: it has begun; it is over, and has
 * waited if that is 2.
 */
static const uint32_t groups_seen[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T0, RV_T0, 4),
	RV_ADD(RV_T0, RV_T0, RV_A0), RV_LI(RV_T1, 1), RV_SD(RV_T1, 0, RV_T0), RV_LI(RV_T2, 200),
	RV_LD(RV_A4, GROUPS_ITEMS * 16, RV_T0), RV_BNE(RV_A4, RV_ZERO, 16),
	RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -12), RV_J(16),
	RV_LI(RV_T1, 2), RV_LD(RV_A4, GROUPS_ITEMS * 16 + 8, RV_T0), RV_BEQ(RV_A4, RV_ZERO, -4),
	RV_SD(RV_T1, 8, RV_T0), RV_RET,
};

/*
 * Each work-item counts down, adds its id to a sum, and writes the sum of its rounds to its place.
 * a0: the sum, then the places.
 */
static const uint32_t groups_adds[] = {
	RV_LUI(RV_T2, UNITS_ROUNDS >> 12), RV_ADDI(RV_T2, RV_T2, UNITS_ROUNDS & 0x7ff),
	RV_LI(RV_T1, 0),
	RV_ADD(RV_T1, RV_T1, RV_T2), RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -8),
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_AMOADD_D(RV_ZERO, RV_T0, RV_A0),
	RV_SLLI(RV_T0, RV_T0, 3), RV_ADD(RV_T0, RV_T0, RV_A0), RV_SD(RV_T1, 8, RV_T0), RV_RET,
};

/* a0: of each work-item a page, to which it writes its id in 16 places. */
static const uint32_t groups_touches[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T1, RV_T0, 12),
	RV_ADD(RV_T1, RV_T1, RV_A0), RV_LI(RV_T2, 16),
	RV_SD(RV_T0, 0, RV_T1), RV_ADDI(RV_T1, RV_T1, 256), RV_ADDI(RV_T2, RV_T2, -1),
	RV_BNE(RV_T2, RV_ZERO, -12), RV_RET,
};

/*
 * Group 0 says that it is there and waits for the last one, which does likewise: they end only if
 * they are in flight at a time. a0: a word for each of the two.
 */
static const uint32_t groups_meets[] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_SLLI(RV_T1, RV_T0, 3),
	RV_ADD(RV_T1, RV_T1, RV_A0), RV_LI(RV_T2, 8), RV_XOR(RV_T2, RV_T2, RV_T1),
	RV_LI(RV_T0, 42), RV_SD(RV_T0, 0, RV_T1), RV_FENCE,
	RV_LD(RV_A4, 0, RV_T2), RV_BNE(RV_A4, RV_T0, -4), RV_RET,
};

/* The work-item whose id is in the second word at a0 stores where it may not; the rest counts. */
static const uint32_t groups_faults[] = {
	RV_LUI(RV_T2, UNITS_ROUNDS >> 12), RV_ADDI(RV_T2, RV_T2, UNITS_ROUNDS & 0x7ff),
	RV_ADDI(RV_T2, RV_T2, -1), RV_BNE(RV_T2, RV_ZERO, -4),
	RV_CSRR(RV_T0, VGPU_HW_CSR_GLOBAL_ID), RV_LD(RV_T1, 8, RV_A0),
	RV_BNE(RV_T0, RV_T1, 8), RV_SD(RV_T0, 0, RV_ZERO), RV_RET,
};

#endif /* GROUPS_H */
