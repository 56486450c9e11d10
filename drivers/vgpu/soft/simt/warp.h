/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A warp: SIMT_LANES work-items of a group that execute each instruction together. Only the files
 * of the interpreter include this; others include simt.h.
 *
 * Divergence. The lanes at the same instruction form the running group. The other lanes wait, each
 * with its own pc. The group in the deepest call runs, and of several such groups the one with the
 * lowest pc (Collange, "Simty", CARRV 2017), until it reaches the pc of a waiting lane. The choice
 * affects only speed, because each lane executes its own stream of instructions. The exception is a
 * lane that waits in a loop for another lane, so all groups must run at times: see
 * simt_warp_suspend().
 *
 * Registers. An integer register is affine (base + lane * stride) or an array of lanes. The lanes
 * have 64 bits, or the array is narrow: its lanes have 32 bits, which stand for the sign-extended
 * value. A float register is an array of singles, which stand for the NaN-boxed values, or an array
 * of 64-bit patterns.
 */
#ifndef _VGPU_SIMT_WARP_H
#define _VGPU_SIMT_WARP_H

#include "simt.h"

#define SIMT_X_REGS	(SIMT_X_SINK + 1)
#define SIMT_F_REGS	32

/* One in so many times that a diverged warp is left, groups begin to take turns. */
#define SIMT_FAIR_TURNS	4

/* Why a warp left its running group. After SIMT_EVENT_PICK simt_isa.run() picks the next group. */
enum simt_event {
	SIMT_EVENT_PICK,
	SIMT_EVENT_FAULT,
	SIMT_EVENT_WAIT,
};

/* Stands for the next instruction after an event. Higher than any instruction's address. */
#define SIMT_LEAVE	((const struct simt_insn *)~7UL)

/**
 * union simt_int - the lanes of an integer register
 * @n: in use if the register's bit in struct simt_warp.narrow is 1
 * @d: in use if that bit is 0
 */
union simt_int {
	s32 n[SIMT_LANES];
	u64 d[SIMT_LANES];
};

/**
 * union simt_float - the lanes of a float register
 * @s: singles, in use if the register's bit in struct simt_warp.wide is 0
 * @d: 64-bit patterns, in use if that bit is 1
 */
union simt_float {
	u32 s[SIMT_LANES];
	u64 d[SIMT_LANES];
};

/* What is known of lanes that are or were apart: see struct simt_alone. */
#define SIMT_WATCH		1	/* it is noted there */
#define SIMT_WATCH_DUE		2	/* they run alone, or may have to */
#define SIMT_WATCH_RAGGED	4	/* registers may have simpler forms */

/* What it costs that lanes begin to run alone, and the way back, as an estimate in ns. */
#define SIMT_CHANGE_NS	8000

/* If so much was saved before lanes have parted again, they need not meet so far away. */
#define SIMT_STAY_NS	500000

/* Stages of the turn of a lane that runs alone. */
enum simt_stage {
	SIMT_STAGE_TRY,		/* it has just begun, or is about to */
	SIMT_STAGE_TRIAL,	/* a lap shows whether it waits for another lane */
	SIMT_STAGE_REST,	/* it does not */
};

/**
 * struct simt_alone - lanes of a warp that run alone: see lone.c. Not part of a saved state
 * @on:    lanes run alone. Each runnable one has a pc. This and the rest is valid if struct
 *         simt_warp.watch is not 0
 * @lane:  the lane that has its turn
 * @meet:  where lanes meet; NULL: nowhere
 * @meet_depth: in a call of this depth; they meet where they leave it, too
 * @met:   lanes that have got there
 * @turn:  what is left of the lane's turn, in units
 * @units: since the last lane got there or ended
 * @begun: struct simt_group.parted when they began
 * @apart: they have parted, and did not run alone since then
 * @close: some of what they did since they parted would have taken longer alone
 * @head:  the lowest place of a lane then
 * @ahead: they are to run alone though they have not parted yet
 * @round: lanes run alone for one turn each, and @left are those that are still to have theirs
 * @left:  see there
 * @spin:  lanes that were in a loop which changes nothing when they had their last turn
 * @idle:  those of @spin since when nothing else has been done by a lane
 * @stage: of the lane's turn
 * @laps:  how often each comes to where its turn has begun
 * @lap:   the lane's turn ends when it comes to @lap_at
 * @lap_at: NULL: nowhere
 * @lap_depth: in a call of this depth
 * @lap_laps: for the so manyth time
 * @lap_changed: the lane has changed memory since its turn has begun
 * @shows: lanes whose turns in the round end by @shown
 * @shown: the lane's turn ends when it has executed so many more instructions that others may see;
 *         0: it does not end by that
 * @since: instructions of the warp since the last round, or since it is watched
 * @cost:  of the round, in units
 * @hosts: calls of simt_access_hosts() that simt_lone_note() has not seen
 * @loss:  what lanes apart have cost beyond what they would have cost alone, in ns, at least 0
 * @gain:  likewise, what lanes together have saved since they met
 */
struct simt_alone {
	bool on;
	u8 lane;
	const struct simt_insn *meet;
	s32 meet_depth;
	u32 met;
	s32 turn;
	u32 units;
	u64 begun;
	u32 head;
	bool ahead;
	bool apart;
	bool close;
	u8 stage;
	bool round;
	bool lap;
	u16 laps;
	u16 lap_laps;
	u32 left;
	u32 spin;
	u32 idle;
	const struct simt_insn *lap_at;
	s32 lap_depth;
	bool lap_changed;
	u32 shows;
	u32 shown;
	u32 since;
	s32 cost;
	u32 hosts;
	s32 loss;
	s32 gain;
};

/**
 * struct simt_warp - a warp
 * @ip:       the next instruction of the running group; valid while the warp does not run
 * @join:     the warp leaves the running group at this instruction or a later one
 * @met:      the next instruction of all live lanes after a barrier that they reached together, or
 *            NULL
 * @text:     the program's instructions
 * @group:    the work-group that the warp belongs to
 * @vec:      bit r: x[r] is an array of lanes, else affine
 * @narrow:   bit r: the lanes of x[r] have 32 bits; 0 if the bit in @vec is 0
 * @active:   lanes of the running group
 * @live:     lanes that have not ended
 * @partial:  lanes in @live that are not in @active. If there are any, an operation merges its
 *            result into the register by a mask
 * @barrier:  lanes that wait at a barrier
 * @wide:     bit r: f[r] is an array of 64-bit patterns, else of singles
 * @known:    bit r: f[r] has been written; else it is 0
 * @reserved: lanes that have a reservation of LR
 * @tried:    lanes that have executed an atomic instruction since the last round
 * @again:    lanes that have executed several
 * @depth:    depth of calls of the running group
 * @fair:     groups take turns, whatever their pc
 * @turns:    number of times that the warp was left while it had several groups
 * @lead:     a lane of the running group
 * @last:     the lead of the group that had the last turn under @fair
 * @event:    why the warp left the running group
 * @watch:    SIMT_WATCH_*; 0: lanes agree, and nothing is noted
 * @extra:    cost of the last instruction beyond 1, taken off the budget by simt_warp_extra()
 * @nr:       number of instructions of @text
 * @index:    number of the warp in its group
 * @private:  private memory of the lanes, in words of 8 bytes: word w of lane l is word
 *            w * SIMT_LANES + l here, so that equal addresses of the lanes are adjacent
 * @lid_size: size of the group for which @lid was computed
 * @base:     base of an affine integer register
 * @stride:   stride of an affine integer register
 * @pc:       index of the next instruction of a lane that is not active
 * @depths:   depth of calls of a lane that is not active
 * @frm:      the CSR frm, by lane
 * @fflags:   the CSR fflags, by lane
 * @lid:      local ids, [dimension][lane]
 * @host:     place of a lane's memory access, or of its first piece
 * @host2:    place of the second piece
 * @piece:    length of the first piece
 * @reserved_va: address of the lane's reservation; bit 0: it is of 64 bits
 * @reserved_value: the value that LR read there
 * @mask32:   all ones for active lanes; valid if @partial is not 0
 * @mask64:   likewise
 * @tmp:      operands and results that are not in registers; results are in [3]
 * @x:        integer registers
 * @f:        float registers
 * @alone:    lanes that run alone
 * @lap_x:    registers of a lane that runs alone, as they were when its lap began
 * @lap_f:    likewise
 */
struct simt_warp {
	const struct simt_insn *ip;
	const struct simt_insn *join;
	const struct simt_insn *met;
	const struct simt_insn *text;
	struct simt_group *group;
	u64 vec;
	u64 narrow;
	u32 active;
	u32 live;
	u32 partial;
	u32 barrier;
	u32 wide;
	u32 known;
	u32 reserved;
	u32 tried;
	u32 again;
	s32 depth;
	bool fair;
	u8 turns;
	u8 lead;
	u8 last;
	u8 event;
	u8 watch;
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
	u32 mask32[SIMT_LANES] __aligned(64);
	u64 mask64[SIMT_LANES] __aligned(64);
	u64 tmp[4][SIMT_LANES] __aligned(64);
	union simt_int x[SIMT_X_REGS] __aligned(64);
	union simt_float f[SIMT_F_REGS] __aligned(64);
	struct simt_alone alone;
	u64 lap_x[SIMT_X_SINK];
	u64 lap_f[SIMT_F_REGS];
};

/*
 * What the turns of warps and of lanes go by: a group that was loaded goes on as it would have done
 * where it was saved.
 */
static inline u32 simt_group_clock(const struct simt_group *group)
{
	return group->before + (u32)group->executed;
}

typedef const struct simt_insn *(*simt_fn)(struct simt_warp *w, const struct simt_insn *i);

#define SIMT_FN(name) const struct simt_insn *name(struct simt_warp *w, const struct simt_insn *i)

/* Why a lane that runs alone has stopped. */
enum simt_lone_stop {
	SIMT_LONE_LEFT,		/* nothing is left of its budget */
	SIMT_LONE_MET,		/* it is where lanes meet */
	SIMT_LONE_END,		/* it has ended */
	SIMT_LONE_BARRIER,	/* it waits at a barrier */
	SIMT_LONE_EVENT,	/* struct simt_warp.event: a fault, or it waits for memory */
};

/*
 * What an instruction of a lane that runs alone costs, in units, of which an instruction of a warp
 * has SIMT_LONE_UNITS: accesses to memory may miss caches, and operations on floats may be on
 * denormal ones.
 */
#define SIMT_LONE_UNITS	16
#define SIMT_LONE_APART	4
#define SIMT_LONE_FLOAT	4

/**
 * struct simt_lone - a lane that runs alone
 * @x:     its integer registers
 * @f:     its float registers: 64-bit patterns
 * @w:     the warp
 * @private: its first word of private memory
 * @private_bytes: of the program
 * @ip:    the next instruction
 * @meet:  stops here; NULL: nowhere
 * @meet_depth: if it is in a call of this depth; stops where it leaves it, too
 * @depth: depth of calls
 * @left:  stops after so many units
 * @chunk: @left at the beginning
 * @units: left of the caller's budget
 * @given: @units at the beginning
 * @lane:  the lane
 * @stop:  why it has stopped
 * @cost:  of the access, in units
 * @unused: units that were taken off @units, but nothing was executed
 * @atomics: atomic instructions that are to be counted
 * @changed: not 0: it has changed memory
 * @again: the atomic instruction has done nothing, and is to be repeated
 * @end:   how simt_lone_run() ends
 * @varying: registers that the program does not write, but that differ between lanes
 * @regs:  @home, if the lane's registers are those of the warp, and @x and @f not; NULL: these are.
 *         This and the following fields are for struct simt_native, too
 * @home:  where the warp has the lane's first integer register
 * @tlb:   of the group
 * @meet_at: number of the instruction @meet; U64_MAX: nowhere
 * @at:    number of the next instruction, where the code is entered or was left
 */
struct simt_lone {
	u64 x[SIMT_X_REGS];
	u64 f[SIMT_F_REGS];
	struct simt_warp *w;
	u8 *private;
	u64 private_bytes;
	const struct simt_insn *ip;
	const struct simt_insn *meet;
	s32 meet_depth;
	s32 depth;
	s32 left;
	s32 chunk;
	s32 units;
	s32 given;
	unsigned int lane;
	enum simt_lone_stop stop;
	s32 cost;
	s32 unused;
	u32 atomics;
	u64 changed;
	bool again;
	enum simt_end end;
	u32 varying;
	u64 *regs;
	u64 *home;
	struct simt_tlb *tlb;
	u64 meet_at;
	u64 at;
};

/* Registers that lanes have of their own while they run alone. */
static inline u64 simt_lone_written(const struct simt_program *program)
{
	return program->written & ~(1ULL | 1ULL << SIMT_X_SINK);
}

/* warp.c */
void simt_warp_start(struct simt_warp *w, struct simt_group *group, u32 index);
bool simt_warp_pick(struct simt_warp *w);
void simt_warp_mask(struct simt_warp *w);
void simt_warp_suspend(struct simt_warp *w, const struct simt_insn *ip);
u32 simt_warp_extra(struct simt_warp *w, u32 most);
u32 simt_warp_charge(struct simt_warp *w, u32 extra, u32 most);
void simt_warp_park(struct simt_warp *w, const struct simt_insn *ip);
void simt_warp_arrive(struct simt_warp *w, const struct simt_insn *ip);
void simt_warp_release(struct simt_warp *w);
u64 simt_warp_va(const struct simt_warp *w, const struct simt_insn *i);
const struct simt_insn *simt_warp_fault(struct simt_warp *w, const struct simt_insn *i,
					enum vgpu_hw_fault code, u64 addr, unsigned int lane);
const struct simt_insn *simt_warp_split(struct simt_warp *w, const struct simt_insn *i,
					u32 taken, u32 target);

/* group.c */
void simt_dispatch_from(struct simt_dispatch *dispatch, const u32 first[3]);
void simt_dispatch_id(const struct simt_dispatch *dispatch, u64 nr, u32 id[3]);
void simt_group_start(struct simt_group *group);

/* slow.c: operations that vector instructions of the CPU do not make faster */
SIMT_FN(simt_slow_atomic);
SIMT_FN(simt_slow_fcsr);
SIMT_FN(simt_slow_csr_id);
SIMT_FN(simt_slow_jalr);
SIMT_FN(simt_slow_barrier);
SIMT_FN(simt_slow_illegal);
SIMT_FN(simt_slow_fence);

u64 simt_slow_id(const struct simt_warp *w, u32 csr, unsigned int lane);
bool simt_slow_lone_atomic(struct simt_lone *s, const struct simt_insn *i);
void simt_slow_lone_fcsr(struct simt_lone *s, const struct simt_insn *i);

/* exact.c: operations on floats, in integer arithmetic */
SIMT_FN(simt_exact);
bool simt_exact_lone(struct simt_lone *s, const struct simt_insn *i);

/* region.c */
#define SIMT_LEVEL_NEVER	3	/* lanes meet nowhere */
u32 simt_region_meet(const struct simt_warp *w, u32 lanes, u32 level,
		     const struct simt_insn **meet, s32 *depth);

/* lone_when.c: when lanes begin to run alone */
void simt_lone_watch(struct simt_warp *w, u8 due);
void simt_lone_note(struct simt_warp *w, u32 instructions);
bool simt_lone_due(struct simt_warp *w);
bool simt_lone_apart(const struct simt_warp *w, u32 lanes);
u32 simt_lone_lowest(const struct simt_warp *w, u32 lanes);
void simt_lone_learn(struct simt_warp *w, bool paid);
void simt_lone_parted(struct simt_warp *w, u32 instructions);
bool simt_lone_round_due(const struct simt_group *group);
bool simt_lone_round_wanted(const struct simt_warp *w);

/* lone.c, lone_regs.c: lanes that run alone */
void simt_lone_begin_group(struct simt_group *group);
u32 simt_lone_start(struct simt_warp *w, u32 most);
bool simt_lone_able(const struct simt_warp *w);
void simt_lone_spread(struct simt_warp *w);
void simt_lone_begin_regs(struct simt_lone *s);
void simt_lone_take_regs(struct simt_lone *s);
void simt_lone_get_regs(struct simt_lone *s);
void simt_lone_put_regs(struct simt_lone *s);
u32 simt_lone_pack(struct simt_warp *w, u32 most);
void simt_lone_begin(struct simt_lone *s, struct simt_warp *w, u32 budget);
bool simt_lone_take(struct simt_lone *s);
bool simt_lone_more(struct simt_lone *s);
void simt_lone_put(struct simt_lone *s);
enum simt_end simt_lone_end(struct simt_lone *s, u32 *budget);
bool simt_lone_host(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		    bool write);
bool simt_lone_load(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		    u64 *value);
bool simt_lone_store(struct simt_lone *s, const struct simt_insn *i, u64 va, unsigned int bytes,
		     u64 value);

#endif /* _VGPU_SIMT_WARP_H */
