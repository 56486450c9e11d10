/* SPDX-License-Identifier: GPL-2.0 */
/* The engine's interpreter in user space: a program's image, memory, and dispatches of it. */
#ifndef SIMT_HOST_H
#define SIMT_HOST_H

#include "state_image.h"

/**
 * struct simt_host - a program and its memory
 * @image:   pages from VGPU_HW_VA_IMAGE
 * @bytes:   length of the image
 * @program: its text, decoded
 * @native:  its code, NULL if there is no compiler; if it is @compiled
 * @compiled: see there
 * @counted: the same code, but @entered is counted
 * @entered: how often it has been entered
 * @fb:      global memory, from VGPU_HW_VA_GLOBAL
 * @fb_bytes: its length, a multiple of the page size
 * @mem:     how the interpreter reaches @image and @fb
 * @tlb:     as an engine has one
 * @budget:  instructions of a call of simt_group_run(), which @mem never ends sooner; 0: random
 *           numbers, and @mem ends some calls
 * @seed:    of these numbers
 * @alone:   random numbers say when lanes run alone; else they do as in the kernel
 * @limit:   instructions of warps after which a dispatch is given up; 0: none
 * @waits:   every so many calls of @mem say that the page cannot be had now; 0: none. More than an
 *           instruction makes, or it would begin anew for ever: two for each lane
 * @calls:   calls of @mem so far
 * @executed: instructions of warps that the last dispatch took
 * @fault:   of the last dispatch
 * @moves:   stops at which dispatches move: one_in is the caller's to set, and the seed
 */
struct simt_host {
	u8 *image;
	u32 bytes;
	struct simt_program *program;
	struct simt_native *native;
	bool compiled;
	struct simt_native counted;
	u64 entered;
	u8 *fb;
	u64 fb_bytes;
	struct simt_mem mem;
	struct simt_tlb tlb;
	u32 budget;
	u64 seed;
	bool alone;
	u64 limit;
	u32 waits;
	u64 calls;
	u64 executed;
	struct simt_fault fault;
	struct state_moves moves;
};

/* What is dispatched: see struct simt_dispatch. */
struct simt_work {
	u32 entry;
	u64 args;
	u32 grid[3];
	u32 group[3];
	u32 local_bytes;
	u32 private_bytes;
};

int simt_host_init(struct simt_host *host, const char *file, u32 text_bytes, u64 fb_bytes);
void simt_host_exit(struct simt_host *host);
enum simt_end simt_host_run(struct simt_host *host, const struct simt_isa *isa,
			    const struct simt_work *work);
const struct simt_isa *simt_host_isa(unsigned int index);

#endif /* SIMT_HOST_H */
