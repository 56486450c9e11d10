/* SPDX-License-Identifier: GPL-2.0 */
/* The events that are kept for readers of /dev/vgpu. Pure logic, compiled in user space too. */
#ifndef _VGPU_EVENT_RING_H
#define _VGPU_EVENT_RING_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <uapi/linux/vgpu.h>

/* Of each source this many events are kept. */
#define VGPU_EVENT_SLOTS	64

/* Types are below this: far fewer than there are slots, so one of them always has several. */
#define VGPU_EVENT_TYPES	17

/* Of each type a source has so many new records in a second. */
#define VGPU_EVENTS_PER_S	32

/* Of sources that have nothing to say any more the newest are kept, this many. */
#define VGPU_EVENT_RETIRED	64

/**
 * struct vgpu_event_slot - room for an event
 * @node:  in the ring's tree
 * @link:  in the list of its type, behind those that are older
 * @event: what is kept; its seq is the tree's key
 */
struct vgpu_event_slot {
	struct rb_node node;
	struct list_head link;
	struct vgpu_ctl_event event;
};

/**
 * struct vgpu_event_kept - the events of a type
 * @slots:    those that are kept, the oldest at the head
 * @nr:       length of @slots
 * @seq:      how many there were
 * @begin_ns: when a second began of which the records are counted
 * @records:  new ones since then
 */
struct vgpu_event_kept {
	struct list_head slots;
	unsigned int nr;
	u64 seq;
	u64 begin_ns;
	unsigned int records;
};

/**
 * struct vgpu_event_source - what events come from: a vGPU, a GPU
 * @link:  on the ring's list of retired sources
 * @id:    number of the source, from 1 on, not used again
 * @uuid:  of the vGPU, or all 0
 * @seq:   how many events the source has had
 * @used:  how many of @slot are in use, the first ones; none is given up again
 * @slot:  the events that are kept
 * @kept:  the same by type
 */
struct vgpu_event_source {
	struct list_head link;
	u32 id;
	u8 uuid[VGPU_UUID_LEN];
	u64 seq;
	unsigned int used;
	struct vgpu_event_slot slot[VGPU_EVENT_SLOTS];
	struct vgpu_event_kept kept[VGPU_EVENT_TYPES];
};

/**
 * struct vgpu_event_ring - all events that are kept, in one order
 * @events:     slots that are in use, by seq
 * @retired:    sources of vGPUs and GPUs that have gone, the first to go at the head
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
bool vgpu_event_ring_add(struct vgpu_event_ring *ring, struct vgpu_event_source *source,
			 const struct vgpu_ctl_event *event);
const struct vgpu_ctl_event *vgpu_event_ring_find(const struct vgpu_event_ring *ring, u64 seq);

#endif /* _VGPU_EVENT_RING_H */
