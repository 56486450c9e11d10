// SPDX-License-Identifier: GPL-2.0
/*
 * Time of clients. A queue has many channels in its life, and each counts from 0 when it is
 * enabled. So what a channel has got is added when somebody asks, and for the last time when it is
 * disabled.
 */
#include <linux/slab.h>

#include "device.h"
#include "queue.h"
#include "time.h"

struct guest_time *guest_time_create(void)
{
	struct guest_time *time = kzalloc(sizeof(*time), GFP_KERNEL_ACCOUNT);

	if (time)
		kref_init(&time->ref);
	return time;
}

struct guest_time *guest_time_get(struct guest_time *time)
{
	kref_get(&time->ref);
	return time;
}

static void time_release(struct kref *ref)
{
	kfree(container_of(ref, struct guest_time, ref));
}

void guest_time_put(struct guest_time *time)
{
	kref_put(&time->ref, time_release);
}

void guest_time_take(struct guest_queue *queue)
{
	struct guest_dev *gdev = queue->gdev;
	u64 told_ns;

	lockdep_assert_held(&gdev->channel_lock);
	if (!queue->page || !guest_tells_usage(gdev))
		return;
	told_ns = readq(GUEST_PAGE_REG(queue, service_ns));
	/* The page is the host's: whatever it says, a client's time does not go back. */
	if (told_ns <= queue->told_ns)
		return;
	atomic64_add(told_ns - queue->told_ns, &queue->time->ns[queue->engine]);
	queue->told_ns = told_ns;
}
