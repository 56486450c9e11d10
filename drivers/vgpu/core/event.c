// SPDX-License-Identifier: GPL-2.0
/*
 * The event stream of /dev/vgpu: one ring, and a position per reader. Writers
 * never wait; a reader that is too slow finds a gap in seq.
 */
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "core.h"

#define VGPU_EVENTS	1024

struct vgpu_event_reader {
	struct mutex lock;	/* protects next_seq */
	u64 next_seq;
};

/* Protects the ring and its end. */
static DEFINE_SPINLOCK(vgpu_events_lock);
static struct vgpu_ctl_event *vgpu_events;
static u64 vgpu_events_seq;	/* of the next event */
static DECLARE_WAIT_QUEUE_HEAD(vgpu_events_wait);

/**
 * vgpu_event() - tell the listeners
 * @type: enum vgpu_ctl_event_type
 * @gpu: where
 * @uuid: the instance, or NULL
 * @a: by type
 * @b: by type
 * @c: by type
 *
 * Does not sleep. Process context.
 */
void vgpu_event(u32 type, const struct vgpu_gpu *gpu, const guid_t *uuid,
		u32 a, u32 b, u64 c)
{
	struct vgpu_ctl_event event = {
		.time_ns = ktime_get_ns(),
		.type = type,
		.gpu = gpu->id,
		.a = a,
		.b = b,
		.c = c,
	};

	if (uuid)
		vgpu_uuid_export(event.uuid, uuid);

	spin_lock(&vgpu_events_lock);
	event.seq = vgpu_events_seq++;
	vgpu_events[event.seq % VGPU_EVENTS] = event;
	spin_unlock(&vgpu_events_lock);
	wake_up(&vgpu_events_wait);
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
	spin_lock(&vgpu_events_lock);
	reader->next_seq = vgpu_events_seq;
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

static bool vgpu_event_pending(struct vgpu_event_reader *reader)
{
	bool pending;

	spin_lock(&vgpu_events_lock);
	pending = READ_ONCE(reader->next_seq) != vgpu_events_seq;
	spin_unlock(&vgpu_events_lock);
	return pending;
}

static bool vgpu_event_next(struct vgpu_event_reader *reader,
			    struct vgpu_ctl_event *event)
{
	bool found = false;
	u64 seq;

	lockdep_assert_held(&reader->lock);
	spin_lock(&vgpu_events_lock);
	seq = reader->next_seq;
	if (seq != vgpu_events_seq) {
		if (vgpu_events_seq - seq > VGPU_EVENTS)
			seq = vgpu_events_seq - VGPU_EVENTS;
		*event = vgpu_events[seq % VGPU_EVENTS];
		WRITE_ONCE(reader->next_seq, seq + 1);
		found = true;
	}
	spin_unlock(&vgpu_events_lock);
	return found;
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
	struct vgpu_ctl_event event;
	ssize_t done = 0;
	int ret;

	if (count < sizeof(event))
		return -EINVAL;

	while (!done) {
		if (nonblock) {
			if (!vgpu_event_pending(reader))
				return -EAGAIN;
		} else {
			ret = wait_event_interruptible(vgpu_events_wait,
						       vgpu_event_pending(reader));
			if (ret)
				return ret;
		}

		if (mutex_lock_interruptible(&reader->lock))
			return -ERESTARTSYS;
		while (count - done >= sizeof(event) &&
		       vgpu_event_next(reader, &event)) {
			if (copy_to_user(buf + done, &event, sizeof(event))) {
				/* Not read: it is still there for the next. */
				WRITE_ONCE(reader->next_seq, event.seq);
				done = done ?: -EFAULT;
				break;
			}
			done += sizeof(event);
		}
		mutex_unlock(&reader->lock);
	}
	return done;
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
	vgpu_events = kvcalloc(VGPU_EVENTS, sizeof(*vgpu_events), GFP_KERNEL);
	return vgpu_events ? 0 : -ENOMEM;
}

/**
 * vgpu_event_exit() - when the module unloads
 */
void vgpu_event_exit(void)
{
	kvfree(vgpu_events);
}
