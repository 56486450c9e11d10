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

struct compute_size {
	uint32_t x, y, z;
};

#define COMPUTE_SIZE(x, y, z)	((struct compute_size){ x, y, z })
#define COMPUTE_ONE		COMPUTE_SIZE(1, 1, 1)

/* A program at COMPUTE_IMAGE, of @nr words, all of them text; its head is filled in at @head. */
void compute_head(struct fx_vgpu *v, uint64_t head, uint64_t image, uint32_t nr,
		  uint32_t private_bytes);

/* Copies the words to COMPUTE_IMAGE, makes a head at COMPUTE_HEAD, and invalidates. */
void compute_load(struct fx_vgpu *v, const uint32_t *words, uint32_t nr, uint32_t private_bytes);
#define COMPUTE_LOAD(v, words)	compute_load(v, words, sizeof(words) / sizeof((words)[0]), 4096)

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

/* A number of the line "compute:" that debugfs has on the vGPU. */
uint64_t compute_counter(const struct fx_vgpu *v, const char *name);

#endif /* COMPUTE_H */
