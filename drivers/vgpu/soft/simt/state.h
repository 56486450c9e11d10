/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a running dispatch as records without pointers. Any interpreter continues it, on any
 * host. Pure logic, compiled in user space too. Allocates nothing.
 *
 * The caller saves and loads state between two calls of simt_group_run() only, and not after
 * SIMT_DONE or SIMT_FAULT. The records have no padding, and integers in them are little-endian.
 * They have no copy of what follows from the program and the operands of the dispatch, and nothing
 * of what no instruction can read any more. So the same state always makes the same bytes.
 *
 * A dispatch is saved and loaded in this order:
 *
 * - a struct simt_state_dispatch
 * - for each group in flight a struct simt_state_group, the group's local memory, its private
 *   memory, and the records of its warps, from warp 0 on
 *
 * Local memory is struct simt_dispatch.local_bytes of bytes in the order of their addresses.
 * Private memory is simt_state_private_bytes() of bytes: those of warp 0 come first. Within a warp,
 * word w (of 8 bytes) of lane l is word w * SIMT_LANES + l.
 */
#ifndef _VGPU_SIMT_STATE_H
#define _VGPU_SIMT_STATE_H

#include "simt.h"

/* No instruction, in struct simt_state_warp. */
#define SIMT_STATE_NONE		0xffffffff

/*
 * A depth of calls beyond this, in either direction, is saved as this. The depth only chooses which
 * lanes run first.
 */
#define SIMT_STATE_DEPTH_MAX	0x40000000

/**
 * struct simt_state_dispatch - how far a dispatch has come
 * @executed: instructions that warps of all groups have executed so far
 * @next: id of the first group that has not begun. Groups begin in the order of their ids, of which
 *        the first dimension varies fastest. After the last group it is 0, 0 and the number of
 *        groups in the third dimension
 * @groups: number of groups in flight, at least 1, at most SIMT_FLIGHTS
 */
struct simt_state_dispatch {
	__le64 executed;
	__le32 next[3];
	__le32 groups;
};

/**
 * struct simt_state_group - a group in flight
 * @group_id: its id, before struct simt_state_dispatch.next. Groups come in the order of their ids
 * @warp: index of the warp that runs next; its bit in @waiting is 0
 * @waiting: bit per warp: it waits at a barrier, or has ended
 * @clock: simt_group_clock(), which turns go by. 0 in streams of version 1, where turns begin anew
 */
struct simt_state_group {
	__le32 group_id[3];
	__le32 warp;
	__le32 waiting;
	__le32 clock;
};

/**
 * struct simt_state_warp - the first part of a warp's record
 * @live: lanes that have not ended. If there are none, all other fields are 0, but for @ip and
 *        @met, which are SIMT_STATE_NONE, and nothing follows
 * @active: lanes of the running group if there is @ip; all of @live if there is @met; else the
 *          lanes of the group that ran last if @fair, or 0
 * @barrier: lanes that wait at a barrier
 * @reserved: lanes that have a reservation of LR
 * @ip: index of the running group's next instruction; the number of instructions: the group ends;
 *      SIMT_STATE_NONE: the next group must be picked
 * @met: index of the next instruction of all live lanes after a barrier that they reached together,
 *       or SIMT_STATE_NONE
 * @extra: cost of the last instruction that is still to be taken off the budget
 * @depth: depth of calls of the running group, if there is @ip or @met; else 0
 * @vec: bit r: x[r] is an array of lanes, else affine
 * @narrow: bit r: the lanes of x[r] have 32 bits; 0 if the bit in @vec is 0
 * @known: bit r: f[r] has been written or read; else it is 0
 * @wide: bit r: the lanes of f[r] are 64-bit patterns, else singles; 0 if the bit in @known is 0
 * @fair: 1: groups take turns, whatever their pc; or 0
 * @turns: number of times that the warp was left while it had several groups, modulo
 *         SIMT_FAIR_TURNS
 * @last: the lane whose group had the last turn
 * @zero: 0
 *
 * These follow. An array has one value for each lane in @live, or in the set of lanes that is
 * given, from the lowest lane on.
 *
 * - For each x[r], r from 1 to 31, that an instruction of the program writes: base and stride of 64
 *   bits; or an array of 32 or 64 bits, as @vec and @narrow say. A narrow lane is sign-extended.
 * - For each f[r] in @known, r from 0 on: an array of 32 or 64 bits, as @wide says.
 * - An array of pc and depth of calls, of 32 bits each: of lanes that are not in @active if there
 *   is @ip; of none if there is @met; else of all lanes. A pc is an index, at most the number of
 *   instructions.
 * - If the program may write frm: an array of frm, of 8 bits.
 * - If the program accesses fflags: an array of fflags, of 8 bits.
 * - An array of the reservation's address and value, of 64 bits each, of lanes in @reserved. Bit 0
 *   of the address: it is of 64 bits. A value of 32 bits is sign-extended.
 */
struct simt_state_warp {
	__le32 live;
	__le32 active;
	__le32 barrier;
	__le32 reserved;
	__le32 ip;
	__le32 met;
	__le32 extra;
	__le32 depth;
	__le32 vec;
	__le32 narrow;
	__le32 known;
	__le32 wide;
	__u8 fair;
	__u8 turns;
	__u8 last;
	__u8 zero;
};

/* No record of a warp is longer: 31 + 32 registers, and what a lane has beside them. */
#define SIMT_STATE_WARP_MAX	\
	(sizeof(struct simt_state_warp) + SIMT_LANES * (63 * 8 + 8 + 2 + 16))

void simt_state_save_dispatch(const struct simt_dispatch *dispatch, u64 executed, u32 groups,
			      struct simt_state_dispatch *to);
void simt_state_save_group(const struct simt_group *group, struct simt_state_group *to);
size_t simt_state_private_bytes(const struct simt_group *group);
void simt_state_save_private(const struct simt_group *group, size_t offset, void *to, size_t bytes);
size_t simt_state_save_warp(const struct simt_group *group, u32 index, void *to);

const char *simt_state_load_dispatch(struct simt_dispatch *dispatch,
				     const struct simt_state_dispatch *from, u32 *groups);
const char *simt_state_load_group(struct simt_group *group, const struct simt_group *before,
				  const struct simt_state_group *from);
const char *simt_state_load_warp(struct simt_group *group, u32 index, const void *from,
				 size_t bytes);

#endif /* _VGPU_SIMT_STATE_H */
