// SPDX-License-Identifier: GPL-2.0
/*
 * What the monitor shows is in buffers that are pinned for as long as it may show them; and when
 * such a buffer is freed, its place is not. A PRESENT that is done shows its surface, and no longer
 * those of PRESENTs that were done when it began. Which of two has come first that have overlapped,
 * nobody tells, so both stay; jobs of one queue do not overlap. Of a job that has failed its
 * packets tell whether it has shown anything.
 */
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/ttm/ttm_placement.h>

#include "bo.h"
#include "device.h"
#include "done.h"
#include "man.h"
#include "queue.h"
#include "shown.h"

/* Between two looks at what was locked, in jiffies. */
#define AGAIN	(HZ / 20 ?: 1)

/**
 * struct guest_spot - a place in the framebuffer that the monitor may show
 * @link:   in &struct guest_shown.spots
 * @shows:  how many struct guest_show have it; 0: it is to be freed
 * @bo:     the buffer that lies there, pinned; NULL: it was freed, or saved
 * @blocks: then, the place
 */
struct guest_spot {
	struct list_head link;
	u32 shows;
	struct guest_bo *bo;
	struct list_head blocks;
};

/**
 * struct guest_show - what a job shows
 * @link:    in &struct guest_shown.shows
 * @gdev:    the device
 * @queue:   of the job, until that has ended
 * @context: of its fences, by which it is known then
 * @behind:  packets from the first PRESENT to the job's end
 * @signals: that PRESENT writes a signal: it may show, and fault then
 * @begun:   when it was put into the ring, by &struct guest_shown.clock; 0: not yet
 * @ended:   when it has ended; 0: not yet
 * @over:    it shows nothing, or no more: it is to be freed
 * @cb:      at the job's fence
 * @nr:      elements of @spot
 * @spot:    where its surfaces are
 */
struct guest_show {
	struct list_head link;
	struct guest_dev *gdev;
	struct guest_queue *queue;
	u64 context;
	u32 behind;
	bool signals;
	u64 begun;
	u64 ended;
	bool over;
	struct dma_fence_cb cb;
	u32 nr;
	struct guest_spot *spot[] __counted_by(nr);
};

/* What is pinned leaves TTM's order, and its VM's other buffers do not: it is alone there. */
static void bo_pin(struct guest_bo *bo)
{
	guest_fb_stay(to_guest_dev(bo->tbo.base.dev),
		      &to_guest_resource(bo->tbo.resource)->blocks, true);
	ttm_bo_set_bulk_move(&bo->tbo, NULL);
	ttm_bo_pin(&bo->tbo);
	ttm_bo_move_to_lru_tail_unlocked(&bo->tbo);
}

static void bo_unpin(struct guest_bo *bo)
{
	guest_fb_stay(to_guest_dev(bo->tbo.base.dev),
		      &to_guest_resource(bo->tbo.resource)->blocks, false);
	ttm_bo_unpin(&bo->tbo);
	ttm_bo_move_to_lru_tail_unlocked(&bo->tbo);
	if (bo->shared)
		ttm_bo_set_bulk_move(&bo->tbo, &bo->shared->lru);
}

/* Of a buffer in the framebuffer, whose reservation is held. NULL: no memory. */
static struct guest_spot *spot_of(struct guest_shown *shown, struct guest_bo *bo)
{
	struct guest_spot *spot = bo->spot;

	if (spot)
		return spot;
	spot = kzalloc(sizeof(*spot), GFP_KERNEL_ACCOUNT);
	if (!spot)
		return NULL;
	INIT_LIST_HEAD(&spot->blocks);
	bo_pin(bo);
	spin_lock_irq(&shown->lock);
	spot->bo = bo;
	bo->spot = spot;
	list_add_tail(&spot->link, &shown->spots);
	spin_unlock_irq(&shown->lock);
	return spot;
}

/* The buffer lies there no more, but the place is shown. The reservation is held. */
static void spot_leave(struct guest_shown *shown, struct guest_bo *bo, struct list_head *blocks)
{
	spin_lock_irq(&shown->lock);
	list_splice_init(blocks, &bo->spot->blocks);
	bo->spot->bo = NULL;
	bo->spot = NULL;
	spin_unlock_irq(&shown->lock);
}

struct guest_show *guest_show_create(struct guest_job *job, u32 first, struct list_head *bos)
{
	struct guest_queue *queue = job->queue;
	struct guest_shown *shown = &queue->gdev->shown;
	size_t nr = list_count_nodes(bos);
	struct guest_show *show = kvzalloc(struct_size(show, spot, nr), GFP_KERNEL_ACCOUNT);
	struct guest_spot *spot = NULL;
	struct guest_bo *bo, *next;
	bool failed = !show;

	if (show)
		show->nr = nr;
	nr = 0;
	list_for_each_entry_safe(bo, next, bos, show_link) {
		list_del_init(&bo->show_link);
		spot = failed ? NULL : spot_of(shown, bo);
		failed |= !spot;
		if (failed)
			continue;
		spin_lock_irq(&shown->lock);
		spot->shows++;
		spin_unlock_irq(&shown->lock);
		show->spot[nr++] = spot;
	}
	if (!show)
		return NULL;
	show->nr = nr;
	show->gdev = queue->gdev;
	show->queue = queue;
	show->context = queue->fence_context;
	show->behind = job->nr - first;
	show->signals = job->packet[first].flags & VGPU_HW_PKT_SIGNAL;
	spin_lock_irq(&shown->lock);
	list_add_tail(&show->link, &shown->shows);
	spin_unlock_irq(&shown->lock);
	if (!failed)
		return show;
	guest_show_drop(show);
	return NULL;
}

void guest_show_begin(struct guest_show *show)
{
	struct guest_shown *shown = &show->gdev->shown;

	spin_lock_irq(&shown->lock);
	show->begun = ++shown->clock;
	spin_unlock_irq(&shown->lock);
}

static void shown_kick(struct guest_shown *shown)
{
	mod_delayed_work(guest_stop_wq, &shown->work, 0);
}

void guest_show_drop(struct guest_show *show)
{
	struct guest_shown *shown;
	unsigned long flags;

	if (!show)
		return;
	shown = &show->gdev->shown;
	spin_lock_irqsave(&shown->lock, flags);
	show->over = true;
	shown_kick(shown);
	spin_unlock_irqrestore(&shown->lock, flags);
}

/* What was done before is shown no longer. */
static void show_replaces(struct guest_show *show)
{
	struct guest_show *other;

	list_for_each_entry(other, &show->gdev->shown.shows, link) {
		if (!other->ended)
			break;
		if (other != show &&
		    (other->ended < show->begun || other->context == show->context))
			other->over = true;
	}
}

static void show_ended(struct guest_show *show, struct dma_fence *fence)
{
	struct guest_shown *shown = &show->gdev->shown;
	u64 present = fence->seqno - show->behind, completed;
	unsigned long flags;

	spin_lock_irqsave(&show->queue->lock, flags);
	completed = show->queue->completed;
	spin_unlock_irqrestore(&show->queue->lock, flags);
	spin_lock_irqsave(&shown->lock, flags);
	show->ended = ++shown->clock;
	list_move(&show->link, &shown->shows);
	if (show->begun < shown->forgot)
		show->over = true;
	else if (completed > present)
		show_replaces(show);
	else if (completed < present || !show->signals)
		show->over = true;
	shown_kick(shown);
	spin_unlock_irqrestore(&shown->lock, flags);
}

static void show_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	show_ended(container_of(cb, struct guest_show, cb), fence);
}

/* Who waits for the job is told after this: it ends here before anything begins that waits. */
void guest_show_follow(struct guest_show *show, struct guest_fence *fence)
{
	if (dma_fence_add_callback(&fence->base, &show->cb, show_signalled))
		show_ended(show, &fence->base);
}

/* The next one of the list, NULL at its end. The mutex is held, so none is freed. */
static struct guest_spot *spot_next(struct guest_shown *shown, struct guest_spot *spot)
{
	struct list_head *next;

	lockdep_assert_held(&shown->mutex);
	spin_lock_irq(&shown->lock);
	next = spot ? spot->link.next : shown->spots.next;
	spin_unlock_irq(&shown->lock);
	return next == &shown->spots ? NULL : list_entry(next, struct guest_spot, link);
}

/* The spot's buffer, with a reference; NULL: there is none, or it is (or is to be) in @leaving. */
static struct guest_bo *spot_bo(struct guest_shown *shown, struct guest_spot *spot)
{
	struct guest_bo *bo;

	spin_lock_irq(&shown->lock);
	bo = spot->bo;
	if (bo && !kref_get_unless_zero(&bo->tbo.base.refcount))
		bo = NULL;
	spin_unlock_irq(&shown->lock);
	return bo;
}

/*
 * Has a buffer stay no longer, unless another job has begun to show it. Returns false if somebody
 * has locked it: all others need not wait for that.
 */
static bool spot_let_go(struct guest_shown *shown, struct guest_spot *spot)
{
	struct guest_bo *bo = spot_bo(shown, spot);
	bool locked, unused = false;
	LIST_HEAD(none);

	if (!bo)
		return true;
	locked = dma_resv_trylock(bo->tbo.base.resv);
	if (!locked)
		goto out;
	spin_lock_irq(&shown->lock);
	unused = !spot->shows && spot->bo;
	spin_unlock_irq(&shown->lock);
	if (unused) {
		spot_leave(shown, bo, &none);
		bo_unpin(bo);
	}
	dma_resv_unlock(bo->tbo.base.resv);
out:
	drm_gem_object_put(&bo->tbo.base);
	return locked;
}

/* Frees a buffer, but not its place. Returns false if somebody has locked it. */
static bool release_bo(struct guest_shown *shown, struct guest_bo *bo)
{
	if (!dma_resv_trylock(bo->tbo.base.resv))
		return false;
	spot_leave(shown, bo, &to_guest_resource(bo->tbo.resource)->blocks);
	bo_unpin(bo);
	ttm_bo_set_bulk_move(&bo->tbo, NULL);
	dma_resv_unlock(bo->tbo.base.resv);
	ttm_bo_fini(&bo->tbo);
	return true;
}

static bool release_bos(struct guest_shown *shown)
{
	struct guest_bo *bo, *next;
	LIST_HEAD(locked);
	LIST_HEAD(all);
	bool done;

	spin_lock_irq(&shown->lock);
	list_splice_init(&shown->leaving, &all);
	spin_unlock_irq(&shown->lock);
	list_for_each_entry_safe(bo, next, &all, show_link)
		if (!release_bo(shown, bo))
			list_move(&bo->show_link, &locked);
	done = list_empty(&locked);
	spin_lock_irq(&shown->lock);
	list_splice(&locked, &shown->leaving);
	spin_unlock_irq(&shown->lock);
	return done;
}

static bool free_spots(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	struct guest_spot *spot, *next;
	LIST_HEAD(unused);
	bool done = true;

	for (spot = spot_next(shown, NULL); spot; spot = spot_next(shown, spot))
		if (!READ_ONCE(spot->shows))
			done &= spot_let_go(shown, spot);
	spin_lock_irq(&shown->lock);
	list_for_each_entry_safe(spot, next, &shown->spots, link)
		if (!spot->shows && !spot->bo)
			list_move(&spot->link, &unused);
	spin_unlock_irq(&shown->lock);
	list_for_each_entry_safe(spot, next, &unused, link) {
		guest_fb_free(gdev, &spot->blocks);
		kfree(spot);
	}
	return done;
}

/* Returns whether there is nothing more to be freed now. */
static bool shown_pass(struct guest_shown *shown)
{
	struct guest_show *show, *next;
	LIST_HEAD(over);
	bool done;
	u32 i;

	mutex_lock(&shown->mutex);
	spin_lock_irq(&shown->lock);
	list_for_each_entry_safe(show, next, &shown->shows, link) {
		if (!show->over)
			continue;
		list_move(&show->link, &over);
		for (i = 0; i < show->nr; i++)
			show->spot[i]->shows--;
	}
	spin_unlock_irq(&shown->lock);
	list_for_each_entry_safe(show, next, &over, link)
		kvfree(show);
	done = release_bos(shown);
	done &= free_spots(container_of(shown, struct guest_dev, shown));
	mutex_unlock(&shown->mutex);
	return done;
}

static void shown_work(struct work_struct *work)
{
	struct guest_shown *shown = container_of(to_delayed_work(work), struct guest_shown, work);

	if (!shown_pass(shown))
		mod_delayed_work(guest_stop_wq, &shown->work, AGAIN);
}

void guest_shown_flush(struct guest_dev *gdev)
{
	flush_delayed_work(&gdev->shown.work);
}

void guest_shown_forget(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	struct guest_show *show;
	unsigned long flags;

	spin_lock_irqsave(&shown->lock, flags);
	list_for_each_entry(show, &shown->shows, link)
		if (show->ended)
			show->over = true;
	shown->forgot = ++shown->clock;
	shown_kick(shown);
	spin_unlock_irqrestore(&shown->lock, flags);
}

void guest_shown_release(struct guest_bo *bo)
{
	struct guest_shown *shown = &to_guest_dev(bo->tbo.base.dev)->shown;

	/* Without a reference nobody else changes it, and it is in no other list. */
	spin_lock_irq(&shown->lock);
	list_add_tail(&bo->show_link, &shown->leaving);
	spin_unlock_irq(&shown->lock);
	shown_kick(shown);
}

u64 guest_shown_bytes(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	struct guest_spot *spot;
	u64 bytes = 0;

	spin_lock_irq(&shown->lock);
	list_for_each_entry(spot, &shown->spots, link)
		bytes += spot->bo ? guest_bo_bytes(spot->bo) : 0;
	spin_unlock_irq(&shown->lock);
	return bytes;
}

/* The place does not become free with the move. */
static int save_bo(struct guest_shown *shown, struct guest_bo *bo)
{
	static const struct ttm_place system = { .mem_type = TTM_PL_TT };
	struct ttm_placement placement = { .num_placement = 1, .placement = &system };
	struct ttm_operation_ctx ctx = {};
	LIST_HEAD(blocks);
	int ret;

	list_splice_init(&to_guest_resource(bo->tbo.resource)->blocks, &blocks);
	bo_unpin(bo);
	ret = ttm_bo_validate(&bo->tbo, &placement, &ctx);
	if (ret) {
		list_splice(&blocks, &to_guest_resource(bo->tbo.resource)->blocks);
		bo_pin(bo);
	} else {
		spot_leave(shown, bo, &blocks);
	}
	return ret;
}

int guest_shown_save(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	struct guest_spot *spot = NULL;
	struct guest_bo *bo;
	int ret = 0;

	mutex_lock(&shown->mutex);
	WRITE_ONCE(gdev->saving, true);
	while (!ret && (spot = spot_next(shown, spot))) {
		bo = spot_bo(shown, spot);
		if (!bo)
			continue;
		dma_resv_lock(bo->tbo.base.resv, NULL);
		if (bo->spot)
			ret = save_bo(shown, bo);
		dma_resv_unlock(bo->tbo.base.resv);
		drm_gem_object_put(&bo->tbo.base);
	}
	WRITE_ONCE(gdev->saving, false);
	mutex_unlock(&shown->mutex);
	return ret;
}

/* All jobs have ended, and with them all who begin the work. */
static void shown_fini(struct drm_device *drm, void *res)
{
	struct guest_dev *gdev = to_guest_dev(drm);

	guest_shown_forget(gdev);
	/* Who has brought the device's end is perhaps a worker, of guest_wq. */
	cancel_delayed_work_sync(&gdev->shown.work);
	while (!shown_pass(&gdev->shown))
		cond_resched();
}

int guest_shown_init(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	int ret;

	ret = drmm_mutex_init(&gdev->drm, &shown->mutex);
	if (ret)
		return ret;
	spin_lock_init(&shown->lock);
	INIT_LIST_HEAD(&shown->shows);
	INIT_LIST_HEAD(&shown->spots);
	INIT_LIST_HEAD(&shown->leaving);
	INIT_DELAYED_WORK(&shown->work, shown_work);
	return drmm_add_action_or_reset(&gdev->drm, shown_fini, NULL);
}
