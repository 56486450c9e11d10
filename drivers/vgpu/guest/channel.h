/* SPDX-License-Identifier: GPL-2.0 */
/* Which queue has which channel: there may be more queues than channels. */
#ifndef _VGPU_GUEST_CHANNEL_H
#define _VGPU_GUEST_CHANNEL_H

#include <linux/types.h>

struct dma_fence;
struct guest_dev;
struct guest_fault;
struct guest_fence;
struct guest_queue;

#define GUEST_NO_CHANNEL	(~0u)

int guest_channel_init(struct guest_dev *gdev);

/*
 * Gives the queue a channel for one job, and keeps it there until guest_queue_write(); NULL then,
 * and also if the queue is stopped. Else a fence that is signalled when it has one; that is @*wait,
 * which is NULL then. The device is there (drm_dev_enter()).
 */
struct dma_fence *guest_channel_claim(struct guest_queue *queue, struct guest_fence **wait);

/*
 * Waits for no channel any more, and disables the one that the queue has. Returns whether it has
 * faulted, and how. @there: the device is (drm_dev_enter()).
 */
bool guest_channel_stop(struct guest_queue *queue, struct guest_fault *fault, bool there);

/*
 * Takes the channels of all queues, and gives them none until guest_channel_return_all(), when they
 * go on. -EBUSY if one has jobs in its ring, or waits for a channel: all is as it was then.
 */
int guest_channel_leave_all(struct guest_dev *gdev);
void guest_channel_return_all(struct guest_dev *gdev);

/* Takes the channel of a queue that goes. */
void guest_channel_release(struct guest_queue *queue);

/* Has idle channels given to those who wait. In any context. */
void guest_channel_kick(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_CHANNEL_H */
