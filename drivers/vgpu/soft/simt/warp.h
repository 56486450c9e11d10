/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A warp: SIMT_LANES work-items of a group that execute one instruction at a time together. For the
 * files that make up the interpreter; others use simt.h.
 *
 * Divergence. Lanes at the same instruction form the running group; the other lanes wait, each with
 * its own pc. Of all groups the one in the deepest call runs, and of those the one with the lowest
 * pc (Collange, "Simty", CARRV 2017), until it comes to the pc of a waiting lane. Which group runs
 * is a matter of speed only, as each lane executes its own stream of instructions; but lanes that
 * wait for each other in a loop need all groups to run at times: see simt_warp_pick().
 *
 * Registers. An integer register is affine, base + lane * stride, or an array of lanes: of 64 bits,
 * or narrow, of 32 bits that stand for their sign-extended values, as most integers do. A float
 * register is an array of singles, which stand for their NaN-boxed values, or of 64-bit patterns.
 */
#ifndef _VGPU_SIMT_WARP_H
#define _VGPU_SIMT_WARP_H

#include "simt.h"

#define SIMT_X_REGS	(SIMT_X_SINK + 1)
#define SIMT_F_REGS	32

/* Why a warp has left its running group; SIMT_EVENT_PICK: no reason to end simt_isa.run(). */
enum simt_event {
	SIMT_EVENT_PICK,
	SIMT_EVENT_FAULT,
	SIMT_EVENT_WAIT,
};

/* In place of the next instruction: there was an event. Higher than any instruction. */
#define SIMT_LEAVE	((const struct simt_insn *)~7UL)

/* What simt_access_hosts() found. */
enum simt_hosts {
	SIMT_HOSTS_FAIL,	/* a lane has no memory there: there was an event */
	SIMT_HOSTS_WHOLE,	/* each lane's access is in one piece */
	SIMT_HOSTS_SPLIT,	/* some are in two pieces */
};

/**
 * union simt_int - an integer register's lanes
 * @n: if its bit in struct simt_warp.narrow is 1
 * @d: if it is 0
 */
union simt_int {
	s32 n[SIMT_LANES];
	u64 d[SIMT_LANES];
};

/**
 * union simt_float - a float register
 * @s: singles, if its bit in struct simt_warp.wide is 0
 * @d: 64-bit patterns, if it is 1
 */
union simt_float {
	u32 s[SIMT_LANES];
	u64 d[SIMT_LANES];
};

/**
 * struct simt_warp - a warp
 * @ip:       the next instruction of the running group, while the warp does not run
 * @join:     the running group is left when it comes here, or beyond
 * @met:      where all lanes go on that live, as they came to a barrier together; else NULL
 * @text:     the program's instructions
 * @dispatch: what the warp belongs to
 * @vec:      bit r: x[r] is an array of lanes
 * @narrow:   bit r: of 32 bits; 0 where the bit in @vec is 0
 * @active:   lanes of the running group
 * @live:     lanes that have not ended
 * @partial:  lanes in @live that are not in @active: results are merged into registers by masks
 * @barrier:  lanes that wait at a barrier
 * @wide:     bit r: f[r] has 64-bit patterns
 * @known:    bit r: f[r] has been written; else it is 0
 * @reserved: lanes with a reservation of LR
 * @depth:    of calls, of the running group
 * @fair:     groups take turns, whatever their pc
 * @turns:    how often the warp was left while it had several groups
 * @lead:     a lane of the running group
 * @last:     the lead of the group that had the last such turn
 * @event:    why the running group was left
 * @extra:    what the last instruction takes of the budget beyond its one, see simt_access_hosts()
 * @nr:       instructions of @text
 * @index:    number of the warp in its group
 * @private:  private memory of the lanes, by words of 8 bytes: word w of lane l is the one of
 *            number w * SIMT_LANES + l
 * @lid_size: shape of the group that @lid was made for
 * @base:     of an affine integer register
 * @stride:   likewise
 * @pc:       index of the next instruction, of lanes that are not active
 * @depths:   likewise, of calls
 * @frm:      of the lane
 * @fflags:   of the lane
 * @lid:      local ids, [dimension][lane]
 * @host:     where the lanes' memory accesses go to
 * @host2:    where the second piece of a lane's access goes to
 * @piece:    length of the first piece
 * @reserved_va: address of the reservation
 * @reserved_value: what LR has read there
 * @nowhere:  where lanes that are not active load from
 * @mask32:   all ones for active lanes, valid if @partial
 * @mask64:   likewise
 * @tmp:      operands and results that are not in registers; [3] are results
 * @x:        integer registers
 * @f:        float registers
 */
struct simt_warp {
	const struct simt_insn *ip;
	const struct simt_insn *join;
	const struct simt_insn *met;
	const struct simt_insn *text;
	struct simt_dispatch *dispatch;
	u64 vec;
	u64 narrow;
	u32 active;
	u32 live;
	u32 partial;
	u32 barrier;
	u32 wide;
	u32 known;
	u32 reserved;
	s32 depth;
	bool fair;
	u8 turns;
	u8 lead;
	u8 last;
	u8 event;
	u32 extra;
	u32 nr;
	u32 index;
	u8 *private;
	u32 lid_size[3];
	u64 base[SIMT_X_REGS];
	u64 stride[SIMT_X_REGS];
	u32 pc[SIMT_LANES];
	s32 depths[SIMT_LANES];
	u8 frm[SIMT_LANES];
	u8 fflags[SIMT_LANES];
	u16 lid[3][SIMT_LANES];
	u8 *host[SIMT_LANES];
	u8 *host2[SIMT_LANES];
	u8 piece[SIMT_LANES];
	u64 reserved_va[SIMT_LANES];
	u64 reserved_value[SIMT_LANES];
	u64 nowhere;
	u32 mask32[SIMT_LANES] __aligned(64);
	u64 mask64[SIMT_LANES] __aligned(64);
	u64 tmp[4][SIMT_LANES] __aligned(64);
	union simt_int x[SIMT_X_REGS] __aligned(64);
	union simt_float f[SIMT_F_REGS] __aligned(64);
};

typedef const struct simt_insn *(*simt_fn)(struct simt_warp *w, const struct simt_insn *i);

#define SIMT_FN(name) const struct simt_insn *name(struct simt_warp *w, const struct simt_insn *i)

/* warp.c */
void simt_warp_start(struct simt_warp *w, struct simt_dispatch *dispatch, u32 index);
bool simt_warp_pick(struct simt_warp *w);
void simt_warp_suspend(struct simt_warp *w, const struct simt_insn *ip);
u32 simt_warp_extra(struct simt_warp *w, u32 most);
void simt_warp_park(struct simt_warp *w, const struct simt_insn *ip);
void simt_warp_arrive(struct simt_warp *w, const struct simt_insn *ip);
void simt_warp_release(struct simt_warp *w);
u64 simt_warp_va(const struct simt_warp *w, const struct simt_insn *i);
const struct simt_insn *simt_warp_fault(struct simt_warp *w, const struct simt_insn *i,
					enum vgpu_hw_fault code, u64 addr, unsigned int lane);
const struct simt_insn *simt_warp_split(struct simt_warp *w, const struct simt_insn *i,
					u32 taken, u32 target);

/* access.c */
enum simt_hosts simt_access_hosts(struct simt_warp *w, const struct simt_insn *i, const u64 *va,
				  unsigned int bytes, bool write);
void simt_access_load(struct simt_warp *w, unsigned int bytes, u64 *to);
void simt_access_store(struct simt_warp *w, unsigned int bytes, const u64 *from);
bool simt_access_fill(struct simt_warp *w, u64 va, bool write);

/* slow.c: operations that no instruction set of the CPU makes faster */
SIMT_FN(simt_slow_atomic);
SIMT_FN(simt_slow_fcsr);
SIMT_FN(simt_slow_csr_id);
SIMT_FN(simt_slow_jalr);
SIMT_FN(simt_slow_barrier);
SIMT_FN(simt_slow_illegal);
SIMT_FN(simt_slow_fence);

/* exact.c: floats, in integers */
SIMT_FN(simt_exact);

#endif /* _VGPU_SIMT_WARP_H */
