// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a vGPU: pages that are allocated when they are first touched.
 *
 * A page belongs to one vGPU, from one reset to the next. It is then given back, and not zeroed
 * and used again, since a device that has it pinned may still write to it. A reserved store
 * keeps a page over a reset only where nothing else holds a reference.
 *
 * The table has two levels of plain pointers and is no xarray: an engine looks up two pages for
 * each 4 KiB that it copies, and a look-up takes two loads.
 */
#include <linux/highmem.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vgpu.h>
#include <linux/workqueue.h>

#include "dirty.h"
#include "store.h"

#define SOFT_LEAF_PAGES		(PAGE_SIZE / sizeof(struct page *))

/* The front end maps that many pages at once. A leaf has a whole number of batches. */
#define SOFT_BATCH_ORDER	get_order(65536)
#define SOFT_BATCH_PAGES	BIT(SOFT_BATCH_ORDER)

/* So few pages are given back within some ms. */
#define SOFT_STORE_FEW		4096

static struct workqueue_struct *soft_store_wq;

/* Begins to drop pages by work items. Returns 0 or -ENOMEM. */
int soft_store_start(void)
{
	/* A host without memory waits for what is given back, so there is a thread for it. */
	soft_store_wq = alloc_workqueue("vgpu_soft_store", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	return soft_store_wq ? 0 : -ENOMEM;
}

/* Undoes soft_store_start(), when no vGPU is left. */
void soft_store_stop(void)
{
	destroy_workqueue(soft_store_wq);
}

/**
 * soft_store_init() - set up a store without pages
 * @store: zeroed
 * @bytes: length of the memory, whole pages
 * Context: may sleep.
 * Return: 0, to be undone by soft_store_exit(), or -ENOMEM.
 */
int soft_store_init(struct soft_store *store, u64 bytes)
{
	store->nr_pages = bytes >> PAGE_SHIFT;
	store->nr_leaves = DIV_ROUND_UP(store->nr_pages, SOFT_LEAF_PAGES);
	store->leaves = kvcalloc(store->nr_leaves, sizeof(*store->leaves), GFP_KERNEL_ACCOUNT);
	if (!store->leaves)
		return -ENOMEM;
	atomic_long_set(&store->backed, 0);
	atomic_long_set(&store->touched, 0);
	init_rwsem(&store->drop_lock);
	return 0;
}

/**
 * soft_store_begin() - begin anew to look for the most pages that are allocated at a time
 * @store: no thread uses its pages
 * Context: any.
 */
void soft_store_begin(struct soft_store *store)
{
	atomic_long_set(&store->peak, atomic_long_read(&store->backed));
}

/**
 * soft_store_alloc() - allocate a zeroed page, charged as the store's pages are
 * @store: initialised
 * @gfp: SOFT_GFP or SOFT_GFP_ENGINE
 * Context: as @gfp says.
 * Return: the page, which is the caller's and not in the store; or NULL.
 */
struct page *soft_store_alloc(struct soft_store *store, gfp_t gfp)
{
	struct mem_cgroup *old = set_active_memcg(store->memcg);
	struct page *page = alloc_page(gfp);

	set_active_memcg(old);
	return page;
}

/* soft_store_mark_rcu(), where it looks as if the store were tracked. */
void soft_store_mark_tracked(struct soft_store *store, unsigned long pgoff)
{
	struct soft_dirty *dirty = rcu_dereference(store->dirty);

	if (dirty)
		soft_dirty_mark(dirty, pgoff);
}

/* Counts pages that have been allocated. */
static void soft_store_count(struct soft_store *store, long nr)
{
	long backed = atomic_long_add_return(nr, &store->backed);
	long peak = atomic_long_read(&store->peak);

	while (peak < backed && !atomic_long_try_cmpxchg(&store->peak, &peak, backed))
		;
}

static struct page **soft_store_leaf(struct soft_store *store, unsigned long pgoff, gfp_t gfp)
{
	struct page **leaf, **other, ***slot;
	struct mem_cgroup *old;

	pgoff = array_index_nospec(pgoff, store->nr_pages);
	slot = &store->leaves[pgoff / SOFT_LEAF_PAGES];
	leaf = READ_ONCE(*slot);
	if (leaf)
		return leaf;
	old = set_active_memcg(store->memcg);
	leaf = kcalloc(SOFT_LEAF_PAGES, sizeof(*leaf), gfp);
	set_active_memcg(old);
	if (!leaf)
		return NULL;
	other = cmpxchg(slot, NULL, leaf);
	if (other) {
		kfree(leaf);
		return other;
	}
	return leaf;
}

/**
 * soft_store_peek() - find a page
 * @store: its pages are not being dropped
 * @pgoff: number of the page, below the store's number of pages
 * Context: any.
 * Return: the page, without a reference; NULL if it was never touched: it reads zero.
 */
struct page *soft_store_peek(struct soft_store *store, unsigned long pgoff)
{
	struct page **leaf;

	/* The guest chose the number. It was checked where it came from the guest. */
	pgoff = array_index_nospec(pgoff, store->nr_pages);
	leaf = READ_ONCE(store->leaves[pgoff / SOFT_LEAF_PAGES]);
	return leaf ? READ_ONCE(leaf[pgoff % SOFT_LEAF_PAGES]) : NULL;
}

/*
 * Allocates a page and puts it into the store, unless another thread does so at the same time;
 * @touched: for a mapping.
 */
static struct page *soft_store_add(struct soft_store *store, unsigned long pgoff, gfp_t gfp,
				   bool touched)
{
	struct page *page, *other;
	struct page **leaf;

	leaf = soft_store_leaf(store, pgoff, gfp);
	if (!leaf)
		return NULL;
	page = soft_store_alloc(store, gfp);
	if (!page)
		return NULL;

	/* A full barrier: a thread that finds the page finds it zeroed. */
	other = cmpxchg(&leaf[pgoff % SOFT_LEAF_PAGES], NULL, page);
	if (other) {
		__free_page(page);
		return other;
	}
	soft_store_count(store, 1);
	if (touched)
		atomic_long_inc(&store->touched);
	return page;
}

/**
 * soft_store_page() - find a page, or allocate it
 * @store: its pages are not being dropped
 * @pgoff: number of the page, below the store's number of pages
 * @gfp: SOFT_GFP or SOFT_GFP_ENGINE
 * Context: as @gfp says; does not wait for the OOM killer.
 * Return: the page, without a reference; NULL if there is no memory.
 */
struct page *soft_store_page(struct soft_store *store, unsigned long pgoff, gfp_t gfp)
{
	struct page *page = soft_store_peek(store, pgoff);

	return likely(page) ? page : soft_store_add(store, pgoff, gfp, false);
}

/**
 * soft_store_host_short() - tell why a page could not be had
 *
 * Tries to allocate a page that no memory cgroup is charged for, and gives it back.
 *
 * Context: any; does not wait for memory.
 * Return: true if the host has no page, false if only the charged cgroup is full.
 */
bool soft_store_host_short(void)
{
	struct page *page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);

	if (!page)
		return true;
	__free_page(page);
	return false;
}

/*
 * Allocates a whole batch of pages, if none of them is there yet: one allocation and one charge
 * for all. Where it fails, the caller allocates single pages.
 */
static void soft_store_batch(struct soft_store *store, unsigned long pgoff)
{
	gfp_t gfp = (SOFT_GFP & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY;
	struct page **leaf = soft_store_leaf(store, pgoff, SOFT_GFP);
	struct mem_cgroup *old;
	unsigned int i, nr = 0;
	struct page *page;

	if (!leaf)
		return;
	leaf += pgoff % SOFT_LEAF_PAGES;
	for (i = 0; i < SOFT_BATCH_PAGES; i++)
		if (READ_ONCE(leaf[i]))
			return;

	old = set_active_memcg(store->memcg);
	page = alloc_pages(gfp, SOFT_BATCH_ORDER);
	set_active_memcg(old);
	if (!page)
		return;
	split_page(page, SOFT_BATCH_ORDER);
	for (i = 0; i < SOFT_BATCH_PAGES; i++) {
		if (cmpxchg(&leaf[i], NULL, page + i))
			__free_page(page + i);
		else
			nr++;
	}
	soft_store_count(store, nr);
	atomic_long_add(nr, &store->touched);
}

/**
 * soft_store_map() - find or allocate pages for a mapping, and mark them as written
 * @store: its pages are not being dropped
 * @pgoff: number of the first page, any number
 * @pages: room for @nr pages, which are filled in without references
 * @nr: number of pages that are wanted, at least 1
 * Context: may sleep.
 * Return: number of pages filled in, at least 1; -EAGAIN: the host has no memory at the moment;
 * -ENOMEM: the charged cgroup is full, or the store has no page @pgoff.
 */
int soft_store_map(struct soft_store *store, unsigned long pgoff,
		   struct page **pages, unsigned int nr)
{
	unsigned int i;

	if (pgoff >= store->nr_pages)
		return -ENOMEM;
	nr = min_t(unsigned long, nr, store->nr_pages - pgoff);
	if (nr >= SOFT_BATCH_PAGES && !(pgoff % SOFT_BATCH_PAGES))
		soft_store_batch(store, pgoff);
	for (i = 0; i < nr; i++) {
		pages[i] = soft_store_peek(store, pgoff + i) ?:
			   soft_store_add(store, pgoff + i, SOFT_GFP, true);
		if (!pages[i])
			break;
		soft_store_mark(store, pgoff + i);
	}
	if (i)
		return i;
	return soft_store_host_short() ? -EAGAIN : -ENOMEM;
}

static long soft_store_leaf_unmapped(struct page **leaf)
{
	struct page *page;
	unsigned long j;
	long nr = 0;

	for (j = 0; j < SOFT_LEAF_PAGES; j++) {
		page = READ_ONCE(leaf[j]);
		nr += page && !folio_mapped(page_folio(page));
	}
	return nr;
}

/**
 * soft_store_unmapped() - count the pages that no process has mapped
 * @store: initialised, and does not go away
 * Context: takes long. The OOM killer may wait for the result, so this does not allocate, nor wait
 * for a lock. Reschedules; a thread that drops the pages need not wait for the
 * whole count.
 * Return: the number of pages, or -EAGAIN: pages are being dropped.
 */
long soft_store_unmapped(struct soft_store *store)
{
	struct page **leaf;
	unsigned long i;
	long nr = 0;

	for (i = 0; i < store->nr_leaves; i++) {
		if (!READ_ONCE(store->leaves[i]))
			continue;
		if (!down_read_trylock(&store->drop_lock))
			return -EAGAIN;
		leaf = READ_ONCE(store->leaves[i]);
		if (leaf)
			nr += soft_store_leaf_unmapped(leaf);
		up_read(&store->drop_lock);
		cond_resched();
	}
	return nr;
}

/* Copies an aligned word in one piece: it may be put or get of a channel. */
static void soft_store_copy(void *dst, const void *src, size_t len)
{
	unsigned long both = (unsigned long)dst | (unsigned long)src;

	if (len == 8 && IS_ALIGNED(both, 8))
		WRITE_ONCE(*(u64 *)dst, READ_ONCE(*(const u64 *)src));
	else if (len == 4 && IS_ALIGNED(both, 4))
		WRITE_ONCE(*(u32 *)dst, READ_ONCE(*(const u32 *)src));
	else
		memcpy(dst, src, len);
}

static bool soft_store_back(struct soft_store *store, unsigned long pgoff, unsigned long last)
{
	for (; pgoff <= last; pgoff++)
		if (!soft_store_page(store, pgoff, SOFT_GFP))
			return false;
	return true;
}

/**
 * soft_store_rw() - do a trapped access
 * @store: initialised
 * @offset: start of the access in the store, any number
 * @buf: kernel memory
 * @count: bytes, at most a page
 * @write: write to the store, else read from it
 * Context: may sleep.
 * Return: 0; -ENXIO if not all of the access is in the store; -ENOMEM. An access that fails has
 * changed nothing.
 */
int soft_store_rw(struct soft_store *store, u64 offset, void *buf, size_t count, bool write)
{
	unsigned long pgoff = offset >> PAGE_SHIFT, last, next;
	unsigned int start = offset & ~PAGE_MASK;
	unsigned long since = 0;
	u64 end;

	if (!count || check_add_overflow(offset, (u64)count, &end) ||
	    end > (u64)store->nr_pages << PAGE_SHIFT)
		return -ENXIO;
	last = (end - 1) >> PAGE_SHIFT;

	down_read(&store->drop_lock);
	/* Allocate all pages first, so that a write is done as a whole or not at all. */
	while (write && !soft_store_back(store, pgoff, last)) {
		up_read(&store->drop_lock);
		if (!soft_store_host_short() || !vgpu_short_pause(&since))
			return -ENOMEM;
		down_read(&store->drop_lock);
	}
	for (next = pgoff; count; next++) {
		size_t len = min_t(size_t, count, PAGE_SIZE - start);
		struct page *page = soft_store_peek(store, next);

		if (write)
			soft_store_copy(page_address(page) + start, buf, len);
		else if (page)
			soft_store_copy(buf, page_address(page) + start, len);
		else
			memset(buf, 0, len);
		buf += len;
		count -= len;
		start = 0;
	}
	if (write) {
		smp_mb();	/* dirty.h: mark last */
		for (; pgoff <= last; pgoff++)
			soft_store_mark(store, pgoff);
	}
	up_read(&store->drop_lock);
	return 0;
}

/**
 * soft_store_reserve() - allocate all pages of a new store
 * @store: without pages, and known to no other thread
 * Context: may sleep, for long. Charges the current task.
 * Return: 0; -ENOMEM; -EINTR if the task is being killed. Pages that were allocated before an
 * error stay until soft_store_exit().
 */
int soft_store_reserve(struct soft_store *store)
{
	unsigned long pgoff;

	for (pgoff = 0; pgoff < store->nr_pages; pgoff++) {
		if (!soft_store_page(store, pgoff, SOFT_GFP))
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	store->reserved = true;
	return 0;
}

/*
 * Returns a zeroed page to put in the place of a used one. NULL if none can be had: the page is
 * then allocated when it is touched.
 */
static struct page *soft_store_renew(struct soft_store *store, struct page *page)
{
	struct page *fresh;

	/* Only the store has a reference, and no thread can find the page to take one. */
	if (page_count(page) == 1) {
		clear_highpage(page);
		return page;
	}
	fresh = soft_store_alloc(store, SOFT_GFP);
	put_page(page);
	return fresh;
}

static void soft_store_drop_pages(struct soft_store *store)
{
	unsigned long i, j;

	for (i = 0; i < store->nr_leaves; i++) {
		struct page **leaf = store->leaves[i];

		if (!leaf)
			continue;
		for (j = 0; j < SOFT_LEAF_PAGES; j++) {
			if (!leaf[j])
				continue;
			if (store->reserved) {
				leaf[j] = soft_store_renew(store, leaf[j]);
			} else {
				put_page(leaf[j]);
				leaf[j] = NULL;
			}
			if (!leaf[j])
				atomic_long_dec(&store->backed);
		}
		if (!store->reserved) {
			store->leaves[i] = NULL;
			kfree(leaf);
		}
		cond_resched();
	}
}

/**
 * struct soft_store_work - a store whose pages are to be dropped
 * @work:  drops them
 * @store: with its drop_lock held for writing by the task that waits for @work
 */
struct soft_store_work {
	struct work_struct work;
	struct soft_store *store;
};

static void soft_store_work(struct work_struct *work)
{
	soft_store_drop_pages(container_of(work, struct soft_store_work, work)->store);
}

/*
 * Has a work item give back the pages. The current task may be a user whose cgroup gives it hardly
 * any processor time. If the OOM killer has killed that user, it waits for the pages some seconds
 * only, then it kills others. The work item takes no lock, so it waits for no user.
 */
static void soft_store_give_back(struct soft_store *store)
{
	struct soft_store_work drop = { .store = store };

	INIT_WORK_ONSTACK(&drop.work, soft_store_work);
	queue_work(soft_store_wq, &drop.work);
	flush_work(&drop.work);
	destroy_work_on_stack(&drop.work);
}

/**
 * soft_store_drop() - drop the content: all of the memory reads zero afterwards
 * @store: no engine and no page fault is using it
 *
 * Pages are given back. A reserved store has zeroed pages in their place. While the store is
 * tracked, no page counts as written any more, and @dropped of the store says why.
 *
 * Context: the state lock of the instance is held, or the store is not tracked. May sleep.
 */
void soft_store_drop(struct soft_store *store)
{
	struct soft_dirty *dirty;

	down_write(&store->drop_lock);
	if (store->reserved || current->flags & PF_KTHREAD ||
	    atomic_long_read(&store->backed) <= SOFT_STORE_FEW)
		soft_store_drop_pages(store);
	else
		soft_store_give_back(store);
	atomic_long_set(&store->touched, 0);
	/*
	 * Not drop_lock keeps it, but the state lock of the instance, whose type is the core's: the
	 * core holds it here. If the store is being freed, it is not tracked.
	 */
	dirty = rcu_dereference_protected(store->dirty, true);
	if (dirty) {
		soft_dirty_forget(dirty);
		store->dropped = true;
	}
	up_write(&store->drop_lock);
}

/* Frees a store that no thread uses any more. May sleep. */
void soft_store_exit(struct soft_store *store)
{
	store->reserved = false;
	soft_store_drop(store);
	kvfree(store->leaves);
}
