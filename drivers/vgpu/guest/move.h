/* SPDX-License-Identifier: GPL-2.0 */
/* The driver's own channel: a copy engine that moves and clears buffers. */
#ifndef _VGPU_GUEST_MOVE_H
#define _VGPU_GUEST_MOVE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "compat.h"

struct guest_dev;
struct guest_place;

/**
 * struct guest_move - the driver's own channel
 * @lock:    held while packets of one move are written and waited for; protects what follows
 * @wait:    woken by the channel's interrupts
 * @has:     there is a channel
 * @channel: it, which no queue gets
 * @engine:  a copy engine
 * @blocks:  of the framebuffer, for the ring
 * @ring:    the same, as an offset
 * @page:    the channel's page
 * @on:      the channel is enabled
 * @until:   it was given up, and is tried again after that time, in jiffies; 0: it was not
 * @forgotten: the device was reset since it was enabled; not protected
 * @put:     packets written since it was enabled
 * @done:    of these, packets that are done
 * @late:    waits that no interrupt has ended, but their time
 */
struct guest_move {
	struct mutex lock;		/* one move at a time */
	wait_queue_head_t wait;
	bool has;
	u32 channel;
	u32 engine;
	struct list_head blocks;
	u64 ring;
	u8 __iomem *page;
	bool on;
	unsigned long until;
	bool forgotten;
	u64 put;
	u64 done;
	u64 late;
};

/* Takes a channel away from queues, if there are two and a copy engine. */
int guest_move_init(struct guest_dev *gdev);

/*
 * Copies all bytes of a buffer, or clears a block of the framebuffer. Returns when it is done; else
 * an error, and then the engine has stopped, and the CPU can do it. The device is there
 * (drm_dev_enter()).
 */
int guest_move_copy(struct guest_dev *gdev, const struct guest_place *dst,
		    const struct guest_place *src);
int guest_move_clear(struct guest_dev *gdev, struct gpu_buddy_block *block);

/* An interrupt of a vector came, which may be the channel's. */
void guest_move_wake(struct guest_dev *gdev);

/* The device was reset: the channel is enabled again with the next move. In any context. */
void guest_move_forget(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_MOVE_H */
