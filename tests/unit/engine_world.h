/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world for the execution of packets (soft/queue/exec.c and what it calls): an engine, a vGPU
 * with one channel, and a clock that advances as work is done. All that work touches is in no
 * cache, so it takes as long as it can; how long the engine goes without a look at the clock is
 * known exactly.
 */
#ifndef ENGINE_WORLD_H
#define ENGINE_WORLD_H

#include <linux/mm.h>

#include "soft/queue/dma.h"
#include "soft/card/gpu.h"
#include "soft/card/instance.h"
#include "soft/work/packet_types.h"
#include "soft/work/section.h"

#define PAGE		4096ull
#define FB_BYTES	(1ull << 30)
#define ROOT		(VGPU_HW_ROOT_VALID | 1)

/* How long something takes, in ns. */
#define LOOK_NS		200	/* at a page, or an entry of a page table */
/* A page that is allocated and zeroed takes no longer than it is stated to. */
#define FRESH_NS	(SOFT_FRESH_WORK * 50000ull / SOFT_STOP_BYTES)
#define PACKET_NS	1000	/* a packet, beside what it does to memory */
#define WORDS_PER_NS	1	/* words of 32 bits that are set */
#define SECTION_NS	50000	/* of a program */

/**
 * struct engine_world - what there is
 * @gpu:    with the engine, which is the first
 * @inst:   the vGPU
 * @engine: the engine
 * @unit:   its only one
 * @section: of the unit
 * @contexts: of the channel
 * @ch:     the channel, in no address space and without a ring
 * @hw:     its page
 * @fault:  of the channel, if world_run() has returned SOFT_END_FAULT
 * @now_ns: the time
 * @looked_ns: when the engine last read the clock
 * @gap_ns: the longest time between two looks at it
 * @looks:  how often it has looked
 * @events: before so many more things that take time are done, the engine sees an invalidation of
 *          translations, as if it had called soft_stop_wanted() there; 0: it sees none
 * @event:  called then, to change the page tables
 * @transfer: does a request to guest memory; NULL: nothing does
 * @sleep:  called when a thread that is not the engine's waits for it; NULL: none must
 * @program: a section of a program; NULL: SECTION_NS pass, and it faults
 * @flushes: how often the section's TLB was flushed
 */
struct engine_world {
	struct soft_gpu gpu;
	struct soft_instance *inst;
	struct soft_engine *engine;
	struct soft_unit *unit;
	struct soft_section section;
	struct soft_contexts contexts;
	struct soft_channel *ch;
	struct vgpu_hw_channel hw;
	struct soft_fault fault;
	u64 now_ns;
	u64 looked_ns;
	u64 gap_ns;
	u64 looks;
	u64 events;
	void (*event)(void);
	void (*transfer)(struct vgpu_dma *dma);
	void (*sleep)(void);
	enum simt_end (*program)(struct simt_group *group);
	u32 flushes;
};

extern struct engine_world world;

/* All anew, in a turn that does not end; the framebuffer has no pages. */
void world_open(void);
void world_close(void);

/* What is at @at of the framebuffer, whose page is there from now on. */
void *world_page(u64 at);

/* The page tables of ROOT are empty; those below it stay where they are. */
void world_unmap(void);

/* In the page tables of ROOT: the page of @va is at @at, with SYS in guest memory. */
void world_map(u64 va, u64 at, u64 flags);

/*
 * Executes packets of the channel's ring as the engine's thread does, and returns how the last one
 * ends. What asks for guest memory gets it at once.
 */
enum soft_end world_run(u32 nr);

/* Likewise, one packet of a type with that function, whose operands are a structure. */
#define world_execute(operands, execute) \
	world_execute_type(operands, sizeof(*(operands)), execute)
enum soft_end world_execute_type(const void *operands, size_t bytes, void *execute);

/* The channel has a dispatch of one group, which has executed an instruction. */
void world_dispatch(struct soft_context *context, struct soft_program *program);

#endif /* ENGINE_WORLD_H */
