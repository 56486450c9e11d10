/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a vGPU: pages that are allocated when they are first touched. */
#ifndef _VGPU_SOFT_STORE_H
#define _VGPU_SOFT_STORE_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/types.h>

struct mem_cgroup;
struct page;
struct soft_dirty;

/*
 * For threads that may sleep. The page is charged to the vGPU's user, and when the user's memory
 * cgroup is full the allocation fails without the OOM killer.
 */
#define SOFT_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * For an engine's thread, which works for all vGPUs of the GPU. Reclaim in the memory cgroup of
 * one vGPU's user, or its memory.high, may take seconds: an engine does not enter them, and has
 * the worker of that vGPU allocate instead (dma.c).
 */
#define SOFT_GFP_ENGINE	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_ZERO | __GFP_NOWARN)

/**
 * struct soft_store - memory whose pages are allocated when they are first touched
 * @nr_pages:  length of the memory in pages
 * @nr_leaves: length of @leaves
 * @leaves:    page pointers in a table of two levels. A leaf, and a page in it, is NULL until it
 *             is touched; both are set by cmpxchg
 * @dirty:     the pages that were written, while the store is tracked (track.h); else NULL. Threads
 *             that mark pages find it by RCU. It changes only with the state lock of the instance
 *             held, which the core holds over all functions of track.h, and over soft_store_drop()
 *             of a store that may be tracked
 * @dropped:   @dirty has forgotten all pages since the last pass, as they were dropped. The same
 *             state lock protects it
 * @backed:    pages that are allocated
 * @touched:   pages of @backed that were allocated because a mapping of them was touched
 * @peak:      the most that @backed has been since soft_store_begin()
 * @reserved:  all pages were allocated when the vGPU was created, and a reset keeps them
 * @memcg:     memory cgroup charged for new pages; NULL: that of the current task. Changes only
 *             while the vGPU is being opened or closed
 * @drop_lock: read: a trapped access, or the vGPU's worker, is using pages; write:
 *             soft_store_drop() is removing them
 */
struct soft_store {
	unsigned long nr_pages;
	unsigned long nr_leaves;
	struct page ***leaves;
	struct soft_dirty __rcu *dirty;
	bool dropped;
	atomic_long_t backed;
	atomic_long_t touched;
	atomic_long_t peak;
	bool reserved;
	struct mem_cgroup *memcg;
	struct rw_semaphore drop_lock;
};

/* How many pages were allocated without a touch: no process had them mapped then. */
static inline long soft_store_filled(const struct soft_store *store)
{
	return atomic_long_read(&store->backed) - atomic_long_read(&store->touched);
}

void soft_store_mark_tracked(struct soft_store *store, unsigned long pgoff);

/**
 * soft_store_mark() - note that a page is written, if the store is tracked
 * @store: its pages are not being dropped
 * @pgoff: number of the page, below the store's number of pages
 *
 * Before the page is written, or after that and a full barrier: dirty.h has the rules.
 *
 * Context: any.
 */
static inline void soft_store_mark(struct soft_store *store, unsigned long pgoff)
{
	if (likely(!rcu_access_pointer(store->dirty)))
		return;
	rcu_read_lock();
	soft_store_mark_tracked(store, pgoff);
	rcu_read_unlock();
}

/* Likewise, for who marks many pages, and holds rcu_read_lock() over that. */
static inline void soft_store_mark_rcu(struct soft_store *store, unsigned long pgoff)
{
	if (unlikely(rcu_access_pointer(store->dirty)))
		soft_store_mark_tracked(store, pgoff);
}

int soft_store_start(void);
void soft_store_stop(void);
int soft_store_init(struct soft_store *store, u64 bytes);
void soft_store_begin(struct soft_store *store);
int soft_store_reserve(struct soft_store *store);
void soft_store_exit(struct soft_store *store);
struct page *soft_store_peek(struct soft_store *store, unsigned long pgoff);
struct page *soft_store_page(struct soft_store *store, unsigned long pgoff, gfp_t gfp);
struct page *soft_store_alloc(struct soft_store *store, gfp_t gfp);
bool soft_store_host_short(void);
int soft_store_map(struct soft_store *store, unsigned long pgoff, struct page **pages,
		   unsigned int nr);
long soft_store_unmapped(struct soft_store *store);
int soft_store_rw(struct soft_store *store, u64 offset, void *buf, size_t count, bool write);
void soft_store_drop(struct soft_store *store);

#endif /* _VGPU_SOFT_STORE_H */
