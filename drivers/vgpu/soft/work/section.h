/* SPDX-License-Identifier: GPL-2.0 */
/* A unit's sections of programs: what is kept from one to the next. */
#ifndef _VGPU_SOFT_SECTION_H
#define _VGPU_SOFT_SECTION_H

#include <linux/debugfs.h>
#include <linux/types.h>

#include "../queue/engine.h"
#include "../simt/simt.h"

/**
 * struct soft_section - a unit's sections, in which preemption is off
 * @tlb:     where the pages are that @serial uses
 * @serial:  struct soft_context.serial of the dispatch that was executed last
 * @run:     struct soft_engine.runs when it was
 * @gen:     soft_invalidate_gen() of what @tlb has
 * @hist:    how often programs ran for less than 1 us, and so on as struct soft_engine.switch_hist,
 *           until the unit looked at its flags again
 * @array:   @hist as debugfs shows it
 *
 * All of it belongs to the unit's thread.
 */
struct soft_section {
	struct simt_tlb tlb;
	u64 serial;
	u64 run;
	u32 gen;
	u32 hist[SOFT_HIST];
	struct debugfs_u32_array array;
};

struct soft_section *soft_section_alloc(void);
void soft_section_free(struct soft_section *section);
void soft_section_debugfs(struct soft_section *section, struct dentry *dir);

#endif /* _VGPU_SOFT_SECTION_H */
