// SPDX-License-Identifier: GPL-2.0
/*
 * Tracks which pages of a store are written, while somebody wants to know: a migration copies a
 * framebuffer that is in use. Where pages are marked as written:
 *
 *   soft_store_map()		before a page is mapped; it cannot be seen later whether the
 *				mapping wrote to it
 *   soft_store_rw()		after a trapped write
 *   soft_space_back()		before an engine writes: FILL, COPY, SIGNAL
 *   soft_copy_zero()		likewise, where it needs no new page
 *   soft_dispatch_map()	before a program may write, by a page that its TLB keeps
 *   soft_dma_ran()		after the worker has read guest memory into framebuffer
 *
 * Rings, packets, programs and page tables are only read. PRESENT and the display write nothing. A
 * page that is new and was not written reads zero, as it did before it was there.
 *
 * A page that somebody else has got hold of, such as another device of the VM, may be written at
 * any time, and nobody says when. soft_track_next() sees that by the page's references, and marks
 * it again each time: so it is in every pass. It was mapped when it was taken hold of, and so it
 * was marked; that was in the pass then, and so on from pass to pass.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "dirty.h"
#include "store.h"
#include "track.h"

/* The marks of a store that is tracked. The core holds the state lock: see struct soft_store. */
static struct soft_dirty *soft_track_dirty(struct soft_store *store)
{
	return rcu_dereference_protected(store->dirty, true);
}

/**
 * soft_track_start() - begin to mark pages that are written
 * @store: not tracked; its pages are not being dropped
 *
 * All pages that the store has are marked, as they have never been copied. So no mapping or
 * translation that is older needs to go before the first pass.
 *
 * Context: may sleep. Charges the store's memory cgroup.
 * Return: 0, to be undone by soft_track_stop(), or -ENOMEM.
 */
int soft_track_start(struct soft_store *store)
{
	struct mem_cgroup *old = set_active_memcg(store->memcg);
	struct soft_dirty *dirty = soft_dirty_alloc(store->nr_pages);
	unsigned long pgoff;

	set_active_memcg(old);
	if (!dirty)
		return -ENOMEM;
	store->dropped = false;
	rcu_assign_pointer(store->dirty, dirty);
	/*
	 * Pairs with the barrier from the arrival of a new page, or from a write that is marked
	 * last, to the look whether the store is tracked. If it seemed not to be, the page is found
	 * below, and the first pass copies what was written.
	 */
	smp_mb();
	for (pgoff = 0; pgoff < store->nr_pages; pgoff++) {
		if (soft_store_peek(store, pgoff))
			soft_dirty_mark(dirty, pgoff);
		if (!(pgoff % 4096))
			cond_resched();
	}
	return 0;
}

/* Undoes soft_track_start(). Context: any; threads may be marking pages. */
void soft_track_stop(struct soft_store *store)
{
	struct soft_dirty *dirty = soft_track_dirty(store);

	rcu_assign_pointer(store->dirty, NULL);
	kvfree_rcu(dirty, rcu);
}

/**
 * soft_track_take() - begin a pass over the pages that were written
 * @store: tracked
 * @dropped: set to whether all pages were dropped since the last pass, or since the start. The pass
 *           has the pages that were written after that
 *
 * Before the caller copies pages of the pass, engines must have dropped their translations.
 *
 * Context: no page is mapped, nor can a page fault map one, nor are pages being dropped. Does not
 * sleep.
 * Return: the number of pages in the pass. Some of them may be gone.
 */
unsigned long soft_track_take(struct soft_store *store, bool *dropped)
{
	*dropped = store->dropped;
	store->dropped = false;
	return soft_dirty_take(soft_track_dirty(store));
}

/*
 * Whether somebody else has the page, and may write to it. References are read before mappings: a
 * mapping that comes between has marked the page. A pin counts as so many references that no
 * mapping which ends between hides it.
 */
static bool soft_track_held(struct page *page)
{
	struct folio *folio = page_folio(page);
	int refs = folio_ref_count(folio);

	smp_rmb();	/* the order that is said above */
	return refs > 1 + folio_mapcount(folio) || folio_maybe_dma_pinned(folio);
}

/**
 * soft_track_next() - take the next pages of a pass
 * @store: tracked; its pages are not being dropped
 * @most: number of pages that are wanted, at least 1
 * @first: set to the number of the first page
 *
 * The pages are in the pass no more. They can be read until the store is dropped; what is written
 * to them from then on is in the next pass.
 *
 * Context: any; no other call for the store may overlap, of this function or those above.
 * Return: the number of pages, one after the other; 0: the pass has no more.
 */
unsigned long soft_track_next(struct soft_store *store, unsigned long most, unsigned long *first)
{
	struct soft_dirty *dirty = soft_track_dirty(store);
	unsigned long pgoff, nr = 0;
	struct page *page;

	while (nr < most && soft_dirty_next(dirty, &pgoff)) {
		if (nr && pgoff != *first + nr)
			break;
		soft_dirty_done(dirty, pgoff);
		page = soft_store_peek(store, pgoff);
		/* The worker has marked it, which had a page yet that was dropped meanwhile. */
		if (!page && nr)
			break;
		if (!page)
			continue;
		if (soft_track_held(page))
			soft_dirty_mark(dirty, pgoff);
		if (!nr)
			*first = pgoff;
		nr++;
	}
	return nr;
}
