// SPDX-License-Identifier: GPL-2.0
/*
 * A queue at work: packets go into its ring, jobs end, or the channel is stopped. The host writes
 * the channel's page: what is read there may be anything, and may change at any time.
 */
#include "bo.h"
#include "channel.h"
#include "device.h"
#include "done.h"
#include "queue.h"

static void queue_last_put(struct kref *ref)
{
	struct guest_queue *queue = container_of(ref, struct guest_queue, ref);

	queue_work(guest_wq, &queue->release);
}

void guest_queue_put(struct guest_queue *queue)
{
	kref_put(&queue->ref, queue_last_put);
}

void guest_queue_lose(struct guest_queue *queue, enum drm_vgpu_queue_state cause)
{
	/* The first cause counts. */
	cmpxchg(&queue->cause, DRM_VGPU_QUEUE_OK, cause);
	if (!kref_get_unless_zero(&queue->ref))
		return;
	if (!queue_work(guest_stop_wq, &queue->lost))
		guest_queue_put(queue);
}

static void end_fences(struct list_head *fences, int error)
{
	struct guest_fence *fence, *next;

	list_for_each_entry_safe(fence, next, fences, link) {
		list_del_init(&fence->link);
		if (error)
			dma_fence_set_error(&fence->base, error);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);
	}
}

void guest_queue_progress(struct guest_queue *queue)
{
	struct guest_fence *fence, *next;
	unsigned long flags;
	LIST_HEAD(done);
	bool wrong, idle;
	u64 get;

	spin_lock_irqsave(&queue->lock, flags);
	get = queue->base + readq(GUEST_PAGE_REG(queue, get));
	wrong = get < queue->completed || get > queue->submitted;
	if (!wrong)
		queue->completed = get;
	list_for_each_entry_safe(fence, next, &queue->pending, link) {
		if (fence->base.seqno > queue->completed)
			break;
		list_move_tail(&fence->link, &done);
	}
	wrong &= !queue->error;
	idle = queue->completed == queue->submitted;
	spin_unlock_irqrestore(&queue->lock, flags);
	end_fences(&done, 0);
	if (wrong)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_DEVICE);
	if (idle)
		guest_channel_kick(queue->gdev);
}

void guest_queue_poll(struct guest_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->gdev->channel_lock, flags);
	if (queue->page)
		guest_queue_progress(queue);
	spin_unlock_irqrestore(&queue->gdev->channel_lock, flags);
}

void guest_queue_look(struct guest_queue *queue)
{
	if (readl(GUEST_PAGE_REG(queue, state)) == VGPU_HW_STATE_FAULTED)
		guest_queue_lose(queue, DRM_VGPU_QUEUE_DEVICE);
}

void guest_queue_stop(struct guest_queue *queue, enum drm_vgpu_queue_state state, int error)
{
	struct guest_dev *gdev = queue->gdev;
	struct guest_fault fault = {};
	LIST_HEAD(fences);
	bool there;
	int idx;

	mutex_lock(&queue->stop_lock);
	if (queue->error)
		goto out;
	spin_lock_irq(&queue->lock);
	WRITE_ONCE(queue->error, error);
	spin_unlock_irq(&queue->lock);
	there = drm_dev_enter(&gdev->drm, &idx);
	if (guest_channel_stop(queue, &fault, there) && state)
		state = DRM_VGPU_QUEUE_FAULT;
	if (there) {
		guest_queue_poll(queue);
		drm_dev_exit(idx);
	}
	spin_lock_irq(&queue->lock);
	queue->state = state;
	queue->fault = fault;
	queue->halted = true;
	list_splice_init(&queue->pending, &fences);
	spin_unlock_irq(&queue->lock);
	end_fences(&fences, error);
	guest_channel_kick(gdev);
out:
	mutex_unlock(&queue->stop_lock);
}

/* What the packet at @index of the ring is in, for the CPU. */
static u8 __iomem *ring_at(struct guest_queue *queue, u64 index)
{
	u64 offset = (index & (BIT_ULL(queue->order) - 1)) * sizeof(struct vgpu_hw_packet), left;

	return queue->gdev->fb.cpu + guest_bo_addr(queue->ring, offset, &left);
}

/* Adds a job that is in the ring already, unless the queue is stopped. */
static int add_pending(struct guest_queue *queue, u32 nr, struct guest_fence *fence)
{
	int error;

	spin_lock_irq(&queue->lock);
	error = queue->error;
	if (!error) {
		queue->submitted += nr;
		guest_fence_init(fence, queue->fence_context, queue->submitted);
		dma_fence_get(&fence->base);
		queue->fresh |= list_empty(&queue->pending);
		list_add_tail(&fence->link, &queue->pending);
	}
	spin_unlock_irq(&queue->lock);
	return error;
}

/* See struct vgpu_hw_channel for the order of it all. */
int guest_queue_write(struct guest_queue *queue, struct vgpu_hw_packet *packet, u32 nr,
		      struct guest_fence *fence)
{
	struct guest_dev *gdev = queue->gdev;
	/* Without the lock: only this writes it, one job at a time. */
	u64 put = queue->submitted - queue->base;
	u32 i, state;
	int error;

	packet[nr - 1].vector = cpu_to_le16(queue->vector);
	for (i = 0; i < nr; i++)
		memcpy_toio(ring_at(queue, put + i), &packet[i], sizeof(*packet));
	error = add_pending(queue, nr, fence);
	if (!error) {
		wmb(); /* the device sees the packets before put */
		writeq(put + nr, GUEST_PAGE_REG(queue, put));
		mb(); /* put is stored before state is read */
		state = readl(GUEST_PAGE_REG(queue, state));
		if (state != VGPU_HW_STATE_AWAKE)
			writel(1, guest_chan_reg(gdev, queue->channel, VGPU_HW_CHAN_DOORBELL));
		/* A channel that the driver has enabled is disabled by a reset only. */
		guest_watch_begin(gdev, state == VGPU_HW_STATE_DISABLED);
	}
	spin_lock_irq(&queue->lock);
	queue->claimed = false;
	spin_unlock_irq(&queue->lock);
	/* It may have become idle meanwhile. */
	guest_channel_kick(gdev);
	if (error) {
		/* Jobs end in order: those before it do when the queue has stopped. */
		mutex_lock(&queue->stop_lock);
		mutex_unlock(&queue->stop_lock);
	}
	return error;
}
