/* SPDX-License-Identifier: GPL-2.0 */
/* The events that are kept for readers of /dev/vgpu. Pure logic, compiled in user space too. */
#ifndef _VGPU_EVENT_RING_H
#define _VGPU_EVENT_RING_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <uapi/linux/vgpu.h>

/* Of each source the newest events are kept, this many. */
#define VGPU_EVENT_SLOTS	64

/* And of each type below this the latest one: what a vGPU's state is depends on no other event. */
#define VGPU_EVENT_TYPES	16

/* Of sources that have nothing to say any more the newest are kept, this many. */
#define VGPU_EVENT_RETIRED	64

/**
 * struct vgpu_event_slot - room for an event
 * @node:  in the ring's tree, or cleared while the slot is empty
 * @event: what is kept; its seq is the tree's key
 */
struct vgpu_event_slot {
	struct rb_node node;
	struct vgpu_ctl_event event;
};

/**
 * struct vgpu_event_source - what events come from: a vGPU, a GPU
 * @link:   on the ring's list of retired sources
 * @id:     number of the source, from 1 on, not used again
 * @uuid:   of the vGPU, or all 0
 * @seq:    how many events the source has had, those left out too
 * @stored: how many of them were put into @slot
 * @slot:   event n that was stored is in slot n modulo VGPU_EVENT_SLOTS
 * @latest: by type, seq of the latest event of the type
 * @last:   by type, that event, if its slot was needed for a newer one of another type
 */
struct vgpu_event_source {
	struct list_head link;
	u32 id;
	u8 uuid[VGPU_UUID_LEN];
	u64 seq;
	u64 stored;
	struct vgpu_event_slot slot[VGPU_EVENT_SLOTS];
	u64 latest[VGPU_EVENT_TYPES];
	struct vgpu_event_slot last[VGPU_EVENT_TYPES];
};

/**
 * struct vgpu_event_ring - all events that are kept, in one order
 * @events:     slots that are in use, by seq
 * @retired:    sources whose owner has gone, the one that went first at the head
 * @nr_retired: length of @retired
 * @seq:        of the next event
 * @last_id:    of the newest source
 */
struct vgpu_event_ring {
	struct rb_root events;
	struct list_head retired;
	unsigned int nr_retired;
	u64 seq;
	u32 last_id;
};

void vgpu_event_ring_init(struct vgpu_event_ring *ring);
void vgpu_event_ring_start(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			   const u8 *uuid);
struct vgpu_event_source *vgpu_event_ring_revive(struct vgpu_event_ring *ring, const u8 *uuid);
struct vgpu_event_source *vgpu_event_ring_retire(struct vgpu_event_ring *ring,
						 struct vgpu_event_source *source);
struct vgpu_event_source *vgpu_event_ring_drop(struct vgpu_event_ring *ring);
void vgpu_event_ring_add(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			 const struct vgpu_ctl_event *event);
void vgpu_event_ring_skip(struct vgpu_event_source *source);
const struct vgpu_ctl_event *vgpu_event_ring_find(const struct vgpu_event_ring *ring, u64 seq);

#endif /* _VGPU_EVENT_RING_H */
