// SPDX-License-Identifier: GPL-2.0
/*
 * What the device raises no interrupt for, looked for while queues have work: jobs that take too
 * long, a device that was reset by its host, one that is in quarantine.
 *
 * The time of a job is what its engine has worked on its channel: a job that waits for other
 * channels, or for other vGPUs, has not begun to take too long.
 */
#include <linux/ktime.h>

#include <drm/drm_managed.h>

#include "device.h"
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
static bool watch_is_over(struct guest_queue *queue, u64 completed, bool fresh)
{
	struct guest_watch *watch = &queue->watch;
	long limit = queue->gdev->job_timeout;
	u64 clock = watch_clock(queue);
	unsigned long now = jiffies;

	if (fresh || completed != watch->completed || clock < watch->clock) {
		*watch = (struct guest_watch){
			.completed = completed,
			.clock = clock,
			.begun = clock,
			.moved = now,
		};
	} else if (clock != watch->clock) {
		watch->clock = clock;
		watch->moved = now;
	}
	return limit != MAX_SCHEDULE_TIMEOUT &&
	       (clock - watch->begun >= jiffies_to_nsecs(limit) ||
		(now - watch->moved) / STALLS >= limit);
}

/* Whether jobs of the queue are in the ring, and how far they are. */
static bool watch_busy(struct guest_queue *queue, u64 *completed, bool *fresh)
{
	bool busy;

	spin_lock_irq(&queue->lock);
	busy = !queue->error && !list_empty(&queue->pending);
	*completed = queue->completed;
	*fresh = queue->fresh;
	queue->fresh = false;
	spin_unlock_irq(&queue->lock);
	return busy;
}

/* Returns whether the queue has work. @status: of the device. */
static bool watch_queue(struct guest_queue *queue, u32 status)
{
	struct guest_dev *gdev = queue->gdev;
	u64 completed;
	bool fresh;
	u32 state;

	lockdep_assert_held(&gdev->channel_mutex);
	/* An interrupt that is late, or has got lost, costs no queue. */
	guest_queue_poll(queue);
	if (!watch_busy(queue, &completed, &fresh))
		return false;
	state = readl(GUEST_PAGE_REG(queue, state));
	if (state == VGPU_HW_STATE_DISABLED && guest_dev_forgot(gdev))
		guest_dev_lost(gdev);
	else if (state == VGPU_HW_STATE_DISABLED || state == VGPU_HW_STATE_FAULTED)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_DEVICE);
	else if (status & VGPU_HW_STATUS_QUARANTINE)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_QUARANTINE);
	else if (watch_is_over(queue, completed, fresh))
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
