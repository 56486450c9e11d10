/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of address spaces have: a vGPU, one address space on it, a channel, guest memory. */
#ifndef SPACE_H
#define SPACE_H

#include "fixture.h"

#define PAGE		4096ull
#define RW		(VGPU_HW_PTE_R | VGPU_HW_PTE_W)
#define RING_VA		0x10000000ull

/* Those of the test that runs; a test creates what it needs of them. */
extern struct fx_vgpu v;
extern struct vgpu_space *space;
extern struct vgpu_chan *chan;
extern struct vgpu_buf buf;

/* Makes the address space; opens the vGPU if it is not. */
void space_make(void);

/* What is at @va of it: framebuffer or guest memory, or one page of the framebuffer. */
void space_map(uint64_t va, struct vgpu_loc to, uint64_t bytes, uint32_t flags);
void space_map_page(uint64_t va, uint64_t at, uint32_t flags);

/* For KTAP_MAIN(): fx_cleanup() with all of these. */
void space_cleanup(void);

#endif /* SPACE_H */
