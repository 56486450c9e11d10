// SPDX-License-Identifier: GPL-2.0
/*
 * The event stream of /dev/vgpu: one ring, and a position per reader. Writers
 * never wait, and wake no reader themselves; a reader that is too slow finds
 * gaps in seq.
 */
#include <linux/poll.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "core.h"
#include "event_ring.h"

/* The size of a record in the ABI's first version, and what read(2) begins with. */
#define VGPU_EVENT_SIZE_1	56

/* How many reports of a kind that its guest can bring about a vGPU may make. */
#define VGPU_EVENTS_PER_S	32

/**
 * struct vgpu_event_reader - an open file
 * @lock:     one thread reads at a time
 * @next_seq: the first event that the reader has not read; changed with
 *            vgpu_events_lock held, too
 * @size:     of the records that it is given
 */
struct vgpu_event_reader {
	struct mutex lock;	/* protects all below */
	u64 next_seq;
	u32 size;
};

/* Protects the ring with all its sources. */
static DEFINE_SPINLOCK(vgpu_events_lock);
static struct vgpu_event_ring vgpu_events;
static DECLARE_WAIT_QUEUE_HEAD(vgpu_events_wait);

/*
 * Engines tell events, and a reader can hang any number of epoll instances on
 * the wait queue: so what waits there is called from a worker.
 */
static struct workqueue_struct *vgpu_events_wq;

static void vgpu_event_wake(struct work_struct *work)
{
	wake_up_poll(&vgpu_events_wait, EPOLLIN | EPOLLRDNORM);
}

static DECLARE_WORK(vgpu_events_wake_work, vgpu_event_wake);

/**
 * vgpu_event_source_get() - room for the events of a vGPU or a GPU
 * @uuid: the vGPU's; NULL: not of a vGPU
 *
 * Sleeps.
 *
 * Return: a source, for vgpu_event_source_put(), or NULL without memory. A vGPU
 * that was there before may get the one it had.
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

	spin_lock(&vgpu_events_lock);
	source = uuid ? vgpu_event_ring_revive(&vgpu_events, id) : NULL;
	if (!source) {
		source = fresh;
		fresh = NULL;
		vgpu_event_ring_start(&vgpu_events, source, id);
	}
	spin_unlock(&vgpu_events_lock);
	kfree(fresh);
	return source;
}

/**
 * vgpu_event_source_put() - the vGPU or GPU goes
 * @source: from vgpu_event_source_get(), or NULL
 *
 * What it has told can still be read, until many others have gone.
 */
void vgpu_event_source_put(struct vgpu_event_source *source)
{
	if (!source)
		return;
	spin_lock(&vgpu_events_lock);
	source = vgpu_event_ring_retire(&vgpu_events, source);
	spin_unlock(&vgpu_events_lock);
	kfree(source);
}

static void vgpu_event(struct vgpu_event_source *source,
		       struct vgpu_ctl_event *event)
{
	event->time_ns = ktime_get_ns();
	spin_lock(&vgpu_events_lock);
	vgpu_event_ring_add(&vgpu_events, source, event);
	spin_unlock(&vgpu_events_lock);
	/*
	 * A reader that is not on the queue yet looks at the ring after, with
	 * the lock held.
	 */
	if (wq_has_sleeper(&vgpu_events_wait))
		queue_work(vgpu_events_wq, &vgpu_events_wake_work);
}

/**
 * vgpu_gpu_event() - tell the listeners of something that happened to a GPU
 * @gpu: which
 * @type: enum vgpu_ctl_event_type
 * @a: by type
 *
 * Does not sleep. Process context.
 */
void vgpu_gpu_event(struct vgpu_gpu *gpu, u32 type, u32 a)
{
	struct vgpu_ctl_event event = { .type = type, .gpu = gpu->id, .a = a };

	vgpu_event(gpu->events, &event);
}

/*
 * The state of a vGPU is always told. What only says that something has
 * happened once more is told so often that a listener who writes all of it
 * down can keep up; the vGPU's counters have the rest.
 */
static bool vgpu_event_is_repeated(u32 type)
{
	return type == VGPU_EVENT_RESET || type == VGPU_EVENT_FAULT ||
	       type == VGPU_EVENT_ENGINE_RESET;
}

/**
 * vgpu_instance_event() - tell the listeners of something that happened to a vGPU
 * @instance: which
 * @type: enum vgpu_ctl_event_type
 * @a: by type
 * @b: by type
 * @c: by type
 *
 * Its events push out none of others. Does not sleep; may be called under a
 * timeline's lock. Process context.
 */
void vgpu_instance_event(struct vgpu_instance *instance, u32 type, u32 a, u32 b,
			 u64 c)
{
	struct vgpu_ctl_event event = {
		.type = type,
		.gpu = instance->gpu->id,
		.a = a,
		.b = b,
		.c = c,
	};

	vgpu_uuid_export(event.uuid, &instance->uuid);
	if (vgpu_event_is_repeated(type) &&
	    !__ratelimit(&instance->event_limit)) {
		spin_lock(&vgpu_events_lock);
		vgpu_event_ring_skip(instance->events);
		spin_unlock(&vgpu_events_lock);
		return;
	}
	/* An instance that is not there yet has only been refused. */
	vgpu_event(instance->events ?: instance->gpu->refused, &event);
}

/**
 * vgpu_event_limit_init() - nothing has been told yet
 * @limit: an instance's
 */
void vgpu_event_limit_init(struct ratelimit_state *limit)
{
	ratelimit_state_init(limit, HZ, VGPU_EVENTS_PER_S);
	/* Silent: source_seq and the counters tell. */
	ratelimit_set_flags(limit, RATELIMIT_MSG_ON_RELEASE);
}

/**
 * vgpu_event_open() - a new reader
 *
 * Return: it sees what comes from now on; NULL without memory.
 */
struct vgpu_event_reader *vgpu_event_open(void)
{
	struct vgpu_event_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return NULL;
	mutex_init(&reader->lock);
	reader->size = VGPU_EVENT_SIZE_1;
	spin_lock(&vgpu_events_lock);
	reader->next_seq = vgpu_events.seq;
	spin_unlock(&vgpu_events_lock);
	return reader;
}

/**
 * vgpu_event_close() - a reader is done
 * @reader: freed
 */
void vgpu_event_close(struct vgpu_event_reader *reader)
{
	kfree(reader);
}

/**
 * vgpu_event_setup() - VGPU_IOC_EVENTS
 * @reader: whose
 * @arg: struct vgpu_ctl_events
 *
 * Return: 0, -EINVAL, -E2BIG or -EINTR.
 */
int vgpu_event_setup(struct vgpu_event_reader *reader, void *arg)
{
	struct vgpu_ctl_events *ctl = arg;

	BUILD_BUG_ON(offsetof(struct vgpu_ctl_event, source) !=
		     VGPU_EVENT_SIZE_1);
	if (ctl->event_size < VGPU_EVENT_SIZE_1)
		return -EINVAL;
	if (ctl->event_size > PAGE_SIZE)
		return -E2BIG;
	if (mutex_lock_interruptible(&reader->lock))
		return -EINTR;
	reader->size = ctl->event_size;
	ctl->known_size = sizeof(struct vgpu_ctl_event);
	ctl->next_seq = reader->next_seq;
	mutex_unlock(&reader->lock);
	return 0;
}

static bool vgpu_event_pending(struct vgpu_event_reader *reader)
{
	bool pending;

	spin_lock(&vgpu_events_lock);
	pending = vgpu_event_ring_find(&vgpu_events, reader->next_seq);
	spin_unlock(&vgpu_events_lock);
	return pending;
}

static void vgpu_event_seek(struct vgpu_event_reader *reader, u64 seq)
{
	lockdep_assert_held(&reader->lock);
	spin_lock(&vgpu_events_lock);
	reader->next_seq = seq;
	spin_unlock(&vgpu_events_lock);
}

static bool vgpu_event_next(struct vgpu_event_reader *reader,
			    struct vgpu_ctl_event *event)
{
	const struct vgpu_ctl_event *next;

	lockdep_assert_held(&reader->lock);
	spin_lock(&vgpu_events_lock);
	next = vgpu_event_ring_find(&vgpu_events, reader->next_seq);
	if (next)
		*event = *next;
	spin_unlock(&vgpu_events_lock);
	return next;
}

static int vgpu_event_copy(char __user *buf, const struct vgpu_ctl_event *event,
			   size_t size)
{
	size_t known = min(size, sizeof(*event));

	if (copy_to_user(buf, event, known) ||
	    clear_user(buf + known, size - known))
		return -EFAULT;
	return 0;
}

/* What has been copied counts as read, what could not be copied does not. */
static ssize_t vgpu_event_read_some(struct vgpu_event_reader *reader,
				    char __user *buf, size_t count)
{
	struct vgpu_ctl_event event;
	ssize_t done = 0;

	lockdep_assert_held(&reader->lock);
	if (count < reader->size)
		return -EINVAL;
	while (count - done >= reader->size &&
	       vgpu_event_next(reader, &event)) {
		if (vgpu_event_copy(buf + done, &event, reader->size))
			return done ?: -EFAULT;
		vgpu_event_seek(reader, event.seq + 1);
		done += reader->size;
	}
	return done;
}

/**
 * vgpu_event_read() - whole records
 * @reader: who
 * @buf: where to
 * @count: room in bytes, at least one record
 * @nonblock: do not wait for the first
 *
 * Return: bytes, -EINVAL, -EAGAIN, -EFAULT or -ERESTARTSYS.
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
		ret = wait_event_interruptible(vgpu_events_wait,
					       vgpu_event_pending(reader));
		if (ret)
			return ret;
	}
}

/**
 * vgpu_event_poll() - whether there is something to read
 * @reader: who
 * @file: polled
 * @table: of the poll
 *
 * Return: EPOLLIN | EPOLLRDNORM or 0.
 */
__poll_t vgpu_event_poll(struct vgpu_event_reader *reader, struct file *file,
			 struct poll_table_struct *table)
{
	poll_wait(file, &vgpu_events_wait, table);
	return vgpu_event_pending(reader) ? EPOLLIN | EPOLLRDNORM : 0;
}

/**
 * vgpu_event_init() - when the module loads
 *
 * Return: 0 or -ENOMEM.
 */
int vgpu_event_init(void)
{
	vgpu_event_ring_init(&vgpu_events);
	vgpu_events_wq = alloc_workqueue("vgpu-events", WQ_UNBOUND, 1);
	return vgpu_events_wq ? 0 : -ENOMEM;
}

/**
 * vgpu_event_exit() - when the module unloads
 */
void vgpu_event_exit(void)
{
	struct vgpu_event_source *source;

	/* All have gone by now: nobody but this has the ring. */
	destroy_workqueue(vgpu_events_wq);
	while ((source = vgpu_event_ring_drop(&vgpu_events)))
		kfree(source);
}
