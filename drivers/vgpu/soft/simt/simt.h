/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Execution of a dispatch: work-groups one after the other, each as warps of SIMT_LANES work-items.
 * It can be left between any two instructions of a warp, and gone on with later, as all state is
 * in struct simt_dispatch and in memory that it points to.
 *
 * Pure logic: memory of the GPU is reached through struct simt_mem only. Compiles in user space,
 * too. In the kernel simt_dispatch_run() is called between kernel_fpu_begin() and kernel_fpu_end();
 * it neither sleeps nor allocates.
 */
#ifndef _VGPU_SIMT_H
#define _VGPU_SIMT_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

#include "program.h"

#define SIMT_LANES	32
#define SIMT_WARPS_MAX	(VGPU_HW_GROUP_MAX / SIMT_LANES)
#define SIMT_TLB	256	/* entries; a power of two */

struct simt_warp;

/*
 * After so many accesses by lanes whose places lie apart struct simt_mem.over is asked; one in two
 * pieces counts twice. Each may miss all caches for each lane: Documentation/design-notes.rst says
 * how long that was seen to take.
 */
#define SIMT_APART_MOST	12

enum simt_end {
	SIMT_DONE,	/* complete: of a dispatch, all its work-items have ended */
	SIMT_MORE,	/* the budget is used up, or struct simt_mem.over has said so */
	SIMT_FAULT,	/* see struct simt_fault */
	SIMT_WAIT,	/* a page of memory cannot be had now: see struct simt_mem.map */
};

/**
 * struct simt_fault - why a dispatch cannot go on
 * @code: enum vgpu_hw_fault
 * @pc:   of the instruction, as the program sees it: VGPU_HW_VA_IMAGE and up
 * @addr: the address that failed, as the program sees it; else 0. Of a jump its target
 * @id:   global id of the lowest lane that failed
 */
struct simt_fault {
	enum vgpu_hw_fault code;
	u64 pc;
	u64 addr;
	u32 id[3];
};

/**
 * struct simt_mem - what is behind the addresses of a program, but local and private memory
 * @map: finds the page of VGPU_HW_PAGE_SIZE bytes that holds @va, an address at or above
 *       VGPU_HW_VA_GLOBAL, or in the image (only read). SIMT_DONE: sets @page to where the page
 *       is, and @keep if that may be kept in a TLB until simt_tlb_flush() is called. SIMT_FAULT:
 *       sets @code. SIMT_WAIT: the caller of simt_dispatch_run() is to get the page, and then to
 *       go on: the instruction begins anew
 * @over: whether simt_dispatch_run() is to return soon, after one more instruction. It is asked
 *       after every SIMT_APART_MOST accesses by lanes that access separate places. How long such an
 *       access takes depends on the caches, and no budget of instructions bounds it. NULL: never
 */
struct simt_mem {
	enum simt_end (*map)(struct simt_mem *mem, u64 va, bool write, void **page, bool *keep,
			     enum vgpu_hw_fault *code);
	bool (*over)(struct simt_mem *mem);
};

/**
 * struct simt_tlb - where pages are
 * @read: entry i: address of a page that may be read, page number % SIMT_TLB == i; or ~0
 * @write: likewise, of one that may be written
 * @read_host: where the page of @read is
 * @write_host: likewise of @write
 *
 * An engine has one. It is flushed when the dispatch changes, when the dispatch's address space is
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
 * struct simt_isa - the interpreter, as compiled for some instruction set of the CPU
 * @name: "scalar", "sse2" or "avx2"
 * @fused: it has fused operations on floats; else they are computed in integers
 * @run:  runs a warp for at most @budget instructions, of which a slow one counts for several; sets
 *        @budget to what is left
 */
struct simt_isa {
	const char *name;
	bool fused;
	enum simt_end (*run)(struct simt_warp *warp, u32 *budget);
};

extern const struct simt_isa simt_isa_scalar, simt_isa_sse2, simt_isa_avx2;

/**
 * struct simt_dispatch - a dispatch
 * @program:  the text. This and the following, up to @warps, are set by the caller before
 *            simt_dispatch_begin(), and constant until the dispatch is complete
 * @isa:      the interpreter; may change between two calls of simt_dispatch_run()
 * @mem:      memory
 * @tlb:      the engine's; may change likewise
 * @entry:    index of the first instruction, below @program->nr
 * @image_bytes: length of the image from VGPU_HW_VA_IMAGE
 * @args:     value of a0
 * @grid:     work-items per dimension, at least 1
 * @group:    work-items of a group, at least 1, product at most VGPU_HW_GROUP_MAX
 * @local:    @local_bytes of memory; NULL: none
 * @local_bytes: multiple of 8
 * @private:  simt_private_bytes() of memory
 * @private_bytes: of a work-item, a multiple of 16
 * @warps:    simt_warps_bytes() of memory, 64-byte aligned
 * @fault:    set with SIMT_FAULT; with SIMT_WAIT it is that of a page that cannot be had at all
 * @groups:   number of groups per dimension. This and the following belong to group.c
 * @group_id: the group that is being executed
 * @size:     its work-items per dimension
 * @nr_warps: its warps
 * @warp:     the warp that runs next
 * @waiting:  warps of the group that wait at a barrier, or have ended
 * @executed: instructions of warps executed so far; one that waits or faults does not count
 * @apart:    accesses by lanes that access separate places, since the caller or @mem was last asked
 */
struct simt_dispatch {
	const struct simt_program *program;
	const struct simt_isa *isa;
	struct simt_mem *mem;
	struct simt_tlb *tlb;
	u32 entry;
	u32 image_bytes;
	u64 args;
	u32 grid[3];
	u32 group[3];
	u8 *local;
	u32 local_bytes;
	u8 *private;
	u32 private_bytes;
	struct simt_warp *warps;
	struct simt_fault fault;

	u32 groups[3];
	u32 group_id[3];
	u32 size[3];
	u32 nr_warps;
	u32 warp;
	u32 waiting;
	u64 executed;
	u32 apart;
};

/* group.c */
size_t simt_warps_bytes(const u32 group[3]);
size_t simt_private_bytes(const u32 group[3], u32 private_bytes);
void simt_dispatch_begin(struct simt_dispatch *dispatch);
enum simt_end simt_dispatch_run(struct simt_dispatch *dispatch, u32 budget);

#endif /* _VGPU_SIMT_H */
