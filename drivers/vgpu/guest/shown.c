// SPDX-License-Identifier: GPL-2.0
/*
 * What the monitor shows is in buffers that are pinned, and kept, for as long as it may show them.
 * A PRESENT that is done shows its surface, and no longer any of PRESENTs that were done when it
 * began. Which of two came first that have overlapped, nobody tells, so both stay; jobs of a queue
 * do not overlap. Of a job that has failed its packets tell whether it has shown anything.
 */
#include <linux/slab.h>

#include <drm/drm_managed.h>
#include <drm/ttm/ttm_placement.h>

#include "bo.h"
#include "device.h"
#include "done.h"
#include "evict.h"
#include "man.h"
#include "queue.h"
#include "shown.h"

/**
 * struct guest_show - what a job shows
 * @link:    in &struct guest_shown.shows
 * @gdev:    the device
 * @queue:   of the job, until that has ended; and by what it is known then
 * @context: of its fences
 * @behind:  packets from the first PRESENT to the job's end
 * @signals: that PRESENT writes a signal: it may show, and fault then
 * @begun:   when it was put into the ring, by &struct guest_shown.clock; 0: not yet
 * @ended:   when it has ended; 0: not yet
 * @over:    it shows nothing, or no more: it is to be freed
 * @cb:      at the job's fence
 * @blocks:  framebuffer that buffers had before they were saved
 * @nr:      elements of @bo
 * @bo:      buffers, with a reference each, and pinned; NULL: one that was saved
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
	struct list_head blocks;
	u32 nr;
	struct guest_bo *bo[] __counted_by(nr);
};

/* Alone in TTM's order: what is pinned leaves it, and its VM's others do not. */
static void bo_pin(struct guest_bo *bo)
{
	ttm_bo_set_bulk_move(&bo->tbo, NULL);
	ttm_bo_pin(&bo->tbo);
	ttm_bo_move_to_lru_tail_unlocked(&bo->tbo);
}

static void bo_unpin(struct guest_bo *bo)
{
	ttm_bo_unpin(&bo->tbo);
	if (bo->tbo.pin_count)
		return;
	ttm_bo_move_to_lru_tail_unlocked(&bo->tbo);
	if (bo->shared)
		ttm_bo_set_bulk_move(&bo->tbo, &bo->shared->lru);
}

static struct guest_show *show_alloc(struct guest_dev *gdev, size_t nr)
{
	struct guest_show *show = kvzalloc(struct_size(show, bo, nr), GFP_KERNEL_ACCOUNT);

	if (!show)
		return NULL;
	show->gdev = gdev;
	show->nr = nr;
	INIT_LIST_HEAD(&show->link);
	INIT_LIST_HEAD(&show->blocks);
	return show;
}

static void show_add(struct guest_show *show)
{
	struct guest_shown *shown = &show->gdev->shown;

	spin_lock_irq(&shown->lock);
	list_add_tail(&show->link, &shown->shows);
	spin_unlock_irq(&shown->lock);
}

struct guest_show *guest_show_create(struct guest_job *job, u32 first, struct list_head *bos)
{
	struct guest_queue *queue = job->queue;
	struct guest_show *show = show_alloc(queue->gdev, list_count_nodes(bos));
	struct guest_bo *bo, *next;
	u32 i = 0;

	list_for_each_entry_safe(bo, next, bos, show_link) {
		list_del_init(&bo->show_link);
		if (!show)
			continue;
		drm_gem_object_get(&bo->tbo.base);
		bo_pin(bo);
		show->bo[i++] = bo;
	}
	if (!show)
		return NULL;
	show->queue = queue;
	show->context = queue->fence_context;
	show->behind = job->nr - first;
	show->signals = job->packet[first].flags & VGPU_HW_PKT_SIGNAL;
	show_add(show);
	return show;
}

void guest_show_begin(struct guest_show *show)
{
	struct guest_shown *shown = &show->gdev->shown;

	spin_lock_irq(&shown->lock);
	show->begun = ++shown->clock;
	spin_unlock_irq(&shown->lock);
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
	queue_work(guest_wq, &shown->work);
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
	if (completed > present)
		show_replaces(show);
	else if (completed < present || !show->signals)
		show->over = true;
	queue_work(guest_wq, &shown->work);
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

static void show_free(struct guest_show *show)
{
	struct guest_bo *bo;
	u32 i;

	for (i = 0; i < show->nr; i++) {
		bo = show->bo[i];
		if (!bo)
			continue;
		dma_resv_lock(bo->tbo.base.resv, NULL);
		bo_unpin(bo);
		dma_resv_unlock(bo->tbo.base.resv);
		drm_gem_object_put(&bo->tbo.base);
	}
	guest_fb_free(show->gdev, &show->blocks);
	kvfree(show);
}

static void shown_work(struct work_struct *work)
{
	struct guest_shown *shown = container_of(work, struct guest_shown, work);
	struct guest_show *show, *next;
	LIST_HEAD(over);

	mutex_lock(&shown->mutex);
	spin_lock_irq(&shown->lock);
	list_for_each_entry_safe(show, next, &shown->shows, link)
		if (show->over)
			list_move(&show->link, &over);
	spin_unlock_irq(&shown->lock);
	list_for_each_entry_safe(show, next, &over, link)
		show_free(show);
	mutex_unlock(&shown->mutex);
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
	queue_work(guest_wq, &shown->work);
	spin_unlock_irqrestore(&shown->lock, flags);
}

/* The next one of the list, NULL at its end. The mutex is held, so none is freed. */
static struct guest_show *show_next(struct guest_shown *shown, struct guest_show *show)
{
	struct list_head *next;

	lockdep_assert_held(&shown->mutex);
	spin_lock_irq(&shown->lock);
	next = show ? show->link.next : shown->shows.next;
	spin_unlock_irq(&shown->lock);
	return next == &shown->shows ? NULL : list_entry(next, struct guest_show, link);
}

/* Calls @do_bo for each buffer, locked, until one fails. */
static int each_bo(struct guest_dev *gdev, int (*do_bo)(struct guest_bo **bo, void *data),
		   void *data)
{
	struct guest_show *show = NULL;
	struct guest_bo *bo;
	int ret = 0;
	u32 i;

	while (!ret && (show = show_next(&gdev->shown, show))) {
		for (i = 0; !ret && i < show->nr; i++) {
			bo = show->bo[i];
			if (!bo)
				continue;
			drm_gem_object_get(&bo->tbo.base);
			dma_resv_lock(bo->tbo.base.resv, NULL);
			ret = do_bo(&show->bo[i], data);
			dma_resv_unlock(bo->tbo.base.resv);
			drm_gem_object_put(&bo->tbo.base);
		}
	}
	return ret;
}

static bool bo_is_there(const struct guest_bo *bo)
{
	return bo->tbo.resource && bo->tbo.resource->mem_type == TTM_PL_VRAM;
}

void guest_shown_reserve(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	struct guest_show *show;
	struct guest_bo *bo;
	u64 bytes = 0;
	u32 i;

	spin_lock_irq(&shown->lock);
	list_for_each_entry(show, &shown->shows, link)
		for (i = 0; i < show->nr; i++)
			bytes += show->bo[i] ? guest_bo_bytes(show->bo[i]) : 0;
	spin_unlock_irq(&shown->lock);
	if (!bytes || shown->reserve)
		return;
	bo = guest_bo_create(gdev, bytes, DRM_VGPU_PLACEMENT_SYSTEM, 0, NULL);
	shown->reserve = IS_ERR(bo) ? NULL : bo;
}

void guest_shown_release(struct guest_dev *gdev)
{
	struct guest_bo *bo = gdev->shown.reserve;

	gdev->shown.reserve = NULL;
	if (bo)
		drm_gem_object_put(&bo->tbo.base);
}

static int let_go(struct guest_bo **bo, void *data)
{
	bo_unpin(*bo);
	return 0;
}

/* The other way round: one that was saved is not shown any more, but its old place is. */
static int hold_again(struct guest_bo **bo, void *data)
{
	if (bo_is_there(*bo)) {
		bo_pin(*bo);
	} else {
		drm_gem_object_put(&(*bo)->tbo.base);
		*bo = NULL;
	}
	return 0;
}

/* The place does not become free with the move. */
static int save_bo(struct guest_bo **bo, void *data)
{
	static const struct ttm_place system = { .mem_type = TTM_PL_TT };
	struct ttm_placement placement = { .num_placement = 1, .placement = &system };
	struct ttm_buffer_object *tbo = &(*bo)->tbo;
	struct ttm_operation_ctx ctx = {};
	struct guest_show *places = data;
	LIST_HEAD(blocks);
	int ret;

	if (!bo_is_there(*bo))
		return 0;
	list_splice_init(&to_guest_resource(tbo->resource)->blocks, &blocks);
	ret = ttm_bo_validate(tbo, &placement, &ctx);
	list_splice(&blocks, ret ? &to_guest_resource(tbo->resource)->blocks : &places->blocks);
	return ret;
}

int guest_shown_save(struct guest_dev *gdev)
{
	struct guest_shown *shown = &gdev->shown;
	struct guest_show *places = show_alloc(gdev, 0);
	int ret;

	if (!places)
		return -ENOMEM;
	mutex_lock(&shown->mutex);
	each_bo(gdev, let_go, NULL);
	WRITE_ONCE(gdev->saving, true);
	ret = each_bo(gdev, save_bo, places);
	WRITE_ONCE(gdev->saving, false);
	each_bo(gdev, hold_again, NULL);
	/* As if it were a job's, that has just ended. */
	spin_lock_irq(&shown->lock);
	places->ended = ++shown->clock;
	list_add(&places->link, &shown->shows);
	spin_unlock_irq(&shown->lock);
	mutex_unlock(&shown->mutex);
	/* Those that were let go of by others while the rest was evicted. */
	return ret ?: guest_evict_all(gdev);
}

/* All jobs have ended, and with them all who begin the work. */
static void shown_fini(struct drm_device *drm, void *res)
{
	struct guest_dev *gdev = to_guest_dev(drm);

	guest_shown_forget(gdev);
	flush_work(&gdev->shown.work);
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
	INIT_WORK(&shown->work, shown_work);
	return drmm_add_action_or_reset(&gdev->drm, shown_fini, NULL);
}
