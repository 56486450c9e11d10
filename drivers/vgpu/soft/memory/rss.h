/* SPDX-License-Identifier: GPL-2.0 */
/* A vGPU's memory in the resident set of the process that has it. */
#ifndef _VGPU_SOFT_RSS_H
#define _VGPU_SOFT_RSS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcuwait.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct soft_memory;

/**
 * struct soft_rss - an open vGPU's memory in the resident set of a process
 * @link:    on the list of all open vGPUs
 * @counted: pages that were allocated and not mapped at the last look
 * @filled:  soft_store_filled() of the framebuffer at the last look
 * @seen:    pages that the framebuffer had at the last look; -1: it is to be looked at
 * @drops:   counts how often the pages were dropped
 * @ended:   the core knew no living holder of the vGPU
 * @ended_at: since when, in jiffies
 * @reclaim: takes the memory then, if the host has none
 * @left:    soft_rss_end() sleeps here while the work item looks at the vGPU
 *
 * @programs: bytes of programs, which are shown, too; this, @contexts and @flights are constant
 * @contexts: bytes of contexts likewise
 * @flights:  bytes of flights likewise
 *
 * Protected by rss.c's lock.
 */
struct soft_rss {
	struct list_head link;
	long counted;
	long filled;
	long seen;
	unsigned int drops;
	bool ended;
	unsigned long ended_at;
	struct work_struct reclaim;
	struct rcuwait left;
	const size_t *programs;
	const atomic64_t *contexts;
	const atomic64_t *flights;
};

int soft_rss_start(void);
void soft_rss_stop(void);
void soft_rss_init(struct soft_rss *rss, const size_t *programs, const atomic64_t *contexts,
		   const atomic64_t *flights);
void soft_rss_exit(struct soft_rss *rss);
void soft_rss_begin(struct soft_memory *mem);
void soft_rss_end(struct soft_memory *mem);
void soft_rss_update(struct soft_memory *mem);

#endif /* _VGPU_SOFT_RSS_H */
