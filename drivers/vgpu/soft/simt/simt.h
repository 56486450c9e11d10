/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interpreter executes a dispatch: its work-groups, each as warps of SIMT_LANES work-items. It
 * can stop between any two instructions of a warp and continue later, because all state is in
 * struct simt_dispatch, in a struct simt_group for each group in flight, and in the memory that
 * they point to.
 *
 * Pure logic, compiled in user space too. The interpreter reaches the GPU's memory through struct
 * simt_mem only. In the kernel the caller calls simt_group_run() between kernel_fpu_begin() and
 * kernel_fpu_end(), so it neither sleeps nor allocates.
 */
#ifndef _VGPU_SIMT_H
#define _VGPU_SIMT_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "native.h"

#define SIMT_LANES	32
#define SIMT_TLB	512	/* entries; a power of two */
#define SIMT_FLIGHTS	16	/* groups of a dispatch that may be in flight at a time */

/* struct simt_dispatch.given goes beyond that by less than SIMT_FLIGHTS, and does not overflow. */
#define SIMT_LEFT_MOST	(U64_MAX - SIMT_FLIGHTS)

struct simt_warp;

/*
 * The interpreter calls struct simt_mem.over after this many scattered accesses: instructions whose
 * lanes access separate places. An instruction with an access in two pieces counts twice. Each lane
 * of such an instruction may miss all caches; Documentation/design-notes.rst has measured times.
 */
#define SIMT_APART_MOST	12

enum simt_end {
	SIMT_DONE,	/* complete; a group: all its work-items have ended, and no other follows */
	SIMT_MORE,	/* the budget is used up, or struct simt_mem.over returned true */
	SIMT_FAULT,	/* see struct simt_fault */
	SIMT_WAIT,	/* a page of memory cannot be had now: see struct simt_mem.map */
};

/**
 * struct simt_fault - why a dispatch cannot go on
 * @code: enum vgpu_hw_fault
 * @pc:   address of the instruction, as the program sees it: VGPU_HW_VA_IMAGE and up
 * @addr: the address that failed, as the program sees it; for a jump its target; else 0
 * @id:   global id of the lowest lane that failed
 */
struct simt_fault {
	enum vgpu_hw_fault code;
	u64 pc;
	u64 addr;
	u32 id[3];
};

/**
 * struct simt_mem - global memory and the image of a program; not local and private memory
 * @map: find the page of VGPU_HW_PAGE_SIZE bytes that holds @va. @va is at or above
 *       VGPU_HW_VA_GLOBAL, or in the image, which is only read. Returns SIMT_DONE and sets @page to
 *       the page's place, and @keep if the TLB may keep it until simt_tlb_flush(); or SIMT_FAULT
 *       and sets @code; or SIMT_WAIT: the caller of simt_group_run() must get the page and call
 *       again, and the instruction begins anew
 * @over: return whether simt_group_run() must return soon, after one more instruction. The
 *       interpreter calls it after every SIMT_APART_MOST scattered accesses, because the time of
 *       such an access depends on the caches, so no budget of instructions bounds it. NULL: never
 */
struct simt_mem {
	enum simt_end (*map)(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			     enum vgpu_hw_fault *code);
	bool (*over)(struct simt_mem *mem);
};

/**
 * struct simt_tlb - the cache of a unit of an engine: pages that the interpreter has found
 * @read: entry i is the address of a readable page whose number modulo SIMT_TLB is i; or ~0
 * @write: likewise, of writable pages
 * @read_host: places of the pages in @read
 * @write_host: places of the pages in @write
 *
 * The unit flushes it when the dispatch changes, when the dispatch's address space is
 * invalidated, and at the beginning of each run.
 */
struct simt_tlb {
	u64 read[SIMT_TLB];
	u64 write[SIMT_TLB];
	u8 *read_host[SIMT_TLB];
	u8 *write_host[SIMT_TLB];
};

void simt_tlb_flush(struct simt_tlb *tlb);

/**
 * struct simt_isa - the interpreter, compiled for one instruction set of the CPU
 * @name: "scalar", "sse2" or "avx2"
 * @fused: the CPU computes fused operations on floats; else exact.c computes them in integers
 * @run:  run a warp for at most @budget instructions, where a slow one counts as several; set
 *        @budget to what is left
 * @values: functions of operations, by enum simt_op
 * @last: a function that makes its operand, a float's bits, the last float: see simt_value_fn
 * @step: execute instruction @at of the struct simt_lone at @lone. Returns 0, or 1 if it has
 *        stopped, or begins anew
 */
struct simt_isa {
	const char *name;
	bool fused;
	enum simt_end (*run)(struct simt_warp *warp, u32 *budget);
	const struct simt_value *values;
	simt_value_fn last;
	u64 (*step)(u64 lone, u64 at, u64 unused);
};

extern const struct simt_isa simt_isa_scalar, simt_isa_sse2, simt_isa_avx2;

/**
 * struct simt_dispatch - a dispatch
 * @program:  the text. The caller sets this and the following fields, up to @alone, before
 *            simt_dispatch_begin(). They are constant until the dispatch is complete
 * @entry:    index of the first instruction, below @program->nr
 * @image_bytes: length of the image from VGPU_HW_VA_IMAGE
 * @args:     value of a0
 * @grid:     work-items per dimension, at least 1
 * @group:    work-items of a group, at least 1, product at most VGPU_HW_GROUP_MAX
 * @local_bytes: of a group, a multiple of 8
 * @private_bytes: of a work-item, a multiple of 16
 * @alone:    lanes of a warp run alone when what they do apart has cost so many ns more than that
 *            would have; 0: as measured best; U32_MAX: in rounds only (lone.c)
 * @native:   code of the program, made for the interpreter; NULL: none so far. The caller may set
 *            this between calls of simt_group_run()
 * @groups:   number of groups per dimension. This and the following fields belong to group.c, and
 *            are constant but for @given
 * @first:    id of the group that is handed out first
 * @left:     number of groups from @first on; SIMT_LEFT_MOST: as many, or more
 * @given:    how many of these were handed out; more by how often there was none at the same time
 * @executed: struct simt_group.executed of all groups, before those in flight were loaded; 0: none
 *            was
 *
 * SIMT_FLIGHTS groups may be in flight, each with a struct simt_group. Groups are handed out in
 * the order of their ids, of which the first dimension varies fastest.
 */
struct simt_dispatch {
	const struct simt_program *program;
	u32 entry;
	u32 image_bytes;
	u64 args;
	u32 grid[3];
	u32 group[3];
	u32 local_bytes;
	u32 private_bytes;
	u32 alone;
	const struct simt_native *native;

	u32 groups[3];
	u32 first[3];
	u64 left;
	u64 given;
	u64 executed;
};

/**
 * struct simt_group - a group in flight, and others of its dispatch after it
 * @dispatch: its dispatch
 * @isa:      the interpreter. The caller sets this and @tlb before each call of simt_group_run()
 * @tlb:      the TLB of the engine that executes the group
 * @mem:      global memory and the image. The caller sets this and the following fields, up to
 *            @warps, before simt_group_init()
 * @local:    struct simt_dispatch.local_bytes of memory; NULL: none
 * @private:  simt_private_bytes() of memory
 * @warps:    simt_warps_bytes() of memory, 64-byte aligned
 * @local_bytes: as in @dispatch. This and the following fields belong to group.c
 * @private_bytes: likewise
 * @fault:    set with SIMT_FAULT; with SIMT_WAIT the fault to report if the caller cannot get the
 *            page
 * @nr:       struct simt_dispatch.given after the group was handed out; 0: it was not
 * @group_id: id of the group
 * @size:     work-items per dimension of the group
 * @nr_warps: number of warps of the group
 * @warp:     index of the warp that runs next
 * @waiting:  bit per warp of the group: it waits at a barrier, or has ended
 * @executed: number of instructions that warps have executed since simt_group_init(), without those
 *            that waited or faulted; of lanes that run alone, several count as one
 * @before:   likewise before the group was loaded, modulo 2^32: see simt_group_clock()
 * @apart:    number of scattered accesses since simt_group_run() began, or since the last call of
 *            @mem->over
 * @over:     that has said that time is over
 * @apart_level: how far away lanes that run alone meet, as learned so far: see lone.c
 * @apart_long: lanes ran alone for long when they did so last
 * @apart_paid: they did more then than it costs to begin
 * @apart_sites: places in the program where they did so when they had parted there: see
 *         lone_when.c
 * @apart_head: the lowest place of the last of these; U32_MAX: none
 * @apart_early: lanes part soon after they come there
 * @apart_doubt: how often they were asked for
 * @round_at: when simt_group_clock() is so large lanes run alone in turn, if they share something
 *         or are watched: see lone.c
 * @rounds:   grows by 1 each time
 * @parted:   what lanes have executed apart since simt_group_init(), in instructions of one lane or
 *            in units of lone.c, if they ran alone
 * @waits:    the last one has found a lane that waits for another one
 * @idle:     all lanes of the warp that ran last wait for another one
 */
struct simt_group {
	struct simt_dispatch *dispatch;
	const struct simt_isa *isa;
	struct simt_tlb *tlb;
	struct simt_mem *mem;
	u8 *local;
	u8 *private;
	struct simt_warp *warps;

	u32 local_bytes;
	u32 private_bytes;
	struct simt_fault fault;
	u64 nr;
	u32 group_id[3];
	u32 size[3];
	u32 nr_warps;
	u32 warp;
	u32 waiting;
	u64 executed;
	u32 before;
	u32 apart;
	bool over;
	u8 apart_level;
	bool apart_long;
	bool apart_paid;
	u64 apart_sites;
	u32 apart_head;
	bool apart_early;
	u8 apart_doubt;
	u32 round_at;
	u32 rounds;
	u64 parted;
	bool waits;
	bool idle;
};

/* Whether a group comes before another one in the order of ids. */
static inline bool simt_id_before(const u32 id[3], const u32 other[3])
{
	if (id[2] != other[2])
		return id[2] < other[2];
	return id[1] != other[1] ? id[1] < other[1] : id[0] < other[0];
}

/* Whether there is a group that was not handed out. */
static inline bool simt_dispatch_left(const struct simt_dispatch *dispatch)
{
	return __atomic_load_n(&dispatch->given, __ATOMIC_RELAXED) < dispatch->left;
}

/* From now on none is handed out, but to those who are about to take one. */
static inline void simt_dispatch_close(struct simt_dispatch *dispatch)
{
	__atomic_store_n(&dispatch->given, dispatch->left, __ATOMIC_RELAXED);
}

/* group.c */
size_t simt_warps_bytes(const u32 group[3]);
size_t simt_private_bytes(const u32 group[3], u32 private_bytes);
void simt_dispatch_begin(struct simt_dispatch *dispatch);
bool simt_dispatch_next(struct simt_dispatch *dispatch, struct simt_group *group);
void simt_group_init(struct simt_group *group, struct simt_dispatch *dispatch);
enum simt_end simt_group_run(struct simt_group *group, u32 budget);

#endif /* _VGPU_SIMT_H */
