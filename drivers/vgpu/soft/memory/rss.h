/* SPDX-License-Identifier: GPL-2.0 */
/* A vGPU's memory in the resident set of the process that has it. */
#ifndef _VGPU_SOFT_RSS_H
#define _VGPU_SOFT_RSS_H

#include <linux/list.h>
#include <linux/types.h>

struct mm_struct;
struct soft_instance;

/**
 * struct soft_rss - an open vGPU's memory in the resident set of a process
 * @link:    on the list of all open vGPUs
 * @mm:      address space in whose resident set the pages are counted, with a reference
 * @shown:   pages that are counted there now
 * @counted: pages that were there and not mapped at the last look
 * @filled:  soft_store_filled() of the framebuffer at the last look
 * @seen:    pages that the framebuffer had at the last look; -1: it is to be looked at
 * @drops:   counts how often the pages were dropped
 * @orphan:  the processes of @mm have ended or are about to, and no other process was found that
 *           has the device's file: the next that uses the vGPU takes over (readers of this flag
 *           need no lock)
 * @closing: the vGPU is being closed (readers of this flag need no lock)
 * @spared:  a living process has the file, but none that the OOM killer would choose
 * @ended:   the processes of @mm were seen to have ended, or to be about to
 * @ended_at: when, in jiffies
 * @search:  where the search for who has the device's file goes on; 0: it begins anew
 *
 * Protected by rss.c's lock.
 */
struct soft_rss {
	struct list_head link;
	struct mm_struct *mm;
	long shown;
	long counted;
	long filled;
	long seen;
	unsigned int drops;
	bool orphan;
	bool closing;
	bool spared;
	bool ended;
	unsigned long ended_at;
	int search;
};

int soft_rss_init(void);
void soft_rss_exit(void);
void soft_rss_begin(struct soft_instance *inst);
void soft_rss_end(struct soft_instance *inst);
void soft_rss_update(struct soft_instance *inst);
void soft_rss_adopt(struct soft_instance *inst);

#endif /* _VGPU_SOFT_RSS_H */
