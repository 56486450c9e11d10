/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of a vGPU's framebuffer have been written: a bit for each page.
 *
 * Threads mark pages without a lock, while another thread takes the marks in passes and then copies
 * the pages that were marked. No write is lost, because whoever writes to a page follows one of two
 * rules:
 *
 * Mark first. Engines and mappings mark a page, and then write to it for some time. A pass takes
 * the marks, waits until none of them writes to a page any more by a mark that it has taken, and
 * then copies. Mappings are gone when the marks are taken, and a page fault, which marks, waits for
 * the same lock. Engines are asked afterwards to drop their translations, and the pass waits for
 * the answer of each. An answer is a store-release, so the copy has what was written before it; the
 * engine saw the question by a load-acquire, so it sees afterwards that the marks were taken, and
 * marks again.
 *
 * Mark last. The vGPU's worker and trapped accesses write to a page, make a full barrier and mark
 * it. Taking a mark is a full barrier, too. So either the copy, which follows it, has what was
 * written, or the page is marked after its mark was taken, and the next pass has it.
 *
 * A mark that is there is not set again, so that threads do not fight for its cache line. Both
 * rules hold for a mark that a thread finds there.
 *
 * Pure logic, compiled in user space, too.
 */
#ifndef _VGPU_SOFT_DIRTY_H
#define _VGPU_SOFT_DIRTY_H

#include <linux/bitmap.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

/**
 * struct soft_dirty - which pages have been written
 * @rcu:      for kvfree_rcu(): threads that mark pages find this by RCU
 * @nr_pages: number of pages; constant
 * @nr_words: length of @marks, and of @pass; constant
 * @pass:     bitmap of the pages that the last pass has taken and that are not done. This and the
 *            next field belong to the thread that takes passes
 * @next:     no page below this one is in @pass
 * @marks:    bitmap of the pages that were marked since the last pass; @pass follows it in memory
 */
struct soft_dirty {
	struct rcu_head rcu;
	unsigned long nr_pages;
	unsigned long nr_words;
	unsigned long *pass;
	unsigned long next;
	unsigned long marks[];
};

/**
 * soft_dirty_mark() - mark a page
 * @dirty: the marks
 * @pgoff: number of the page
 *
 * Orders nothing: see above for what its callers do.
 *
 * Context: any. Calls may overlap, with those of the other functions, too.
 */
static inline void soft_dirty_mark(struct soft_dirty *dirty, unsigned long pgoff)
{
	/* The guest chose the number. It was checked where it came from the guest. */
	pgoff = array_index_nospec(pgoff, dirty->nr_pages);
	if (!test_bit(pgoff, dirty->marks))
		set_bit(pgoff, dirty->marks);
}

struct soft_dirty *soft_dirty_alloc(unsigned long nr_pages);
unsigned long soft_dirty_take(struct soft_dirty *dirty);
bool soft_dirty_next(struct soft_dirty *dirty, unsigned long *pgoff);
void soft_dirty_done(struct soft_dirty *dirty, unsigned long pgoff);
void soft_dirty_forget(struct soft_dirty *dirty);

#endif /* _VGPU_SOFT_DIRTY_H */
