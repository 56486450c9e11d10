/* SPDX-License-Identifier: GPL-2.0 */
/* A random program that uses all that a warp has, and the memory in which it is dispatched. */
#ifndef STATE_WORLD_H
#define STATE_WORLD_H

#include "soft/simt/simt.h"

#define WORLD_PAGES	4
#define WORLD_TEXT	96	/* instructions at most */

/**
 * struct state_world - a program and its memory
 * @seed:    of the program, and of what is dispatched
 * @program: its text, decoded
 * @nr:      number of its instructions
 * @image:   its page
 * @fb:      global memory; pages lie apart, so that a byte beyond any of them is found
 * @mem:     how the interpreter reaches them
 * @tlb:     as an engine has one
 * @calls:   calls of @mem so far
 * @waits:   every so many say that the page cannot be had; 0: none. More than an instruction makes
 */
struct state_world {
	u64 seed;
	struct simt_program *program;
	u32 nr;
	u8 *image;
	u8 *fb[WORLD_PAGES];
	struct simt_mem mem;
	struct simt_tlb tlb;
	u32 calls;
	u32 waits;
};

void state_world_init(struct state_world *world, u64 seed);
void state_world_exit(struct state_world *world);
void state_world_dispatch(struct state_world *world, struct simt_dispatch *dispatch,
			  struct simt_group *group);

#endif /* STATE_WORLD_H */
