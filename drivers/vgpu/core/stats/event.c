// SPDX-License-Identifier: GPL-2.0
/*
 * The event stream of /dev/vgpu: one ring, and a position per reader. Code that reports an event
 * never waits for readers, and leaves it to workers to wake them; a reader that is too slow finds
 * gaps in seq.
 *
 * An open file can be watched by any number of epoll instances, and to wake it is to run them all,
 * with interrupts off. So each open file has a wait queue and a work item of its own: no other
 * reader, and no thread that opens, polls or closes the node, waits for that.
 */
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "../core.h"
#include "event_ring.h"

/* Size of a record in the ABI's first version, and of each record until a reader sets another. */
#define VGPU_EVENT_SIZE_1	96

/*
 * So many readers are woken at a time, on so many processors at most: of each NUMA node. Under
 * PREEMPT_RT the work item that wakes a reader waits for locks of the threads that poll it, and
 * such a thread may have been stopped while it held one. A work item that waits takes no processor,
 * and must not keep other readers waiting.
 */
#define VGPU_EVENT_WAKERS	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 256 : 4)

/**
 * struct vgpu_event_reader - an open file that events are read from
 * @link:     on vgpu_events_waiting or vgpu_events_waking, or empty: no thread waits; protected by
 *            vgpu_events_lock
 * @wait:     threads that read, and whatever polls the file
 * @wake:     wakes @wait
 * @lock:     held while a thread reads
 * @next_seq: the first event that has not been read; changed with vgpu_events_lock held, too
 * @size:     bytes of each record that is read
 */
struct vgpu_event_reader {
	struct list_head link;
	wait_queue_head_t wait;
	struct work_struct wake;
	struct mutex lock;	/* protects the fields below */
	u64 next_seq;
	u32 size;
};

/* Protects the ring with all its sources, and the lists of readers. */
static DEFINE_RAW_SPINLOCK(vgpu_events_lock);
static struct vgpu_event_ring vgpu_events;

/*
 * Readers that threads may wait on, and those of them that the last event has not woken yet.
 * There may be very many: the lock is given up after each.
 */
static LIST_HEAD(vgpu_events_waiting);
static LIST_HEAD(vgpu_events_waking);

static struct workqueue_struct *vgpu_events_wq;
static struct workqueue_struct *vgpu_readers_wq;

static void vgpu_event_wake(struct work_struct *work)
{
	struct vgpu_event_reader *reader = container_of(work, struct vgpu_event_reader, wake);

	wake_up_poll(&reader->wait, EPOLLIN | EPOLLRDNORM);
}

/* False if there is no reader left to be woken. */
static bool vgpu_event_wake_next(void)
{
	struct vgpu_event_reader *reader;

	raw_spin_lock(&vgpu_events_lock);
	reader = list_first_entry_or_null(&vgpu_events_waking, struct vgpu_event_reader, link);
	if (reader) {
		list_del_init(&reader->link);
		/* A thread that does not wait yet will look at the ring, with the lock held. */
		if (waitqueue_active(&reader->wait)) {
			list_add_tail(&reader->link, &vgpu_events_waiting);
			queue_work(vgpu_readers_wq, &reader->wake);
		}
	}
	raw_spin_unlock(&vgpu_events_lock);
	return reader;
}

static void vgpu_event_wake_all(struct work_struct *work)
{
	raw_spin_lock(&vgpu_events_lock);
	list_splice_tail_init(&vgpu_events_waiting, &vgpu_events_waking);
	raw_spin_unlock(&vgpu_events_lock);
	while (vgpu_event_wake_next())
		cond_resched();
}

static DECLARE_WORK(vgpu_events_wake_work, vgpu_event_wake_all);

/**
 * vgpu_event_source_get() - get room for the events of a vGPU or a GPU
 * @uuid: name of the vGPU; NULL: for a GPU
 *
 * A vGPU of a name that there was before may get the source that it had then.
 *
 * Context: sleeps.
 * Return: a source, for vgpu_event_source_put(), or NULL without memory.
 */
struct vgpu_event_source *vgpu_event_source_get(const guid_t *uuid)
{
	struct vgpu_event_source *source, *fresh;
	u8 id[VGPU_UUID_LEN] = {};

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return NULL;
	if (uuid)
		vgpu_uuid_export(id, uuid);

	raw_spin_lock(&vgpu_events_lock);
	source = uuid ? vgpu_event_ring_revive(&vgpu_events, id) : NULL;
	if (!source) {
		source = fresh;
		fresh = NULL;
		vgpu_event_ring_start(&vgpu_events, source, id);
	}
	raw_spin_unlock(&vgpu_events_lock);
	kfree(fresh);
	return source;
}

/**
 * vgpu_event_source_put() - give up a source when its vGPU or GPU goes
 * @source: from vgpu_event_source_get(), or NULL
 *
 * Its events can still be read, until VGPU_EVENT_RETIRED other sources have been given up.
 *
 * Context: process context. Does not sleep.
 */
void vgpu_event_source_put(struct vgpu_event_source *source)
{
	if (!source)
		return;
	raw_spin_lock(&vgpu_events_lock);
	source = vgpu_event_ring_retire(&vgpu_events, source);
	raw_spin_unlock(&vgpu_events_lock);
	kfree(source);
}

static void vgpu_event(struct vgpu_event_source *source, struct vgpu_ctl_event *event)
{
	bool wanted;

	event->time_ns = ktime_get_ns();
	raw_spin_lock(&vgpu_events_lock);
	wanted = vgpu_event_ring_add(&vgpu_events, source, event) &&
		 !list_empty(&vgpu_events_waiting);
	raw_spin_unlock(&vgpu_events_lock);
	if (wanted)
		queue_work(vgpu_events_wq, &vgpu_events_wake_work);
}

/*
 * Reports an event of a GPU: type is enum vgpu_ctl_event_type, and says what a, b and c of struct
 * vgpu_ctl_event are. Process context; does not sleep.
 */
void vgpu_gpu_event(struct vgpu_gpu *gpu, u32 type, u32 a, u32 b, u64 c)
{
	struct vgpu_ctl_event event = {
		.type = type,
		.gpu = gpu->id,
		.a = a,
		.b = b,
		.c = c,
	};

	vgpu_event(gpu->events, &event);
}

/*
 * The same for an event of a vGPU. The events of a vGPU take room in
 * the ring from no other vGPU.
 */
void vgpu_instance_event(struct vgpu_instance *instance, u32 type, u32 a, u32 b, u64 c)
{
	struct vgpu_ctl_event event = {
		.type = type,
		.gpu = instance->gpu->id,
		.a = a,
		.b = b,
		.c = c,
	};

	vgpu_uuid_export(event.uuid, &instance->uuid);
	/* The only events of an instance before it has been created are refusals. */
	vgpu_event(instance->events ?: instance->gpu->refused, &event);
}

/**
 * vgpu_event_open() - make a new reader
 *
 * Context: sleeps.
 * Return: a reader of the events from now on, or NULL without memory.
 */
struct vgpu_event_reader *vgpu_event_open(void)
{
	struct vgpu_event_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL_ACCOUNT);

	if (!reader)
		return NULL;
	INIT_LIST_HEAD(&reader->link);
	init_waitqueue_head(&reader->wait);
	INIT_WORK(&reader->wake, vgpu_event_wake);
	mutex_init(&reader->lock);
	reader->size = VGPU_EVENT_SIZE_1;
	raw_spin_lock(&vgpu_events_lock);
	reader->next_seq = vgpu_events.seq;
	raw_spin_unlock(&vgpu_events_lock);
	return reader;
}

/**
 * vgpu_event_close() - end a reader
 * @reader: used by no thread any more; freed
 *
 * Context: sleeps, while what waited for @reader is being woken, and for no other reader.
 */
void vgpu_event_close(struct vgpu_event_reader *reader)
{
	raw_spin_lock(&vgpu_events_lock);
	list_del_init(&reader->link);
	raw_spin_unlock(&vgpu_events_lock);
	cancel_work_sync(&reader->wake);
	kfree(reader);
}

static void vgpu_event_rewind(struct vgpu_event_reader *reader)
{
	const struct vgpu_ctl_event *oldest;

	lockdep_assert_held(&reader->lock);
	raw_spin_lock(&vgpu_events_lock);
	oldest = vgpu_event_ring_find(&vgpu_events, 0);
	if (oldest)
		reader->next_seq = oldest->seq;
	raw_spin_unlock(&vgpu_events_lock);
}

/**
 * vgpu_event_setup() - do VGPU_IOC_EVENTS
 * @reader: reader whose records change
 * @arg: struct vgpu_ctl_events; what the driver knows is filled in
 *
 * Context: sleeps.
 * Return: 0, -EINVAL, -E2BIG or -EINTR.
 */
int vgpu_event_setup(struct vgpu_event_reader *reader, void *arg)
{
	struct vgpu_ctl_events *ctl = arg;

	BUILD_BUG_ON(offsetofend(struct vgpu_ctl_event, last_ns) != VGPU_EVENT_SIZE_1);
	if (ctl->event_size < VGPU_EVENT_SIZE_1)
		return -EINVAL;
	if (ctl->event_size > PAGE_SIZE)
		return -E2BIG;
	if (mutex_lock_interruptible(&reader->lock))
		return -EINTR;
	reader->size = ctl->event_size;
	if (ctl->flags & VGPU_EVENTS_KEPT)
		vgpu_event_rewind(reader);
	ctl->known_size = sizeof(struct vgpu_ctl_event);
	ctl->next_seq = reader->next_seq;
	mutex_unlock(&reader->lock);
	return 0;
}

/* Whether there is an event to read. For a caller that waits, or is on @reader->wait. */
static bool vgpu_event_look(struct vgpu_event_reader *reader)
{
	bool pending;

	raw_spin_lock(&vgpu_events_lock);
	if (list_empty(&reader->link))
		list_add_tail(&reader->link, &vgpu_events_waiting);
	pending = vgpu_event_ring_find(&vgpu_events, reader->next_seq);
	raw_spin_unlock(&vgpu_events_lock);
	return pending;
}

static void vgpu_event_seek(struct vgpu_event_reader *reader, u64 seq)
{
	lockdep_assert_held(&reader->lock);
	raw_spin_lock(&vgpu_events_lock);
	reader->next_seq = seq;
	raw_spin_unlock(&vgpu_events_lock);
}

static bool vgpu_event_next(struct vgpu_event_reader *reader, struct vgpu_ctl_event *event)
{
	const struct vgpu_ctl_event *next;

	lockdep_assert_held(&reader->lock);
	raw_spin_lock(&vgpu_events_lock);
	next = vgpu_event_ring_find(&vgpu_events, reader->next_seq);
	if (next)
		*event = *next;
	raw_spin_unlock(&vgpu_events_lock);
	return next;
}

static int vgpu_event_copy(char __user *buf, const struct vgpu_ctl_event *event, size_t size)
{
	size_t known = min(size, sizeof(*event));

	if (copy_to_user(buf, event, known) || clear_user(buf + known, size - known))
		return -EFAULT;
	return 0;
}

/* Only events that have been copied to the user count as read. */
static ssize_t vgpu_event_read_some(struct vgpu_event_reader *reader,
				    char __user *buf, size_t count)
{
	struct vgpu_ctl_event event;
	ssize_t done = 0;

	lockdep_assert_held(&reader->lock);
	if (count < reader->size)
		return -EINVAL;
	while (count - done >= reader->size && vgpu_event_next(reader, &event)) {
		if (vgpu_event_copy(buf + done, &event, reader->size))
			return done ?: -EFAULT;
		vgpu_event_seek(reader, event.seq + 1);
		done += reader->size;
	}
	return done;
}

/**
 * vgpu_event_read() - read whole records
 * @reader: the reader
 * @buf: the user's buffer
 * @count: length of @buf, at least one record
 * @nonblock: whether not to wait for the first event
 *
 * Context: sleeps.
 * Return: bytes read, -EINVAL, -EAGAIN, -EFAULT or -ERESTARTSYS.
 */
ssize_t vgpu_event_read(struct vgpu_event_reader *reader, char __user *buf,
			size_t count, bool nonblock)
{
	ssize_t done;
	int ret;

	for (;;) {
		if (mutex_lock_interruptible(&reader->lock))
			return -ERESTARTSYS;
		done = vgpu_event_read_some(reader, buf, count);
		mutex_unlock(&reader->lock);
		if (done)
			return done;
		if (nonblock)
			return -EAGAIN;
		ret = wait_event_interruptible(reader->wait, vgpu_event_look(reader));
		if (ret)
			return ret;
	}
}

/**
 * vgpu_event_poll() - find out whether there is an event to read
 * @reader: the reader
 * @file: file that is polled
 * @table: of the poll
 *
 * Context: sleeps.
 * Return: EPOLLIN | EPOLLRDNORM or 0.
 */
__poll_t vgpu_event_poll(struct vgpu_event_reader *reader, struct file *file,
			 struct poll_table_struct *table)
{
	poll_wait(file, &reader->wait, table);
	return vgpu_event_look(reader) ? EPOLLIN | EPOLLRDNORM : 0;
}

/**
 * vgpu_event_init() - prepare the event stream
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int vgpu_event_init(void)
{
	vgpu_event_ring_init(&vgpu_events);
	vgpu_events_wq = alloc_workqueue("vgpu-events", WQ_UNBOUND, 1);
	if (!vgpu_events_wq)
		return -ENOMEM;
	vgpu_readers_wq = alloc_workqueue("vgpu-readers", WQ_UNBOUND, VGPU_EVENT_WAKERS);
	if (!vgpu_readers_wq) {
		destroy_workqueue(vgpu_events_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * vgpu_event_exit() - undo vgpu_event_init()
 *
 * Context: module exit, when there is no reader and all sources have been given up.
 */
void vgpu_event_exit(void)
{
	struct vgpu_event_source *source;

	destroy_workqueue(vgpu_events_wq);
	destroy_workqueue(vgpu_readers_wq);
	while ((source = vgpu_event_ring_drop(&vgpu_events)))
		kfree(source);
}
