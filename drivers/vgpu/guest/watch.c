// SPDX-License-Identifier: GPL-2.0
/*
 * What the device raises no interrupt for, looked for while queues have work: jobs that take too
 * long, a device that was reset by its host, one that is in quarantine; and interrupts that have
 * got lost.
 *
 * The time of a job is what its engine has worked on its channel: a job that waits for other
 * channels, or for other vGPUs, has not begun to take too long.
 */
#include <linux/ktime.h>

#include <drm/drm_managed.h>

#include "device.h"
#include "done.h"
#include "queue.h"

#define PERIOD	(HZ / 4)

/* A job is given up, too, when in so many times its limit nothing of it has moved. */
#define STALLS	10

/* Where the host does not tell what the engine has worked, time goes on all the time. */
static u64 watch_clock(struct guest_queue *queue)
{
	if (queue->gdev->hw_version < VGPU_HW_VERSION_1_3)
		return ktime_get_ns();
	return readq(GUEST_PAGE_REG(queue, service_ns));
}

/* Whether the queue has had no packet done for too long. The clock may be anything. */
static bool watch_is_over(struct guest_queue *queue, u64 get, bool fresh)
{
	struct guest_watch *watch = &queue->watch;
	long limit = queue->gdev->job_timeout;
	u64 clock = watch_clock(queue);
	unsigned long now = jiffies;

	if (fresh || get != watch->get || clock < watch->clock) {
		watch->get = get;
		watch->clock = clock;
		watch->begun = clock;
		watch->moved = now;
	} else if (clock != watch->clock) {
		watch->clock = clock;
		watch->moved = now;
	}
	return limit != MAX_SCHEDULE_TIMEOUT &&
	       (clock - watch->begun >= jiffies_to_nsecs(limit) ||
		(now - watch->moved) / STALLS >= limit);
}

/**
 * struct watch_seen - a queue at one look
 * @get:   how far the device says it is
 * @done:  seqno of the first job in the ring, if the device has done it; else 0
 * @fresh: a job was put into the empty ring since the last look
 */
struct watch_seen {
	u64 get;
	u64 done;
	bool fresh;
};

/* Whether jobs of the queue are in the ring. */
static bool watch_busy(struct guest_queue *queue, struct watch_seen *seen)
{
	struct guest_fence *first;
	bool busy, wrong;

	spin_lock_irq(&queue->lock);
	first = list_first_entry_or_null(&queue->pending, struct guest_fence, link);
	busy = !queue->error && first;
	seen->get = queue->base + readq(GUEST_PAGE_REG(queue, get));
	wrong = !queue->error &&
		(seen->get < queue->completed || seen->get > queue->submitted);
	seen->done = first && first->base.seqno <= seen->get ? first->base.seqno : 0;
	seen->fresh = queue->fresh;
	queue->fresh = false;
	spin_unlock_irq(&queue->lock);
	if (wrong)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_DEVICE);
	return busy;
}

/*
 * Whether a job was done a period ago, and no interrupt has told of it. One that has got lost costs
 * a job two periods, and no queue. That is all that the watch ever ends.
 */
static bool watch_is_late(struct guest_queue *queue, u64 done)
{
	struct guest_watch *watch = &queue->watch;

	if (done != watch->done) {
		watch->done = done;
		watch->seen = jiffies;
	}
	return done && time_after_eq(jiffies, watch->seen + queue->gdev->watch_period);
}

/* Returns whether the queue has work. @status: of the device. */
static bool watch_queue(struct guest_queue *queue, u32 status)
{
	struct guest_dev *gdev = queue->gdev;
	struct watch_seen seen;
	u32 state;

	lockdep_assert_held(&gdev->channel_mutex);
	if (!watch_busy(queue, &seen))
		return false;
	if (watch_is_late(queue, seen.done)) {
		WRITE_ONCE(gdev->late_jobs, gdev->late_jobs + 1);
		guest_queue_poll(queue);
	}
	state = readl(GUEST_PAGE_REG(queue, state));
	if (state == VGPU_HW_STATE_DISABLED && guest_dev_forgot(gdev))
		guest_dev_lost(gdev);
	else if (state == VGPU_HW_STATE_DISABLED || state == VGPU_HW_STATE_FAULTED)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_DEVICE);
	else if (status & VGPU_HW_STATUS_QUARANTINE)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_QUARANTINE);
	else if (watch_is_over(queue, seen.get, seen.fresh))
		guest_queue_lose(queue, DRM_VGPU_QUEUE_TIMEOUT);
	return true;
}

static void watch_look(struct work_struct *work)
{
	struct guest_dev *gdev = container_of(to_delayed_work(work), struct guest_dev, watch);
	bool cookie = dma_fence_begin_signalling(), busy = false;
	u32 status, i;
	int idx;

	if (drm_dev_enter(&gdev->drm, &idx)) {
		status = readl(guest_reg(gdev, VGPU_HW_STATUS));
		mutex_lock(&gdev->channel_mutex);
		for (i = 0; i < gdev->channels && !gdev->lost; i++)
			if (gdev->channel[i])
				busy |= watch_queue(gdev->channel[i], status);
		mutex_unlock(&gdev->channel_mutex);
		drm_dev_exit(idx);
	}
	if (busy)
		guest_watch_begin(gdev, false);
	dma_fence_end_signalling(cookie);
}

/* The device's memory stays until the last queue has gone. */
static void watch_fini(struct drm_device *drm, void *res)
{
	cancel_delayed_work_sync(&to_guest_dev(drm)->watch);
}

int guest_watch_init(struct guest_dev *gdev)
{
	/* A tenth of the limit is late enough for who has set a short one. */
	gdev->watch_period = clamp(gdev->job_timeout / 10, 1, PERIOD);
	INIT_DELAYED_WORK(&gdev->watch, watch_look);
	return drmm_add_action_or_reset(&gdev->drm, watch_fini, NULL);
}
