/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of tests: placed in the framebuffer and dispatched, word by word. */
#ifndef COMPUTE_H
#define COMPUTE_H

#include <stdint.h>

#include "fixture.h"
#include "rv.h"

/* Where tests have their things in the framebuffer. */
#define COMPUTE_HEAD	FX_MIB			/* of a program */
#define COMPUTE_IMAGE	(FX_MIB + 0x1000)	/* up to 2 MiB */
#define COMPUTE_ARGS	(3 * FX_MIB)
#define COMPUTE_OUT	(4 * FX_MIB)

/* And in the address space of space.h. */
#define COMPUTE_HEAD_VA		0x21000000ull
#define COMPUTE_IMAGE_VA	0x20000000ull

struct compute_size {
	uint32_t x, y, z;
};

#define COMPUTE_SIZE(x, y, z)	((struct compute_size){ x, y, z })
#define COMPUTE_ONE		COMPUTE_SIZE(1, 1, 1)
#define COMPUTE_ALL		COMPUTE_SIZE(~0u, ~0u, ~0u)	/* 2^96 work-items */

/* One instruction after the other, for ever. */
extern const uint32_t compute_loop[3];

/* The first work-item of each group loops, and the others wait for it at a barrier. */
extern const uint32_t compute_barrier[4];

/* A new channel on gr; opens the vGPU if it is not. Skips the test where programs do not run. */
struct vgpu_chan *compute_chan(struct fx_vgpu *v);

/* A program at COMPUTE_IMAGE, of @nr words, all of them text; its head is filled in at @head. */
void compute_head(struct fx_vgpu *v, uint64_t head, uint64_t image, uint32_t nr,
		  uint32_t private_bytes);

/* Copies the words to COMPUTE_IMAGE, makes a head at COMPUTE_HEAD, and invalidates. */
void compute_load(struct fx_vgpu *v, const uint32_t *words, uint32_t nr, uint32_t private_bytes);
#define COMPUTE_LOAD(v, words)	compute_load(v, words, sizeof(words) / sizeof((words)[0]), 4096)

/* The same in a new address space of the vGPU of space.h. Returns a channel on gr there. */
struct vgpu_chan *compute_load_in_space(const uint32_t *words, uint32_t nr,
					uint32_t private_bytes);

/* What was decoded so far is found no more. */
void compute_invalidate(struct fx_vgpu *v, uint32_t root);

/* Puts a DISPATCH into the channel's ring. */
void compute_dispatch_head(struct vgpu_chan *chan, uint64_t head, uint64_t args,
			   struct compute_size grid, struct compute_size group,
			   uint32_t local_bytes);

/* Of the program at COMPUTE_HEAD, with COMPUTE_OUT for its arguments. */
void compute_dispatch(struct vgpu_chan *chan, struct compute_size grid, struct compute_size group,
		      uint32_t local_bytes);

/* Waits for the fault, and checks code, address, pc (as index of an instruction) and work-item. */
void compute_check_fault(struct vgpu_chan *chan, enum vgpu_hw_fault code, uint64_t addr,
			 uint64_t pc, struct compute_size id, const char *what);

/* The same for the host: the line that debugfs has on the channel, which has faulted. */
void compute_check_host(const struct fx_vgpu *v, const struct vgpu_chan *chan,
			enum vgpu_hw_fault code, uint64_t addr, uint64_t pc,
			struct compute_size id, const char *what);

/*
 * A channel on gr of a vGPU beside others, with a program that adds two numbers: the sum is right,
 * whatever the others do.
 */
struct vgpu_chan *compute_neighbour(struct fx_vgpu *v);
void compute_check_sum(struct vgpu_chan *neighbour, uint64_t a, uint64_t b);

/* A number of the line "compute:" that debugfs has on the vGPU. */
uint64_t compute_counter(const struct fx_vgpu *v, const char *name);

#endif /* COMPUTE_H */
