// SPDX-License-Identifier: GPL-2.0
/*
 * Which queue has which channel. A queue gets one with its next job: one that nobody has, or that
 * of the idle queue that has not used it for the longest time. If there is none it waits. Next is a
 * queue of the process with the fewest channels at work: so one with a thousand queues holds up
 * nobody for longer than a job. Of these it is who has waited longest, where those of a lower
 * priority count as having come later than they did: so each one's time comes. While others wait, a
 * queue that has had its turn waits, too, with its next job, if they come before it.
 */
#include <drm/drm_managed.h>

#include "channel.h"
#include "device.h"
#include "done.h"
#include "queue.h"
#include "time.h"
#include "vm.h"

/* A queue that always has work gives way to those who wait after this time. */
#define TURN	msecs_to_jiffies(20)

/* How much later those of a lower priority count as having come. */
static const unsigned long channel_patience[] = {
	[DRM_VGPU_PRIORITY_HIGH - DRM_VGPU_PRIORITY_LOW] = 0,
	[DRM_VGPU_PRIORITY_NORMAL - DRM_VGPU_PRIORITY_LOW] = HZ / 4,
	[DRM_VGPU_PRIORITY_LOW - DRM_VGPU_PRIORITY_LOW] = HZ,
};

/*
 * Looks without the lock. That misses nobody: who begins to wait calls this after that, and the
 * work looks at each queue under its lock, so it finds idle what has become so before.
 */
void guest_channel_kick(struct guest_dev *gdev)
{
	if (!list_empty(&gdev->waiting))
		queue_work(guest_stop_wq, &gdev->hand_on);
}

static void write_ctrl(struct guest_queue *queue, u32 ctrl)
{
	writel(ctrl, guest_chan_reg(queue->gdev, queue->channel, VGPU_HW_CHAN_CTRL));
}

static void channel_disable(struct guest_queue *queue)
{
	struct guest_dev *gdev = queue->gdev;

	write_ctrl(queue, 0);
	/* The write has come to its end, and with it the work of the engine. */
	readl(guest_chan_reg(gdev, queue->channel, VGPU_HW_CHAN_CTRL));
	spin_lock_irq(&gdev->channel_lock);
	guest_time_take(queue);
	spin_unlock_irq(&gdev->channel_lock);
}

static void channel_detach(struct guest_queue *queue, bool there)
{
	struct guest_dev *gdev = queue->gdev;

	if (there) {
		channel_disable(queue);
		/* Whoever gets the channel next finds it as after a reset. */
		writel(0, guest_chan_reg(gdev, queue->channel, VGPU_HW_CHAN_ROOT));
	}
	spin_lock_irq(&gdev->channel_lock);
	gdev->channel[queue->channel] = NULL;
	queue->page = NULL;
	spin_unlock_irq(&gdev->channel_lock);
	queue->channel = GUEST_NO_CHANNEL;
}

static void channel_attach(struct guest_queue *queue, u32 channel)
{
	struct guest_dev *gdev = queue->gdev;
	u8 __iomem *page = gdev->pages + channel * VGPU_HW_PAGE_SIZE;

	guest_label_write(gdev, channel, &queue->label);
	writeq(0, page + offsetof(struct vgpu_hw_channel, put));
	writeq(queue->ring_va, guest_chan_reg(gdev, channel, VGPU_HW_CHAN_RING));
	writel(guest_vm_root(queue->vm), guest_chan_reg(gdev, channel, VGPU_HW_CHAN_ROOT));
	queue->channel = channel;
	queue->vector = guest_irq_vector(gdev, channel);
	queue->base = queue->submitted;
	write_ctrl(queue, VGPU_HW_CTRL_ENABLE | queue->engine << VGPU_HW_CTRL_ENGINE_SHIFT |
		   queue->order << VGPU_HW_CTRL_ORDER_SHIFT);
	queue->since = jiffies;
	spin_lock_irq(&gdev->channel_lock);
	queue->page = page;
	queue->told_ns = 0;
	gdev->channel[channel] = queue;
	spin_unlock_irq(&gdev->channel_lock);
}

static bool queue_idle(struct guest_queue *queue)
{
	bool idle;

	spin_lock_irq(&queue->lock);
	idle = !queue->claimed && (queue->halted || queue->submitted == queue->completed);
	spin_unlock_irq(&queue->lock);
	return idle;
}

/* Gives the queue a channel that is free or idle, if there is one. */
static bool channel_find(struct guest_queue *queue)
{
	struct guest_dev *gdev = queue->gdev;
	struct guest_queue *owner, *oldest = NULL;
	u32 i;

	if (guest_dev_forgot(gdev)) {
		guest_dev_lost(gdev);
		return false;
	}
	for (i = 0; i < gdev->channels; i++) {
		owner = gdev->channel[i];
		if (!owner) {
			channel_attach(queue, i);
			return true;
		}
		if ((!oldest || owner->used < oldest->used) && queue_idle(owner))
			oldest = owner;
	}
	if (!oldest)
		return false;
	i = oldest->channel;
	channel_detach(oldest, true);
	channel_attach(queue, i);
	return true;
}

static void channel_claimed(struct guest_queue *queue)
{
	queue->used = ++queue->gdev->uses;
	spin_lock_irq(&queue->lock);
	queue->claimed = true;
	spin_unlock_irq(&queue->lock);
}

/* If the queue began to wait now: those that come before it are before that time. */
static unsigned long turn_comes(const struct guest_queue *queue)
{
	return jiffies + channel_patience[queue->priority - DRM_VGPU_PRIORITY_LOW];
}

static bool same_process(const struct guest_queue *a, const struct guest_queue *b)
{
	return a->label.pid == b->label.pid;
}

/* Channels that other queues of the same process have, and work with. */
static unsigned int process_has(const struct guest_queue *queue)
{
	struct guest_dev *gdev = queue->gdev;
	struct guest_queue *other;
	unsigned int nr = 0;
	u32 i;

	for (i = 0; i < gdev->channels; i++) {
		other = gdev->channel[i];
		if (other && other != queue && same_process(other, queue) && !queue_idle(other))
			nr++;
	}
	return nr;
}

/* Who is next of those that wait, or NULL. *@has: of process_has() */
static struct guest_queue *wait_next(struct guest_dev *gdev, unsigned int *has)
{
	struct guest_queue *queue, *last = NULL, *next = NULL;
	unsigned int nr;

	list_for_each_entry(queue, &gdev->waiting, waiting) {
		/* The one before it is of the same process, and comes first. */
		if (last && same_process(last, queue))
			continue;
		last = queue;
		nr = process_has(queue);
		if (!next || nr < *has) {
			next = queue;
			*has = nr;
		}
		if (!nr)
			break;
	}
	return next;
}

/* Whether the queue may use the channel that it has, or one can be had before anybody waits. */
static bool may_claim(struct guest_queue *queue)
{
	struct guest_dev *gdev = queue->gdev;
	unsigned int next_has, has;
	struct guest_queue *next;

	if (gdev->lost)
		return false;
	if (queue->channel == GUEST_NO_CHANNEL)
		return list_empty(&gdev->waiting) && channel_find(queue);
	if (list_empty(&gdev->waiting) || time_before(jiffies, queue->since + TURN))
		return true;
	next = wait_next(gdev, &next_has);
	has = process_has(queue);
	if (!same_process(queue, next) && has != next_has)
		return has < next_has;
	return time_before(turn_comes(queue), next->turn);
}

/* Lets the queue wait in its place. */
static void wait_begin(struct guest_queue *queue)
{
	struct guest_queue *before;

	queue->turn = turn_comes(queue);
	list_for_each_entry_reverse(before, &queue->gdev->waiting, waiting)
		if (time_before_eq(before->turn, queue->turn))
			break;
	list_add(&queue->waiting, &before->waiting);
}

struct dma_fence *guest_channel_claim(struct guest_queue *queue, struct guest_fence **wait)
{
	struct guest_dev *gdev = queue->gdev;
	struct dma_fence *fence = NULL;

	mutex_lock(&gdev->channel_mutex);
	if (READ_ONCE(queue->error) || queue->claimed) {
		/* It ends, or has waited. */
	} else if (may_claim(queue)) {
		channel_claimed(queue);
	} else {
		guest_fence_init(*wait, queue->fence_context + 2, ++queue->waits);
		fence = dma_fence_get(&(*wait)->base);
		queue->wait = *wait;
		*wait = NULL;
		wait_begin(queue);
		/* A channel may have become idle since the look at it. */
		guest_channel_kick(gdev);
	}
	mutex_unlock(&gdev->channel_mutex);
	return fence;
}

static void wait_end(struct guest_queue *queue)
{
	list_del_init(&queue->waiting);
	dma_fence_signal(&queue->wait->base);
	dma_fence_put(&queue->wait->base);
	queue->wait = NULL;
}

static void channel_hand_on(struct work_struct *work)
{
	struct guest_dev *gdev = container_of(work, struct guest_dev, hand_on);
	bool cookie = dma_fence_begin_signalling();
	struct guest_queue *queue;
	unsigned int has;
	int idx;

	/* When the device is gone, all queues are stopped, and wait no longer. */
	if (drm_dev_enter(&gdev->drm, &idx)) {
		mutex_lock(&gdev->channel_mutex);
		while (!gdev->lost && (queue = wait_next(gdev, &has))) {
			if (queue->channel == GUEST_NO_CHANNEL && !channel_find(queue))
				break;
			queue->since = jiffies;
			channel_claimed(queue);
			wait_end(queue);
		}
		mutex_unlock(&gdev->channel_mutex);
		drm_dev_exit(idx);
	}
	dma_fence_end_signalling(cookie);
}

static void read_fault(struct guest_queue *queue, struct guest_fault *fault)
{
	unsigned int i;

	fault->code = readl(GUEST_PAGE_REG(queue, fault_code));
	fault->packet = queue->base + readq(GUEST_PAGE_REG(queue, fault_pos));
	fault->addr = readq(GUEST_PAGE_REG(queue, fault_addr));
	fault->pc = readq(GUEST_PAGE_REG(queue, fault_pc));
	for (i = 0; i < ARRAY_SIZE(fault->id); i++)
		fault->id[i] = readl(GUEST_PAGE_REG(queue, fault_id) + i * sizeof(fault->id[i]));
}

bool guest_channel_stop(struct guest_queue *queue, struct guest_fault *fault, bool there)
{
	struct guest_dev *gdev = queue->gdev;
	bool faulted = false;
	u32 state;

	mutex_lock(&gdev->channel_mutex);
	if (queue->wait)
		wait_end(queue);
	if (there && queue->channel != GUEST_NO_CHANNEL) {
		state = readl(GUEST_PAGE_REG(queue, state));
		faulted = state == VGPU_HW_STATE_FAULTED;
		if (faulted)
			read_fault(queue, fault);
		else if (state == VGPU_HW_STATE_DISABLED && guest_dev_forgot(gdev))
			guest_dev_lost(gdev);
		channel_disable(queue);
	}
	mutex_unlock(&gdev->channel_mutex);
	return faulted;
}

int guest_channel_leave_all(struct guest_dev *gdev)
{
	bool busy;
	u32 i;

	mutex_lock(&gdev->channel_mutex);
	busy = !list_empty(&gdev->waiting);
	for (i = 0; i < gdev->channels; i++)
		busy |= gdev->channel[i] && !queue_idle(gdev->channel[i]);
	for (i = 0; !busy && i < gdev->channels; i++)
		if (gdev->channel[i])
			channel_detach(gdev->channel[i], true);
	gdev->lost |= !busy;
	mutex_unlock(&gdev->channel_mutex);
	return busy ? -EBUSY : 0;
}

void guest_channel_return_all(struct guest_dev *gdev)
{
	mutex_lock(&gdev->channel_mutex);
	gdev->lost = false;
	guest_channel_kick(gdev);
	mutex_unlock(&gdev->channel_mutex);
}

void guest_channel_release(struct guest_queue *queue)
{
	struct guest_dev *gdev = queue->gdev;
	bool there;
	int idx;

	there = drm_dev_enter(&gdev->drm, &idx);
	mutex_lock(&gdev->channel_mutex);
	list_del(&queue->link);
	if (queue->channel != GUEST_NO_CHANNEL)
		channel_detach(queue, there);
	guest_channel_kick(gdev);
	mutex_unlock(&gdev->channel_mutex);
	if (there)
		drm_dev_exit(idx);
}

/* The device's memory stays until the last queue has gone, and with it the last who waits. */
static void channel_fini(struct drm_device *drm, void *res)
{
	cancel_work_sync(&to_guest_dev(drm)->hand_on);
}

int guest_channel_init(struct guest_dev *gdev)
{
	int ret;

	ret = drmm_mutex_init(&gdev->drm, &gdev->channel_mutex);
	if (ret)
		return ret;
	INIT_LIST_HEAD(&gdev->queues);
	INIT_LIST_HEAD(&gdev->waiting);
	INIT_WORK(&gdev->hand_on, channel_hand_on);
	return drmm_add_action_or_reset(&gdev->drm, channel_fini, NULL);
}
