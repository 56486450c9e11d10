// SPDX-License-Identifier: GPL-2.0
/* Which pages of a vGPU's framebuffer have been written: a bit for each page. See dirty.h. */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vgpu_record.h>

#include "dirty.h"

/**
 * soft_dirty_alloc() - allocate marks
 * @nr_pages: for so many pages, at least 1; none is marked
 * Context: may sleep. Charges the active memory cgroup.
 * Return: the marks, to be freed by kvfree() or kvfree_rcu(); NULL: no memory.
 */
struct soft_dirty *soft_dirty_alloc(unsigned long nr_pages)
{
	unsigned long nr_words = BITS_TO_LONGS(nr_pages);
	struct soft_dirty *dirty;

	dirty = kvzalloc(struct_size(dirty, marks, 2 * nr_words), VGPU_RECORD_GFP);
	if (!dirty)
		return NULL;
	dirty->nr_pages = nr_pages;
	dirty->nr_words = nr_words;
	dirty->pass = dirty->marks + nr_words;
	dirty->next = nr_pages;
	return dirty;
}

/**
 * soft_dirty_take() - take all marks: begin a pass
 * @dirty: the marks
 *
 * Pages of the pass before that are not done are in this one, too.
 *
 * Context: any; no other call but of soft_dirty_mark() may overlap.
 * Return: the number of pages in the pass.
 */
unsigned long soft_dirty_take(struct soft_dirty *dirty)
{
	unsigned long i, nr = 0;

	for (i = 0; i < dirty->nr_words; i++) {
		/* xchg() is a full barrier, on which both rules of dirty.h rely. */
		if (READ_ONCE(dirty->marks[i]))
			dirty->pass[i] |= xchg(&dirty->marks[i], 0);
		nr += hweight_long(dirty->pass[i]);
	}
	dirty->next = 0;
	return nr;
}

/**
 * soft_dirty_next() - look for the next page of a pass
 * @dirty: the marks
 * @pgoff: set to the number of the page: of the first one in the pass that is not done
 * Context: as soft_dirty_take().
 * Return: false if the pass has no more pages.
 */
bool soft_dirty_next(struct soft_dirty *dirty, unsigned long *pgoff)
{
	*pgoff = find_next_bit(dirty->pass, dirty->nr_pages, dirty->next);
	dirty->next = *pgoff;
	return *pgoff < dirty->nr_pages;
}

/* The page that soft_dirty_next() has found is done. Context: as soft_dirty_take(). */
void soft_dirty_done(struct soft_dirty *dirty, unsigned long pgoff)
{
	__clear_bit(pgoff, dirty->pass);
	dirty->next = pgoff + 1;
}

/**
 * soft_dirty_forget() - forget all marks, and the pass
 * @dirty: the marks
 * Context: as soft_dirty_take(). A call of soft_dirty_mark() that overlaps may be forgotten or not.
 */
void soft_dirty_forget(struct soft_dirty *dirty)
{
	unsigned long i;

	for (i = 0; i < dirty->nr_words; i++)
		WRITE_ONCE(dirty->marks[i], 0);
	memset(dirty->pass, 0, dirty->nr_words * sizeof(*dirty->pass));
	dirty->next = dirty->nr_pages;
}
