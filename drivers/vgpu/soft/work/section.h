/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sections of programs on an engine, and the timer that ends one which has not ended by itself.
 */
#ifndef _VGPU_SOFT_SECTION_H
#define _VGPU_SOFT_SECTION_H

#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/types.h>

#include "../queue/engine.h"
#include "../simt/simt.h"

/**
 * struct soft_section - an engine's sections, in which preemption is off
 * @timer:   while a section lasts, and until it would have been due
 * @over:    the section is to end after the instruction that is being executed
 * @late_ns: by how much the timer was late when it set @over; 0 before
 * @tlb:     where the pages are that @of uses
 * @of:      the dispatch that was executed last
 * @run:     struct soft_engine.runs when it was
 * @gen:     soft_invalidate_gen() of what @tlb has
 * @hist:    how often programs ran for less than 1 us, and so on as struct soft_engine.switch_hist,
 *           until the engine looked at its flags again
 * @array:   @hist as debugfs shows it
 *
 * All but what the timer does belongs to the engine's thread.
 */
struct soft_section {
	struct hrtimer timer;
	bool over;
	u64 late_ns;
	struct simt_tlb tlb;
	const struct simt_dispatch *of;
	u64 run;
	u32 gen;
	u32 hist[SOFT_HIST];
	struct debugfs_u32_array array;
};

struct soft_section *soft_section_alloc(void);
void soft_section_free(struct soft_section *section);
void soft_section_debugfs(struct soft_section *section, struct dentry *dir);
void soft_section_begin(struct soft_section *section, u64 now_ns);
u64 soft_section_own_ns(const struct soft_section *section, u64 took_ns);

#endif /* _VGPU_SOFT_SECTION_H */
