/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the monitor shows: the host reads it from the framebuffer for as long as it shows it, so it
 * stays there. Head 0 is the only one that the hardware shows.
 */
#ifndef _VGPU_GUEST_SHOWN_H
#define _VGPU_GUEST_SHOWN_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct guest_bo;
struct guest_dev;
struct guest_fence;
struct guest_job;
struct guest_show;

/**
 * struct guest_shown - what the monitor may show
 * @mutex:   held by who frees elements of @spots, or moves their buffers; outside of reservations
 * @lock:    protects what follows; taken where fences are signalled, and by interrupt handlers
 * @shows:   struct guest_show, until they are freed; those of jobs that have ended come first
 * @spots:   struct guest_spot: the places that these have
 * @leaving: buffers that are to be freed, by &struct guest_bo.show_link
 * @clock:   counts what happens to them
 * @forgot:  when the device was reset last, by @clock
 * @work:    frees those that show nothing any more
 */
struct guest_shown {
	struct mutex mutex;		/* spots that go */
	spinlock_t lock;		/* shows, spots, leaving, clock, forgot */
	struct list_head shows;
	struct list_head spots;
	struct list_head leaving;
	u64 clock;
	u64 forgot;
	struct delayed_work work;
};

/* Probe, when there can be buffers. */
int guest_shown_init(struct guest_dev *gdev);

/*
 * A job will show buffers: those of the list @bos, by &struct guest_bo.show_link, which becomes
 * empty in any case. They are locked. They stay where they are, in the framebuffer, until another
 * job shows something else, or the device is reset. @first: the job's packet that is the first to
 * show something. Returns NULL if there is no memory.
 */
struct guest_show *guest_show_create(struct guest_job *job, u32 first, struct list_head *bos);

/* The job is about to be put into the ring; and that has been done: @fence is its end. */
void guest_show_begin(struct guest_show *show);
void guest_show_follow(struct guest_show *show, struct guest_fence *fence);

/* The job was not put there. May be NULL. Any context. */
void guest_show_drop(struct guest_show *show);

/* The device was reset, and shows nothing of what was put into a ring before. Any context. */
void guest_shown_forget(struct guest_dev *gdev);

/* Frees a buffer that has a spot and no reference; not its place, while that is shown. */
void guest_shown_release(struct guest_bo *bo);

/* Places that are not shown any more are free when this returns, if nobody has locked them. */
void guest_shown_flush(struct guest_dev *gdev);

/* Bytes that guest_shown_save() saves. */
u64 guest_shown_bytes(struct guest_dev *gdev);

/*
 * Evicts the buffers that guest_evict_all() leaves where they are. Their places stay as they are,
 * and nobody gets them, until guest_shown_forget(): so if it fails, the monitor goes on showing
 * them. No queue has a channel, and the device is there.
 */
int guest_shown_save(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_SHOWN_H */
