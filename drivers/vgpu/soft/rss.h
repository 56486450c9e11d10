/* SPDX-License-Identifier: GPL-2.0 */
/* Framebuffer in the resident set of the process that opened the vGPU. */
#ifndef _VGPU_SOFT_RSS_H
#define _VGPU_SOFT_RSS_H

#include <linux/list.h>
#include <linux/types.h>

struct mm_struct;
struct soft_instance;

/**
 * struct soft_rss - an open vGPU's framebuffer in the resident set of a process
 * @link:   on the list of all open vGPUs
 * @mm:     address space in whose resident set the pages are counted, with a reference
 * @shown:  pages that are counted there now
 * @seen:   pages that the framebuffer had when it was last looked at
 * @orphan: no process uses @mm any more, so the next process that uses the vGPU is to take over
 *          (readers of this flag need no lock)
 * @ending: when the OOM killer last asked, all processes that use @mm had exited or been killed
 * @ending_since: jiffies when @ending was first found
 *
 * Protected by rss.c's lock.
 */
struct soft_rss {
	struct list_head link;
	struct mm_struct *mm;
	long shown;
	long seen;
	bool orphan;
	bool ending;
	unsigned long ending_since;
};

int soft_rss_init(void);
void soft_rss_exit(void);
void soft_rss_begin(struct soft_instance *inst);
void soft_rss_end(struct soft_instance *inst);
void soft_rss_update(struct soft_instance *inst);
void soft_rss_adopt(struct soft_instance *inst);

#endif /* _VGPU_SOFT_RSS_H */
