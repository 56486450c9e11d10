/* SPDX-License-Identifier: GPL-2.0 */
/* Time that engines have worked for a client, as the host tells it in the pages of channels. */
#ifndef _VGPU_GUEST_TIME_H
#define _VGPU_GUEST_TIME_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/vgpu_hw.h>

struct guest_queue;

/**
 * struct guest_time - the time of an open file, which only grows
 * @ref: the file, and its queues, which may outlive it
 * @ns:  of each engine
 */
struct guest_time {
	struct kref ref;
	atomic64_t ns[VGPU_HW_MAX_ENGINES];
};

/* Returns NULL where there is no memory. */
struct guest_time *guest_time_create(void);
struct guest_time *guest_time_get(struct guest_time *time);
void guest_time_put(struct guest_time *time);

/*
 * Adds what the queue's channel has got since this was called last. The caller holds the
 * channel_lock, and the device is there (drm_dev_enter()).
 */
void guest_time_take(struct guest_queue *queue);

#endif /* _VGPU_GUEST_TIME_H */
